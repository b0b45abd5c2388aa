#include "target/ObjectSection.h"

#include "support/Error.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Alignment.h"

using namespace kiln;
using llvm::object::ELF64LE;

llvm::Error target::fillSection(llvm::StringRef object, llvm::StringRef section, int64_t bytes,
                                llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write, llvm::raw_ostream &out) {
  llvm::Expected<llvm::object::ELFFile<ELF64LE>> file = llvm::object::ELFFile<ELF64LE>::create(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return failure("weights are placed in ELF objects of 64-bit little-endian machines only",
                   "keep them in a file of their own with --weights=FILE");
  }
  const ELF64LE::Ehdr &header = file->getHeader();
  ELF64LE::ShdrRange sections = llvm::cantFail(file->sections());
  for (const ELF64LE::Shdr &entry : sections) {
    if (llvm::cantFail(file->getSectionName(entry)) != section)
      continue;
    assert(entry.sh_size == 0 && "the section has content");
    uint64_t padding = llvm::offsetToAlignment(object.size(), llvm::Align(entry.sh_addralign));
    ELF64LE::Shdr filled = entry;
    filled.sh_offset = object.size() + padding;
    filled.sh_size = bytes;
    uint64_t at = header.e_shoff + (&entry - sections.begin()) * sizeof(entry);
    out << object.take_front(at);
    out.write(reinterpret_cast<const char *>(&filled), sizeof(filled));
    out << object.drop_front(at + sizeof(filled));
    out.write_zeros(padding);
    return write(out);
  }
  llvm_unreachable("the object has the section that it was compiled with");
}

#include "target/ObjectSection.h"

#include "support/Error.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Alignment.h"

using namespace kiln;
using namespace llvm::object;

template <typename ELF>
static llvm::Error fill(const ELFFile<ELF> &file, llvm::StringRef object, llvm::StringRef section, int64_t bytes,
                        llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write, llvm::raw_ostream &out) {
  using Shdr = typename ELF::Shdr;
  typename ELF::ShdrRange sections = llvm::cantFail(file.sections());
  for (const Shdr &entry : sections) {
    if (llvm::cantFail(file.getSectionName(entry)) != section)
      continue;
    assert(entry.sh_size == 0 && "the section has content");
    uint64_t padding = llvm::offsetToAlignment(object.size(), llvm::Align(entry.sh_addralign));
    Shdr filled = entry;
    filled.sh_offset = object.size() + padding;
    filled.sh_size = bytes;
    if (static_cast<int64_t>(filled.sh_size) != bytes)
      return failure("weights of " + llvm::Twine(bytes) + " bytes are more than an object of 32 bits holds",
                     "keep them in a file of their own with --weights=FILE");
    uint64_t at = file.getHeader().e_shoff + (&entry - sections.begin()) * sizeof(entry);
    out << object.take_front(at);
    out.write(reinterpret_cast<const char *>(&filled), sizeof(filled));
    out << object.drop_front(at + sizeof(filled));
    out.write_zeros(padding);
    return write(out);
  }
  llvm_unreachable("the object has the section that it was compiled with");
}

llvm::Error target::fillSection(llvm::StringRef object, llvm::StringRef section, int64_t bytes,
                                llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write, llvm::raw_ostream &out) {
  if (llvm::Expected<ELFFile<ELF64LE>> file = ELFFile<ELF64LE>::create(object);
      file && file->getHeader().getFileClass() == llvm::ELF::ELFCLASS64)
    return fill(*file, object, section, bytes, write, out);
  else if (!file)
    llvm::consumeError(file.takeError());
  if (llvm::Expected<ELFFile<ELF32LE>> file = ELFFile<ELF32LE>::create(object);
      file && file->getHeader().getFileClass() == llvm::ELF::ELFCLASS32)
    return fill(*file, object, section, bytes, write, out);
  else if (!file)
    llvm::consumeError(file.takeError());
  return failure("weights are placed in ELF objects of little-endian machines only",
                 "keep them in a file of their own with --weights=FILE");
}

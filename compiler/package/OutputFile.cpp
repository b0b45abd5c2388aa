#include "package/OutputFile.h"

#include "package/Interrupt.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::package;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, std::error_code cause) {
  return failure(path + ": cannot be written: " + cause.message(), "name another place");
}

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

StagedFile::StagedFile(llvm::StringRef output, llvm::StringRef folder) : output_(output), folder_(folder) {}

static llvm::Expected<std::string> makeFolder(llvm::StringRef output, llvm::StringRef parent) {
  Uninterrupted section;
  if (const std::string *folder = section.makeFolder((parent + "/kiln-tmp-XXXXXX").str()))
    return *folder;
  return cannotWrite(output, lastError());
}

llvm::Expected<std::unique_ptr<StagedFile>> StagedFile::beside(llvm::StringRef output) {
  if (fs::is_directory(output))
    return cannotWrite(output, std::make_error_code(std::errc::is_a_directory));
  llvm::SmallString<128> parent(llvm::sys::path::parent_path(output));
  if (std::error_code error = fs::make_absolute(parent))
    return cannotWrite(output, error);
  llvm::Expected<std::string> folder = makeFolder(output, parent);
  if (!folder)
    return folder.takeError();
  return std::unique_ptr<StagedFile>(new StagedFile(output, *folder));
}

llvm::Expected<std::unique_ptr<StagedFile>> StagedFile::temporary(llvm::StringRef name) {
  llvm::SmallString<128> place;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, place);
  llvm::Expected<std::string> folder = makeFolder(name, place);
  if (!folder)
    return folder.takeError();
  return std::unique_ptr<StagedFile>(new StagedFile(name, *folder));
}

StagedFile::~StagedFile() { Uninterrupted().removeFolder(folder_); }

static llvm::Error writeTo(llvm::raw_fd_ostream &out, llvm::StringRef path, Writer write) {
  llvm::Error result = write(out);
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  if (result)
    return result;
  return error ? cannotWrite(path, error) : llvm::Error::success();
}

llvm::Error StagedFile::fillPart(llvm::StringRef name, Writer write) const {
  std::error_code error;
  llvm::raw_fd_ostream out(part(name), error, fs::CD_CreateNew);
  if (error)
    return cannotWrite(output_, error);
  llvm::Error written = writeTo(out, output_, write);
  out.close(); // which may be when the disk says that it is full, and LLVM's destructor would end the process
  error = out.error();
  out.clear_error();
  if (written)
    return written;
  return error ? cannotWrite(output_, error) : llvm::Error::success();
}

llvm::Expected<StagedFile *> Outputs::add(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<StagedFile>> file = StagedFile::beside(path);
  if (!file)
    return file.takeError();
  files_.push_back(std::move(*file));
  return files_.back().get();
}

llvm::Error Outputs::write(llvm::StringRef path, Writer write) {
  if (path == "-")
    return writeTo(llvm::outs(), "standard output", write);
  if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)) {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    return error ? cannotWrite(path, error) : writeTo(out, path, write);
  }
  llvm::Expected<StagedFile *> file = add(path);
  return file ? (*file)->fill(write) : file.takeError();
}

/// Has the disk keep what a file or folder holds. Not every file system can.
static std::error_code keepOnDisk(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return lastError();
  std::error_code error = fsync(file) == 0 || errno == EINVAL || errno == EROFS ? std::error_code() : lastError();
  close(file);
  return error;
}

/// How a file got its name, and so how it loses it again.
enum class Move { Placed, Exchanged, Replaced };

static llvm::ErrorOr<Move> moveTo(const std::string &from, const std::string &to) {
  struct stat status;
  if (lstat(to.c_str(), &status) != 0)
    return rename(from.c_str(), to.c_str()) == 0 ? llvm::ErrorOr<Move>(Move::Placed) : lastError();
  if (S_ISDIR(status.st_mode))
    return std::make_error_code(std::errc::is_a_directory);
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return Move::Exchanged;
  // Not every file system can exchange.
  return rename(from.c_str(), to.c_str()) == 0 ? llvm::ErrorOr<Move>(Move::Replaced) : lastError();
}

namespace {

/// A file that gets its name. Made before the first one does: from then on want of memory would end the process between
/// two names, so nothing asks for any.
struct Placement {
  std::string from, to, parent;
  llvm::StringRef output;
  Move move = Move::Placed;

  explicit Placement(const StagedFile &file)
      : from(file.path()), to(file.output().str()), parent(llvm::sys::path::parent_path(file.folder()).str()),
        output(file.output()) {}

  void moveBack() const {
    if (move == Move::Exchanged)
      renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE);
    else if (move == Move::Placed)
      rename(to.c_str(), from.c_str());
  }
};

} // namespace

/// Gives all of them their names, or none.
static llvm::Error place(llvm::MutableArrayRef<Placement> placements) {
  Uninterrupted section;
  for (auto [index, placement] : llvm::enumerate(placements)) {
    llvm::ErrorOr<Move> move = moveTo(placement.from, placement.to);
    if (!move) {
      for (const Placement &placed : llvm::reverse(placements.take_front(index)))
        placed.moveBack();
      return cannotWrite(placement.output, move.getError());
    }
    placement.move = *move;
  }
  return llvm::Error::success();
}

llvm::Error Outputs::commit() {
  std::vector<Placement> placements;
  for (const std::unique_ptr<StagedFile> &file : files_)
    placements.emplace_back(*file);
  for (const Placement &placement : placements)
    if (std::error_code error = keepOnDisk(placement.from))
      return cannotWrite(placement.output, error);
  if (llvm::Error error = place(placements))
    return error;
  for (const Placement &placement : placements)
    keepOnDisk(placement.parent);
  files_.clear();
  return llvm::Error::success();
}

llvm::Error package::writeFile(llvm::StringRef path, Writer write) {
  Outputs outputs;
  if (llvm::Error error = outputs.write(path, write))
    return error;
  return outputs.commit();
}

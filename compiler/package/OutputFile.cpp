#include "package/OutputFile.h"

#include "package/Interrupt.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace kiln;
using namespace kiln::package;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, std::error_code cause) {
  return failure(path + ": cannot be written: " + cause.message(), "name another place");
}

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

/// An error about the folder for temporary files, which no output names.
static llvm::Error cannotWriteTemporaries(std::error_code cause) {
  llvm::SmallString<128> place;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, place);
  std::string shown = place.str().str();
  // The variables that LLVM reads, in this order.
  for (const char *name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (getenv(name)) {
      shown = (llvm::Twine(name) + "=" + place).str();
      break;
    }
  return failure(shown + ": cannot be written: " + cause.message(),
                 "set TMPDIR to a folder that can be written and has room");
}

StagedFile::StagedFile(llvm::StringRef output, llvm::StringRef folder, bool isTemporary)
    : output_(output), isTemporary_(isTemporary), folder_(folder) {}

llvm::Error StagedFile::cannotWrite(std::error_code cause) const {
  return isTemporary_ ? cannotWriteTemporaries(cause) : ::cannotWrite(output_, cause);
}

/// The error says why `parent` has no such folder.
static llvm::ErrorOr<std::string> makeFolder(llvm::StringRef parent) {
  Uninterrupted section;
  if (const std::string *folder = section.makeFolder((parent + "/kiln-tmp-XXXXXX").str()))
    return *folder;
  return lastError();
}

llvm::Expected<std::unique_ptr<StagedFile>> StagedFile::beside(llvm::StringRef output) {
  if (fs::is_directory(output))
    return ::cannotWrite(output, std::make_error_code(std::errc::is_a_directory));
  llvm::SmallString<128> parent(llvm::sys::path::parent_path(output));
  if (std::error_code error = fs::make_absolute(parent))
    return ::cannotWrite(output, error);
  // Missing folders are made when the output gets its name.
  while (!fs::exists(parent) && llvm::sys::path::has_parent_path(parent))
    llvm::sys::path::remove_filename(parent);
  llvm::ErrorOr<std::string> folder = makeFolder(parent);
  if (!folder)
    return ::cannotWrite(output, folder.getError());
  return std::unique_ptr<StagedFile>(new StagedFile(output, *folder, /*isTemporary=*/false));
}

llvm::Expected<std::unique_ptr<StagedFile>> StagedFile::temporary(llvm::StringRef name) {
  llvm::SmallString<128> place;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, place);
  llvm::ErrorOr<std::string> folder = makeFolder(place);
  if (!folder)
    return cannotWriteTemporaries(folder.getError());
  return std::unique_ptr<StagedFile>(new StagedFile(name, *folder, /*isTemporary=*/true));
}

StagedFile::~StagedFile() { Uninterrupted().removeFolder(folder_); }

/// The result of `write`; `failed` says why the stream could not take it.
static llvm::Error writeTo(llvm::raw_fd_ostream &out, Writer write, std::error_code &failed) {
  llvm::Error result = write(out);
  out.flush();
  failed = out.error();
  out.clear_error();
  return result;
}

static llvm::Error writeTo(llvm::raw_fd_ostream &out, llvm::StringRef path, Writer write) {
  std::error_code failed;
  llvm::Error result = writeTo(out, write, failed);
  return result || !failed ? std::move(result) : cannotWrite(path, failed);
}

llvm::Error StagedFile::fillPart(llvm::StringRef name, Writer write) const {
  std::error_code error;
  llvm::raw_fd_ostream out(part(name), error, fs::CD_CreateNew);
  if (error)
    return cannotWrite(error);
  llvm::Error written = writeTo(out, write, error);
  out.close(); // the disk may be full only now, and LLVM's destructor would end the process
  error = error ? error : out.error();
  out.clear_error();
  return written || !error ? std::move(written) : cannotWrite(error);
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

/// Has the disk store the contents of a file or folder. Not every file system can.
static std::error_code keepOnDisk(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return lastError();
  std::error_code error = fsync(file) == 0 || errno == EINVAL || errno == EROFS ? std::error_code() : lastError();
  close(file);
  return error;
}

/// How a file got its name, and so how to undo it.
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

/// A file that gets its name. Made before the first one does: after that, lack of memory would end the process between
/// two names, so nothing allocates any.
struct Placement {
  std::string from, to, parent;
  llvm::StringRef output;
  std::vector<std::string> folders; ///< those that are missing, the outermost first
  size_t made = 0;                  ///< of these
  Move move = Move::Placed;

  explicit Placement(const StagedFile &file)
      : from(file.path()), to(file.output().str()), parent(llvm::sys::path::parent_path(file.folder()).str()),
        output(file.output()) {
    for (llvm::StringRef folder = llvm::sys::path::parent_path(to); !folder.empty() && !fs::exists(folder);
         folder = llvm::sys::path::parent_path(folder))
      folders.insert(folders.begin(), folder.str());
  }

  /// One that another output needs, too, is there already.
  std::error_code makeFolders() {
    for (; made < folders.size(); ++made)
      if (mkdir(folders[made].c_str(), 0777) != 0 && errno != EEXIST)
        return lastError();
    return {};
  }

  /// Those that hold somebody's files stay.
  void removeFolders() const {
    for (const std::string &folder : llvm::reverse(llvm::ArrayRef(folders).take_front(made)))
      rmdir(folder.c_str());
  }

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
    std::error_code error = placement.makeFolders();
    llvm::ErrorOr<Move> move = error ? llvm::ErrorOr<Move>(error) : moveTo(placement.from, placement.to);
    if (!move) {
      for (const Placement &placed : llvm::reverse(placements.take_front(index)))
        placed.moveBack();
      for (const Placement &placed : llvm::reverse(placements.take_front(index + 1)))
        placed.removeFolders();
      return cannotWrite(placement.output, move.getError());
    }
    placement.move = *move;
  }
  return llvm::Error::success();
}

llvm::Error Outputs::commit() {
  std::vector<Placement> placements;
  placements.reserve(files_.size());
  for (const std::unique_ptr<StagedFile> &file : files_)
    placements.emplace_back(*file);
  for (const Placement &placement : placements)
    if (std::error_code error = keepOnDisk(placement.from))
      return cannotWrite(placement.output, error);
  if (llvm::Error error = place(placements))
    return error;
  for (const Placement &placement : placements) {
    std::ignore = keepOnDisk(placement.parent);
    for (const std::string &folder : placement.folders)
      std::ignore = keepOnDisk(folder);
  }
  files_.clear();
  return llvm::Error::success();
}

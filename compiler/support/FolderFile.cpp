#include "support/FolderFile.h"

#include "support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace kiln;
namespace path = llvm::sys::path;

// Opening a pipe must not wait.
static constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

bool kiln::leavesFolder(llvm::StringRef name) {
  return name.empty() || name.contains('\0') || path::is_absolute(name) ||
         llvm::is_contained(llvm::make_range(path::begin(name), path::end(name)), "..");
}

static llvm::Error outside() { return failure("is outside the model's folder", "move it into that folder"); }

static llvm::Error unreadable(int error, llvm::StringRef remedy = kBesideModel) {
  return error == EXDEV ? outside() : failure("cannot be read: " + std::generic_category().message(error), remedy);
}

/// Takes an open file, or -1 with its errno.
static llvm::Expected<int> requireRegular(int file, llvm::StringRef remedy = kBesideModel) {
  if (file < 0)
    return unreadable(errno, remedy);
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    return file;
  close(file);
  return failure("is not a regular file", "put the file itself there");
}

static int openBySteps(int folder, llvm::StringRef name) {
  int at = dup(folder);
  for (auto step = path::begin(name), end = path::end(name); at >= 0 && step != end;) {
    llvm::SmallString<64> part(*step);
    bool isLast = ++step == end;
    int next = openat(at, part.c_str(), O_NOFOLLOW | (isLast ? kRead : O_PATH | O_DIRECTORY | O_CLOEXEC));
    int error = errno;
    close(at);
    at = next;
    errno = error;
  }
  return at;
}

static int openByKernel(int folder, llvm::StringRef name) {
  llvm::SmallString<128> text(name);
  open_how how = {};
  how.flags = kRead;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long file = -1;
  // The kernel gives up if a folder on the path was renamed meanwhile.
  for (int attempts = 0; attempts < 100; ++attempts)
    if (file = syscall(SYS_openat2, folder, text.c_str(), &how, sizeof how); file >= 0 || errno != EAGAIN)
      break;
  // A sandbox may forbid a call that it does not know.
  return file < 0 && (errno == ENOSYS || errno == EPERM) ? openBySteps(folder, name) : static_cast<int>(file);
}

/// Takes the result of requireRegular, and closes it.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> map(llvm::Expected<int> file, llvm::StringRef name) {
  if (!file)
    return file.takeError();
  llvm::scope_exit closeFile([&] { close(*file); });
  struct stat status;
  if (fstat(*file, &status) != 0)
    return unreadable(errno);
  auto buffer = llvm::MemoryBuffer::getOpenFile(*file, name, status.st_size, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return unreadable(buffer.getError().value());
  return std::move(*buffer);
}

llvm::Expected<int> kiln::openRegularFile(llvm::StringRef path, llvm::StringRef remedy) {
  return requireRegular(open(path.str().c_str(), kRead), remedy);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> kiln::mapRegularFile(llvm::StringRef path, llvm::StringRef remedy) {
  return map(openRegularFile(path, remedy), path);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> kiln::mapInFolder(llvm::StringRef folder, llvm::StringRef name,
                                                                      PathWalk walk) {
  if (leavesFolder(name))
    return outside();
  int root = open(folder.empty() ? "." : folder.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return unreadable(errno);
  llvm::scope_exit closeRoot([&] { close(root); });
  return map(requireRegular(walk == PathWalk::ByKernel ? openByKernel(root, name) : openBySteps(root, name)), name);
}

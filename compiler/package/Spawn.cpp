// A compiler or linker that kiln runs writes into a folder of its own. It is the leader of a process group, so that a
// signal to kiln ends it with everything that it has started, and it begins with the signals as a shell has them. Its
// complaints are kept in memory, and one line of them becomes part of kiln's.
#include "package/Spawn.h"

#include "package/Interrupt.h"
#include "support/Error.h"
#include "support/Step.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::package;

/// The first complaint of a compiler or linker; "" if there is none. The message that the linker failed says nothing if
/// the reason is there too.
static std::string firstComplaint(llvm::StringRef output) {
  llvm::SmallVector<llvm::StringRef> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (!line.starts_with("collect2:") && (line.contains("error") || line.contains("undefined") ||
                                           line.contains("failed") || line.contains("No space left")))
      return line.trim().str();
  return lines.empty() ? "" : lines.front().trim().str();
}

namespace {

/// The output of a program that runs at the same time, as it is written. Not begun, it is not a pipe.
class Pipe {
public:
  ~Pipe() {
    closeWriting();
    if (ends_[0] >= 0)
      close(ends_[0]);
  }
  bool begin() { return pipe2(ends_, O_CLOEXEC) == 0; }
  int writing() const { return ends_[1]; }
  /// All output until nobody has the writing end any more.
  void readInto(llvm::SmallVectorImpl<char> &text) {
    closeWriting();
    llvm::consumeError(llvm::sys::fs::readNativeFileToEOF(ends_[0], text)); // if it is cut short, its status tells
  }

private:
  void closeWriting() {
    if (ends_[1] >= 0)
      close(ends_[1]);
    ends_[1] = -1;
  }
  int ends_[2] = {-1, -1};
};

/// The attributes and file actions of a posix_spawn.
class Start {
public:
  Start(const Job &job, int output, int complaints) {
    check(posix_spawn_file_actions_init(&actions_));
    check(posix_spawnattr_init(&attributes_));
    check(posix_spawn_file_actions_addchdir_np(&actions_, job.file.folder().str().c_str()));
    check(posix_spawn_file_actions_adddup2(&actions_, output, 1));
    check(posix_spawn_file_actions_adddup2(&actions_, complaints, 2));
    check(posix_spawn_file_actions_addopen(&actions_, 0, job.input.empty() ? "/dev/null" : job.input.str().c_str(),
                                           O_RDONLY, 0));
    // Signals that this process blocks or ignores do not concern the program.
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ, SIGPIPE})
      sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Start() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  int run(pid_t &process, const char *program, char *const *arguments, char *const *environment) const {
    return error_ ? error_ : posix_spawn(&process, program, &actions_, &attributes_, arguments, environment);
  }

private:
  /// Without memory for an action the program would be left in another folder and write its files there.
  void check(int error) { error_ = error_ ? error_ : error; }
  int error_ = 0;
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

} // namespace

static std::vector<char *> pointers(std::vector<std::string> &texts) {
  std::vector<char *> result;
  for (std::string &text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Starts the program and waits; returns waitpid's status, or -1 with errno. Its messages go to `complaints`.
static int runAndWait(const std::string &program, llvm::ArrayRef<std::string> arguments, const Job &job,
                      int complaints) {
  std::vector<std::string> command = {program}, environment = {"TMPDIR=."};
  llvm::append_range(command, arguments);
  for (char **variable = environ; *variable; ++variable)
    if (!llvm::StringRef(*variable).starts_with("TMPDIR="))
      environment.push_back(*variable);
  Pipe output;
  if (job.output && !output.begin())
    return -1;
  pid_t process = 0;
  {
    Uninterrupted section;
    int error = Start(job, job.output ? output.writing() : complaints, complaints)
                    .run(process, program.c_str(), pointers(command).data(), pointers(environment).data());
    if (error) {
      errno = error;
      return -1;
    }
    section.killAtInterrupt(process);
  }
  if (job.output)
    output.readInto(*job.output);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  Uninterrupted().killAtInterrupt(0);
  return status;
}

static llvm::Error cannot(const Job &job, const llvm::Twine &cause, const llvm::Twine &remedy = "") {
  return failure(job.file.output() + ": cannot " + job.doWhat + ": " + cause, remedy);
}

static constexpr llvm::StringRef kTryAlone = "see what it is and whether it works by itself";

llvm::Error package::spawn(const std::string &program, llvm::ArrayRef<std::string> arguments, const Job &job) {
  beginStep(job.doWhat);
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(program);
  if (!found)
    return cannot(job, "no program '" + program + "' is in PATH");
  llvm::SmallString<128> absolute(*found);
  llvm::sys::fs::make_absolute(absolute);
  // In memory: on a disk that is full, there would be no room for that either.
  int complaints = memfd_create("complaints", MFD_CLOEXEC);
  if (complaints < 0)
    return cannot(job, program + ": " + std::generic_category().message(errno));
  llvm::scope_exit closing([&] { close(complaints); });
  int status = runAndWait(absolute.str().str(), arguments, job, complaints);
  if (status == 0)
    return llvm::Error::success();
  if (status < 0)
    return cannot(job, program + ": " + std::generic_category().message(errno));
  if (WIFSIGNALED(status))
    return cannot(job, program + " was ended by signal " + llvm::Twine(WTERMSIG(status)));
  auto text = llvm::MemoryBuffer::getOpenFile(complaints, "complaints", /*FileSize=*/-1);
  std::string complaint = text ? firstComplaint((*text)->getBuffer()) : "";
  if (complaint.empty())
    return cannot(job, program + " ended with status " + llvm::Twine(WEXITSTATUS(status)) + " and gave no reason",
                  job.remedy.empty() ? kTryAlone : llvm::StringRef(job.remedy));
  std::error_code full = std::make_error_code(std::errc::no_space_on_device);
  if (job.file.isTemporary() && llvm::StringRef(complaint).contains(full.message()))
    return job.file.cannotWrite(full);
  return cannot(job, complaint, job.remedy.empty() ? "see whether '" + program + "' works by itself" : job.remedy);
}

llvm::Error package::spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments, const Job &job) {
  llvm::SmallVector<llvm::StringRef> words; // "ccache gcc"
  llvm::SplitString(compiler, words);
  std::string program = words.empty() ? "" : words.front().str();
  if (!llvm::sys::findProgramByName(program))
    return cannot(job, "no C compiler '" + program + "' is in PATH",
                  "install one, or make an object for the device cpu with --emit obj");
  std::vector<std::string> all(words.empty() ? words.begin() : words.begin() + 1, words.end());
  llvm::append_range(all, arguments);
  if (llvm::Error error = spawn(program, all, job))
    return error;
  const std::string *made = std::next(llvm::find(arguments, "-o"));
  bool isThere = llvm::sys::fs::exists(llvm::sys::path::is_absolute(*made) ? *made : job.file.part(*made));
  return isThere ? llvm::Error::success() : cannot(job, program + " reported success and made no file", kTryAlone);
}

#include "Progress.h"

#include "Log.h"

#include "support/Quote.h"
#include "support/Step.h"

#include "kiln/cli.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace kiln;
using namespace kiln::driver;

namespace {

struct StageCost {
  std::string name;
  double seconds,
      cpuSeconds; ///< at its beginning the clocks, afterwards what it took; with its compilers' and linkers'
  int64_t peakKiB = 0, leftKiB = 0;
  bool isOver = false;
};

struct State {
  std::mutex lock;
  bool isShown = false, isLogged = false, isTimed = false, isDrawn = false;
  std::string stage;
  std::vector<StageCost> costs;
};

} // namespace

static State &state() {
  static State state;
  return state;
}

static double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static const double kStart = wallSeconds();

static double cpuSeconds() {
  double seconds = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval &time : {usage.ru_utime, usage.ru_stime})
      seconds += double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  }
  return seconds;
}

/// A line of /proc/self/status, in KiB; 0 if there is none.
static int64_t statusOf(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, key.size(), key) == 0)
      return std::atoll(line.c_str() + key.size() + 1);
  return 0;
}

/// Linux then takes the memory in use now for the most that there was.
static void forgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

static size_t columnsOfTerminal() {
  unsigned columns = llvm::sys::Process::StandardErrColumns();
  return columns > 0 ? columns : 80;
}

/// The line, cut to the terminal's width so that it can be erased. The caller has the lock.
static void draw(State &progress, llvm::StringRef what) {
  std::string line = ("kiln: " + progress.stage + (what.empty() ? "" : ": ") + what).str();
  line.resize(std::min(line.size(), columnsOfTerminal() - 1));
  llvm::replace(line, '\n', ' ');
  line = "\r\033[K" + plainText(line);
  progress.isDrawn = write(STDERR_FILENO, line.data(), line.size()) > 0;
}

static void hide(State &progress) {
  static constexpr llvm::StringLiteral kClear = "\r\033[K";
  if (progress.isDrawn)
    progress.isDrawn = write(STDERR_FILENO, kClear.data(), kClear.size()) < 0;
}

void driver::showProgress() {
  if (!kiln_has_terminal())
    return;
  state().isShown = true;
  setStepListener(showStep);
}

void driver::logProgress() {
  state().isLogged = true;
  setStepListener(showStep);
}

void driver::timeStages() { state().isTimed = true; }

void driver::beginStage(llvm::StringRef name) {
  State &progress = state();
  std::lock_guard<std::mutex> guard(progress.lock);
  progress.stage = name.str();
  if (progress.isTimed) {
    if (!progress.costs.empty() && !progress.costs.back().isOver) {
      StageCost &ended = progress.costs.back();
      ended.seconds = wallSeconds() - ended.seconds;
      ended.cpuSeconds = cpuSeconds() - ended.cpuSeconds;
      ended.peakKiB = statusOf("VmHWM:");
      ended.leftKiB = statusOf("VmRSS:");
      ended.isOver = true;
    }
    forgetPeak();
    if (!name.empty())
      progress.costs.push_back({name.str(), wallSeconds(), cpuSeconds()});
  }
  if (name.empty())
    hide(progress);
  else if (progress.isShown)
    draw(progress, "");
  else if (progress.isLogged)
    logInfo(name);
}

void driver::showStep(llvm::StringRef what) {
  State &progress = state();
  std::lock_guard<std::mutex> guard(progress.lock);
  if (progress.isShown && !progress.stage.empty())
    draw(progress, what);
  if (progress.isLogged && !progress.stage.empty())
    logInfo((progress.stage + ": " + what).str());
}

void driver::hideProgress() {
  State &progress = state();
  std::lock_guard<std::mutex> guard(progress.lock);
  hide(progress);
}

double driver::secondsSinceStart() { return wallSeconds() - kStart; }

void driver::tell(llvm::StringRef line) {
  State &progress = state();
  std::lock_guard<std::mutex> guard(progress.lock);
  hide(progress);
  if (progress.isShown)
    llvm::errs() << line << "\n";
  else if (progress.isLogged)
    logInfo(line);
}

void driver::printStageTimes(llvm::raw_ostream &out) {
  State &progress = state();
  if (!progress.isTimed)
    return;
  auto row = [&](const StageCost &cost, bool hasRest) {
    out << llvm::format("%-10s %9.3f %9.3f %9.1f", cost.name.c_str(), cost.seconds, cost.cpuSeconds,
                        double(cost.peakKiB) / 1024);
    if (hasRest)
      out << llvm::format(" %9.1f", double(cost.leftKiB) / 1024);
    out << "\n";
  };
  StageCost all{"all", 0, 0};
  out << "stage        seconds       CPU   peak MB  MB after\n";
  for (const StageCost &cost : progress.costs) {
    row(cost, /*hasRest=*/true);
    all.seconds += cost.seconds;
    all.cpuSeconds += cost.cpuSeconds;
    all.peakKiB = std::max(all.peakKiB, cost.peakKiB);
  }
  row(all, /*hasRest=*/false);
}

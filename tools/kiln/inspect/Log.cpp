#include "Log.h"

#include "Json.h"
#include "support/DebugStream.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "kiln/cli.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

using namespace kiln;
using namespace kiln::driver;

static spdlog::logger makeLogger(const char *pattern) {
  const char *plain = getenv("NO_COLOR");
  bool isPlain = plain && *plain;
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(isPlain ? spdlog::color_mode::never
                                                                            : spdlog::color_mode::automatic);
  sink->set_color(spdlog::level::info, sink->reset);
  sink->set_pattern(pattern);
  spdlog::logger logger("kiln", std::move(sink));
  logger.set_level(spdlog::level::warn);
  return logger;
}

static spdlog::logger &messages() {
  static spdlog::logger logger = makeLogger("%^kiln:%$ %v");
  return logger;
}

namespace {
/// Listings line by line, through plainText: they are full of a model's names.
class ListingStream : public llvm::raw_ostream {
public:
  ListingStream() : raw_ostream(/*unbuffered=*/true), logger_(makeLogger("%v")) {
    logger_.set_level(spdlog::level::debug);
  }
  ~ListingStream() override {
    if (!line_.empty())
      logger_.debug(plainText(line_));
  }

  /// A line whose beginning has colours of its own.
  void writeLine(llvm::StringRef painted, llvm::StringRef rest) {
    std::lock_guard<std::mutex> guard(lock_);
    logger_.debug(painted.str() + plainText(rest));
  }

private:
  void write_impl(const char *text, size_t bytes) override {
    std::lock_guard<std::mutex> guard(lock_);
    position_ += bytes;
    llvm::StringRef rest(text, bytes);
    for (size_t end = rest.find('\n'); end != llvm::StringRef::npos; end = rest.find('\n')) {
      line_ += rest.take_front(end);
      logger_.debug(plainText(line_));
      line_.clear();
      rest = rest.drop_front(end + 1);
    }
    line_ += rest;
  }
  uint64_t current_pos() const override { return position_; }

  spdlog::logger logger_;
  std::mutex lock_;
  std::string line_;
  uint64_t position_ = 0;
};
} // namespace

static ListingStream &listings() {
  static ListingStream stream;
  return stream;
}

void driver::beginLog() {
  messages();
  setDebugStream(listings());
}

void driver::listKernel(llvm::StringRef name, llvm::StringRef axes, llvm::StringRef after) {
  std::string painted = name.str();
  if (kiln_has_colours()) {
    painted.resize(16 * name.size() + 16);
    kiln_paint_kernel(name.str().c_str(), axes.str().c_str(), painted.data(), painted.size());
    painted.resize(strlen(painted.c_str()));
  }
  listings().writeLine(painted, after);
}

void driver::setLogLevel(LogLevel level) {
  static constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn, spdlog::level::info};
  messages().set_level(kLevels[static_cast<size_t>(level)]);
}

static bool writesJson = false;

void driver::logErrorsAsJson() { writesJson = true; }

void driver::logError(llvm::StringRef text) {
  if (!writesJson) {
    messages().error(plainText(text));
    return;
  }
  Json document = jsonDocument();
  document["error"] = plainText(text);
  printJson(document, llvm::errs());
}
void driver::logWarning(llvm::StringRef text) { messages().warn(plainText(text)); }
void driver::logInfo(llvm::StringRef text) { messages().info(plainText(text)); }

llvm::Error driver::flushOutput() {
  llvm::outs().flush();
  std::error_code failed = llvm::outs().error();
  llvm::outs().clear_error();
  return failed ? failure("standard output: cannot be written: " + failed.message(), "send it elsewhere")
                : llvm::Error::success();
}

// DumpFuzz FOLDER SEED RUNS SECONDS [compile]: any text that is given as the dump of a stage is read or refused: no
// crash, no assertion, no endless loop; with `compile` it is also taken through the remaining stages. The texts are the
// dumps of the folder with some words changed, since with bytes changed hardly any would still be read, and earlier
// findings in its folder. libFuzzer does not help here: it keeps texts that reach new code, and the compiler is not
// instrumented. Each text is written to current.mlir first, so that a crash leaves it there. It ends after so many
// texts or seconds, whichever is first.
#include "tools/kiln/model/Model.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace kiln;
using namespace kiln::driver;

namespace {

bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; }

/// The texts of a folder's files, always in one order.
std::vector<std::string> textsIn(const std::filesystem::path &folder) {
  std::vector<std::string> texts;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file())
      texts.push_back((*llvm::MemoryBuffer::getFile(entry.path().string()))->getBuffer().str());
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// Where the text's words begin and end.
std::vector<std::pair<size_t, size_t>> wordsOf(llvm::StringRef text) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      end++;
    if (end > at)
      words.emplace_back(at, end);
    at = std::max(end, at + 1);
  }
  return words;
}

/// What stands for a word: another number, another word of the text, or nothing.
std::string replace(llvm::StringRef word, llvm::StringRef other, std::mt19937 &random) {
  static constexpr const char *kNumbers[] = {"0", "1", "-1", "2", "3", "7", "64", "1000", "2147483647", "-2147483648"};
  int64_t value = 0;
  if (!word.getAsInteger(10, value) && random() % 4 != 0)
    switch (random() % 4) {
    case 0:
      return std::to_string(value + 1);
    case 1:
      return std::to_string(value - 1);
    case 2:
      return std::to_string(value * 2);
    default:
      return kNumbers[random() % std::size(kNumbers)];
    }
  return random() % 8 == 0 ? "" : other.str();
}

/// The text with one to three changes.
std::string changed(std::string text, std::mt19937 &random) {
  for (unsigned changes = 1 + random() % 3; changes > 0; changes--) {
    if (random() % 6 == 0) { // a line is lost, or stands twice
      size_t begin = text.rfind('\n', text.empty() ? 0 : random() % text.size());
      begin = begin == std::string::npos ? 0 : begin + 1;
      size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin) + "\n";
      random() % 2 ? text.insert(begin, line) : text.erase(begin, line.size());
      continue;
    }
    std::vector<std::pair<size_t, size_t>> words = wordsOf(text);
    if (words.empty())
      break;
    auto [begin, end] = words[random() % words.size()];
    auto [otherBegin, otherEnd] = words[random() % words.size()];
    std::string word = text.substr(begin, end - begin), other = text.substr(otherBegin, otherEnd - otherBegin);
    text.replace(begin, end - begin, replace(word, other, random));
  }
  return text;
}

enum class Outcome { Refused, Stopped, Done };

Outcome outcomeOf(llvm::Error error, Outcome failed, std::string *why) {
  if (!error)
    return Outcome::Done;
  std::string said = llvm::toString(std::move(error));
  if (why)
    *why = said;
  return failed;
}

/// `why`: what a text that is not taken to the end is told.
Outcome read(const std::string &text, bool compiles, std::string *why = nullptr) {
  static constexpr char kPath[] = "current.mlir";
  std::ofstream(kPath) << text;
  alarm(20);
  CompileOptions options;
  options.model = kPath;
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options);
  if (!model)
    return outcomeOf(model.takeError(), Outcome::Refused, why);
  return compiles ? outcomeOf((*model)->advance(Stage::Lower), Outcome::Stopped, why) : Outcome::Done;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  bool compiles = argc > 5;
  std::vector<std::string> texts = textsIn(argv[1]);
  std::mt19937 random(std::stoul(argv[2]));
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::stol(argv[4]));
  int64_t counts[3] = {};
  std::string why;
  for (const std::string &text : texts)
    if (read(text, compiles, &why) != Outcome::Done) {
      llvm::errs() << "a dump of the folder, which is in current.mlir, is refused: " << why << "\n";
      return 1;
    }
  for (const std::string &find : textsIn(std::filesystem::path(argv[1]) / "finds"))
    read(find, compiles);
  for (int64_t runs = std::stol(argv[3]); runs > 0 && std::chrono::steady_clock::now() < end; runs--)
    counts[int(read(changed(texts[random() % texts.size()], random), compiles))]++;
  llvm::outs() << counts[0] << " texts refused, " << counts[1] << " stopped at a later stage, " << counts[2]
               << " taken\n";
  return 0;
}

#include "tools/draw-views/Example.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::docs;
using namespace kiln::view;
using llvm::SmallVector;
using llvm::StringRef;

std::vector<Example> kiln::docs::findExamples(StringRef page) {
  std::vector<Example> examples;
  SmallVector<StringRef> lines;
  page.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef fence = lines[i];
    if (!fence.consume_front("```views"))
      continue;
    Example example{fence.trim().str(), unsigned(i + 1), {}};
    for (++i; i < lines.size() && !lines[i].starts_with("```"); ++i)
      if (!lines[i].trim().empty())
        example.lines.push_back(lines[i].trim().str());
    examples.push_back(std::move(example));
  }
  return examples;
}

/// "(2,3)" as the shape of a tracker's text.
static llvm::Expected<Shape> readShape(StringRef text) {
  size_t rank = text.trim() == "()" ? 0 : text.count(',') + 1;
  std::string zeros = "(" + llvm::join(SmallVector<std::string>(rank, "0"), ",") + ")";
  llvm::Expected<ShapeTracker> st = ShapeTracker::parse((text + ":" + zeros).str());
  if (!st)
    return st.takeError();
  return Shape(st->shape());
}

static llvm::Expected<SmallVector<int64_t, 4>> readIntegers(StringRef text) {
  SmallVector<int64_t, 4> numbers;
  for (StringRef word : llvm::split(text.trim(), ' ')) {
    int64_t number;
    if (word.trim().getAsInteger(10, number))
      return failure("'" + word + "' is not an integer");
    numbers.push_back(number);
  }
  return numbers;
}

/// Words "A,B" or "A:B".
static llvm::Expected<SmallVector<Range, 4>> readPairs(StringRef text, char separator) {
  SmallVector<Range, 4> pairs;
  for (StringRef word : llvm::split(text.trim(), ' ')) {
    auto [first, second] = word.trim().split(separator);
    llvm::Expected<Expr> a = Expr::parse(first);
    if (!a)
      return a.takeError();
    llvm::Expected<Expr> b = Expr::parse(second);
    if (!b)
      return b.takeError();
    pairs.push_back({*a, *b});
  }
  return pairs;
}

/// Does one line; `tracker` has a value from the first on.
static llvm::Error step(StringRef line, std::optional<ShapeTracker> &tracker) {
  if (!tracker) {
    llvm::Expected<ShapeTracker> st = ShapeTracker::parse(line);
    if (!st)
      return st.takeError();
    tracker = *st;
    return llvm::Error::success();
  }
  auto [word, rest] = line.split(' ');
  auto claim = [&](const std::string &is) {
    return rest.trim() == is ? llvm::Error::success() : failure("'" + line + "' should be '" + word + " " + is + "'");
  };
  if (word == "=")
    return claim(tracker->print());
  if (word == "index")
    return claim(tracker->at().index.render());
  if (word == "valid")
    return claim(tracker->at().valid.render());
  if (word == "simplify") {
    tracker = tracker->simplify();
  } else if (word == "reshape" || word == "expand") {
    llvm::Expected<Shape> shape = readShape(rest);
    if (!shape)
      return shape.takeError();
    tracker = word == "reshape" ? tracker->reshape(*shape) : tracker->expand(*shape);
  } else if (word == "pad" || word == "shrink") {
    llvm::Expected<SmallVector<Range, 4>> pairs = readPairs(rest, word == "pad" ? ',' : ':');
    if (!pairs)
      return pairs.takeError();
    SmallVector<std::pair<Expr, Expr>, 4> amounts;
    for (Range r : *pairs)
      amounts.push_back({r.begin, r.end});
    tracker = word == "pad" ? tracker->pad(amounts) : tracker->shrink(*pairs);
  } else if (word == "permute" || word == "flip" || word == "stride") {
    llvm::Expected<SmallVector<int64_t, 4>> numbers = readIntegers(rest);
    if (!numbers)
      return numbers.takeError();
    tracker = word == "permute" ? tracker->permute(*numbers)
              : word == "flip"  ? tracker->flip(*numbers)
                                : tracker->stride(*numbers);
  } else {
    return failure("'" + word + "' is not a movement");
  }
  return llvm::Error::success();
}

llvm::Expected<ShapeTracker> kiln::docs::runExample(const Example &example) {
  std::optional<ShapeTracker> tracker;
  for (const std::string &line : example.lines)
    if (llvm::Error wrong = step(line, tracker))
      return std::move(wrong);
  if (!tracker)
    return failure("the example is empty");
  return *tracker;
}

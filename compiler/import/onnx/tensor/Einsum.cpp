//===- Einsum.cpp - Products and sums by Einstein's notation ------------------===//
//
// "bij,bjk->bik": one letter per axis. Every operand gets an axis for each letter of the equation, in one order, with
// the size 1 if it lacks the letter; then the operands are multiplied and the letters that the result lacks summed.
// That is a product of two views summed over some axes, as a matrix product is, so it becomes the same kernel. An
// ellipsis means any number of axes, which broadcast.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using mlir::Value;

/// Labels of axes: letters, and from 256 on the axes of the ellipsis, counted from its end.
using Labels = llvm::SmallVector<int>;
static constexpr int kEllipsis = 256;

/// The labels of one term, whose ellipsis means `hidden` axes; nullopt if it is not a term.
static std::optional<Labels> parseTerm(StringRef term, int64_t hidden) {
  Labels labels;
  bool hasEllipsis = false;
  while (!term.empty()) {
    if (term.consume_front("...")) {
      if (hasEllipsis || hidden < 0)
        return std::nullopt;
      hasEllipsis = true;
      for (int64_t i = hidden; i-- > 0;)
        labels.push_back(kEllipsis + int(i));
    } else if (llvm::isAlpha(term.front())) {
      labels.push_back(term.front());
      term = term.drop_front();
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

static int64_t lettersOf(StringRef term) {
  return llvm::count_if(term, [](char c) { return llvm::isAlpha(c); });
}

/// For two axes with one label, the elements at equal places.
static Value takeDiagonals(TensorBuilder &b, Value x, Labels &labels) {
  for (size_t i = 0; x && i < labels.size(); ++i)
    for (size_t j = labels.size() - 1; x && j > i; --j) {
      if (labels[j] != labels[i])
        continue;
      Shape rows(labels.size(), Expr(1)), columns = rows;
      rows[i] = b.dim(x, i);
      columns[j] = b.dim(x, j);
      Value isEqual =
          b.equal(b.reshape(b.arange(rows[i], b.int64()), rows), b.reshape(b.arange(columns[j], b.int64()), columns));
      x = b.sum(b.where(isEqual, x, b.constantLike(x, 0)), {int64_t(j)});
      labels.erase(labels.begin() + j);
    }
  return x;
}

/// x with an axis for each of `order`, of size 1 if x has none of that label.
static Value spread(TensorBuilder &b, Value x, const Labels &labels, const Labels &order) {
  llvm::SmallVector<int64_t> from, missing;
  for (auto [place, label] : llvm::enumerate(order)) {
    const int *found = llvm::find(labels, label);
    if (found == labels.end())
      missing.push_back(place);
    else
      from.push_back(found - labels.begin());
  }
  return b.unsqueeze(b.permute(x, from), missing);
}

static Tensor einsum(Node &n, TensorBuilder &b) {
  std::string equation = n.string("equation", "");
  auto malformed = [&] {
    return n.fail("the equation " + quoted(equation) + " does not fit its inputs",
                  "it has a term of letters for each input, as in bij,bjk->bik");
  };
  std::string text;
  llvm::copy_if(equation, std::back_inserter(text), [](char c) { return c != ' '; });
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  llvm::SmallVector<StringRef> terms;
  left.split(terms, ',');
  llvm::SmallVector<Value> inputs = n.inputs();
  if (!b.ok() || terms.size() != inputs.size())
    return b.ok() ? malformed() : Tensor();

  mlir::Type element = b.element(inputs.front());
  llvm::SmallVector<Labels> given;
  int64_t hidden = 0;
  for (auto [term, input] : llvm::zip(terms, inputs)) {
    int64_t own = term.contains("...") ? b.rank(input) - lettersOf(term) : 0;
    std::optional<Labels> labels = parseTerm(term, own);
    if (!labels || int64_t(labels->size()) != b.rank(input))
      return malformed();
    hidden = std::max(hidden, own);
    given.push_back(*labels);
  }
  std::optional<Labels> result = parseTerm(right, hidden);
  if (!result)
    return malformed();
  Labels all;
  for (const Labels &labels : given)
    all.append(labels);
  if (!isExplicit) {
    // The ellipsis, then the letters that occur once, in the order of the alphabet.
    for (int64_t i = hidden; i-- > 0;)
      result->push_back(kEllipsis + int(i));
    for (int letter = 'A'; letter <= 'z'; ++letter)
      if (llvm::count(all, letter) == 1)
        result->push_back(letter);
  }
  Labels order = *result;
  llvm::SmallVector<int64_t> summed;
  for (int label : *result)
    if (llvm::count(*result, label) != 1 || !llvm::is_contained(all, label))
      return malformed();
  for (int label : all)
    if (!llvm::is_contained(order, label)) {
      summed.push_back(order.size());
      order.push_back(label);
    }

  Value product;
  for (auto [input, labels] : llvm::zip(inputs, given)) {
    Value factor = takeDiagonals(b, b.cast(input, b.accumulator(element)), labels);
    factor = spread(b, factor, labels, order);
    product = product ? b.mul(product, factor) : factor;
  }
  return b.cast(summed.empty() ? product : b.sum(product, summed), element);
}

void kiln::import::onnx::addEinsum(Registry &r) { r.add("Einsum", 12, einsum); }

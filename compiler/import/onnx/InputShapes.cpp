//===- InputShapes.cpp - The shapes of a model's inputs ----------------------===//
//
// For each size a file has a number, a name or nothing, and for some inputs nothing at all. The user's options come
// first: `--dim` of a name or of a place, `--shape` of an input. Names that several axes share are hints
// (SharedSizes.h); one that is an expression over others, such as past + seq, is that expression.
//
//===--------------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "import/onnx/SharedSizes.h"
#include "support/Error.h"
#include "support/Nearest.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using view::Expr;

void Importer::findPlainSymbols(const ::onnx::GraphProto &graph) {
  for (const ::onnx::ValueInfoProto &input : graph.input())
    for (const auto &dim : input.type().tensor_type().shape().dim()) {
      llvm::Expected<Expr> size = Expr::parse(dim.dim_param());
      if (size && size->kind() == Expr::Kind::Var)
        plainSymbols_.insert(size->name());
      llvm::consumeError(size.takeError());
    }
}

/// "past + seq" is that sum if past and seq are sizes of inputs themselves; otherwise it is only a name.
static bool isExpressionOver(StringRef text, const llvm::StringSet<> &symbols) {
  llvm::Expected<Expr> size = Expr::parse(text);
  if (!size) {
    llvm::consumeError(size.takeError());
    return false;
  }
  bool known = size->kind() != Expr::Kind::Var && !size->isConst();
  size->forEachVariable([&](Expr variable) { known &= symbols.contains(variable.name()); });
  return known;
}

/// The name of a size without one: its place.
static std::string placeName(StringRef input, size_t axis) { return (input + ".dim" + Twine(axis)).str(); }

Expr Importer::namedSize(StringRef input, size_t axis, StringRef name) {
  std::string place = placeName(input, axis);
  if (const SymbolBounds *given = symbols_.given((input + "." + Twine(axis)).str()))
    return symbols_.symbol(place, *given);
  bool isFirst = !name.empty() && namesUsed_.insert(name).second;
  if (isPlaceholder(name))
    return symbols_.symbol(isFirst && name.starts_with("unk__") ? name : place); // which are numbered
  std::string symbol = isFirst ? name.str() : place;
  for (auto other = joined_.find(symbol); other != joined_.end(); other = joined_.find(symbol))
    symbol = other->second;
  Expr size = symbol == name ? symbols_.symbol(name) : symbols_.symbolLike(symbol, name);
  if (!size.isConst())
    shared_.add(symbol, name);
  return size;
}

llvm::Expected<Expr> Importer::declaredSize(StringRef input, size_t axis, StringRef name) {
  if (!isPlaceholder(name) && isExpressionOver(name, plainSymbols_))
    return symbols_.parse(name);
  return namedSize(input, axis, name);
}

llvm::Expected<Expr> Importer::givenSize(StringRef input, size_t axis, StringRef text) {
  if (text == "?")
    return namedSize(input, axis, "");
  llvm::Expected<Expr> size = symbols_.parse(text);
  if (size && size->max() < 0)
    return failure("the size " + text + " is negative");
  return size;
}

llvm::Expected<view::Shape> Importer::inputShape(const ::onnx::ValueInfoProto &input, size_t index) {
  const ::onnx::TypeProto::Tensor &type = input.type().tensor_type();
  StringRef name = input.name();
  auto given = options_.shapes.find(name);
  bool isGiven = given != options_.shapes.end();
  std::optional<int64_t> rank;
  if (type.has_shape())
    rank = type.shape().dim_size();
  else if (isGiven)
    rank = given->second.size();
  else if (index < options_.ranks.size())
    rank = options_.ranks[index];
  if (!rank)
    return failure("its rank is not known", "give its shape, as in --shape " + name +
                                                "=1,3,h,w, or export the model "
                                                "with it; a size may be a name");
  if (isGiven && *rank != int64_t(given->second.size()))
    return usageError("--shape gives it " + Twine(given->second.size()) + " sizes where the model has " + Twine(*rank),
                      "give one per axis; ? leaves one as it is");
  view::Shape shape;
  for (int64_t axis = 0; axis < *rank; ++axis) {
    const ::onnx::TensorShapeProto::Dimension *dim = type.has_shape() ? &type.shape().dim(axis) : nullptr;
    StringRef text = isGiven ? StringRef(given->second[axis]) : "?";
    if (dim && dim->has_dim_value() && dim->dim_value() < -1)
      return failure("the size " + Twine(dim->dim_value()) + " is negative",
                     "write -1, or a name, for a size that is not known");
    // Some exporters write -1 for a size that is not known.
    bool isFixed = dim && dim->has_dim_value() && dim->dim_value() >= 0;
    llvm::Expected<Expr> size = isFixed               ? llvm::Expected<Expr>(Expr(dim->dim_value()))
                                : text != "?" || !dim ? givenSize(name, axis, text)
                                                      : declaredSize(name, axis, dim->dim_param());
    if (!size)
      return size.takeError();
    int64_t wanted;
    if (isFixed && text != "?" && (text.getAsInteger(10, wanted) || wanted != dim->dim_value()))
      return usageError("--shape gives axis " + Twine(axis) + " the size " + text + " where the model has " +
                            Twine(dim->dim_value()),
                        "sizes that the model leaves open can be given");
    shape.push_back(*size);
  }
  return shape;
}

llvm::Error Importer::checkShapes(const ::onnx::GraphProto &graph) const {
  llvm::SmallVector<StringRef> inputs;
  for (const ::onnx::ValueInfoProto &input : graph.input())
    inputs.push_back(input.name());
  for (const auto &shape : options_.shapes)
    if (!llvm::is_contained(inputs, shape.first()))
      return usageError("--shape names '" + shape.first() + "', which is not an input of the model",
                        didYouMean(shape.first(), inputs, "name one of its inputs"));
  return llvm::Error::success();
}

#include "import/onnx/Node.h"

#include "import/onnx/Importer.h"
#include "import/onnx/text/Strings.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using Attribute = ::onnx::AttributeProto;
using llvm::StringRef;
using llvm::Twine;

Node::Node(Importer &importer, Scope &scope, const ::onnx::NodeProto &proto, TensorBuilder &builder)
    : importer_(importer), scope_(scope), proto_(proto), builder_(builder) {
  llvm::StringSet<> names;
  for (const Attribute &given : proto.attribute()) {
    if (!names.insert(given.name()).second)
      fail("attribute " + quoted(given.name()) + " is given twice", "give it once");
    // In a function, an attribute can refer to one of the call's; if the call has none, it is absent.
    if (given.ref_attr_name().empty())
      attributes_.push_back({&given, false});
    else if (const Attribute *argument = scope.argument(given.ref_attr_name()))
      references_[given.name()] = argument;
  }
}

Tensor Node::fail(const Twine &cause, const Twine &remedy) {
  builder_.fail(cause, remedy);
  return {};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool Node::has(int index) const {
  if (index >= numInputs() || proto_.input(index).empty())
    return false;
  // A function's parameter that its call leaves out is a name without a tensor.
  const Tensor *found = scope_.find(proto_.input(index));
  return !found || *found;
}

const Tensor &Node::tensor(int index) {
  static const Tensor none;
  if (!has(index)) {
    fail("input " + Twine(index) + " is missing", "the operator needs it");
    return none;
  }
  if (const Tensor *found = scope_.find(proto_.input(index)))
    return *found;
  fail("input " + quoted(proto_.input(index)) + " is undefined", "no node, input or initializer gives it");
  return none;
}

mlir::Value Node::input(int index) {
  const Tensor &found = tensor(index);
  return found ? importer_.materialize(found, scope_, builder_, /*isNamed=*/true) : mlir::Value();
}

llvm::SmallVector<mlir::Value> Node::inputs(int first) {
  llvm::SmallVector<mlir::Value> values;
  for (int i = first; i < numInputs(); ++i)
    values.push_back(input(i));
  return values;
}

mlir::Value Node::asValue(const Tensor &tensor) {
  return tensor ? importer_.materialize(tensor, scope_, builder_, /*isNamed=*/false) : mlir::Value();
}

const Elements *Node::elements(int index) {
  const Tensor &found = tensor(index);
  return found.elements ? &*found.elements : nullptr;
}

std::optional<Elements> Node::numbers(int index, int64_t min, int64_t max, bool clamps) {
  const Tensor &found = tensor(index);
  if (!found)
    return std::nullopt;
  if (found.elements)
    return found.elements;
  if (found.type.getRank() == 1 && !found.type.hasStaticShape() && found.element().isInteger()) {
    StringRef input = proto_.input(index);
    fail("input " + quoted(input) + " gives sizes, and how many is not known",
         "fix its length, as with --shape " + input + "=2 if it is an input of the model");
    return std::nullopt;
  }
  if (!found.type.hasStaticShape() || found.type.getNumElements() > kMostElements || !found.element().isInteger()) {
    fail("input " + quoted(proto_.input(index)) + " gives sizes but is not a short list of integers", "give it as one");
    return std::nullopt;
  }
  return boundNumbers(index, found.type.getNumElements(), min, max, clamps);
}

std::optional<Elements> Node::countedNumbers(int index, int64_t count, int64_t min, int64_t max, bool clamps) {
  const Tensor &found = tensor(index);
  bool isCounted = found && !found.elements && !found.type.hasStaticShape();
  if (!isCounted || count > kMostElements || !found.element().isInteger())
    return numbers(index, min, max, clamps);
  return boundNumbers(index, count, min, max, clamps);
}

Elements Node::boundNumbers(int index, int64_t count, int64_t min, int64_t max, bool clamps) {
  Elements sizes;
  // Even for no numbers: whether a list of unknown length is empty is checked at run time.
  mlir::Value list = builder_.reshape(input(index), {count});
  for (int64_t i = 0; i < count; ++i) {
    std::string name = scope_.prefix() + proto_.input(index) + (count == 1 ? "" : "." + std::to_string(i));
    mlir::Value scalar = builder_.reshape(builder_.narrow(list, 0, i, i + 1), {});
    scalar = builder_.cast(scalar, builder_.int64());
    if (clamps)
      scalar = builder_.clip(scalar, Operand(min), Operand(max));
    std::string meaning = (count == 1 ? "" : "element " + std::to_string(i) + " of ") + quoted(proto_.input(index));
    sizes.push_back(importer_.bind(name, scalar, builder_, {min, max, std::clamp<int64_t>(1, min, max)}, meaning));
  }
  return sizes;
}

std::string Node::meaning(StringRef what) const {
  static constexpr StringRef kNouns[] = {"length", "size", "extent"};
  auto [stem, number] = what.split('.');
  bool isPadded = stem == "padded";
  if (!isPadded && !llvm::is_contained(kNouns, stem))
    return "";
  std::string words = isPadded ? "the padded size" : number.empty() ? "the " + stem.str() : stem.str();
  return words + (number.empty() ? "" : " " + number.str()) + " of " +
         quoted(proto_.output_size() ? proto_.output(0) : proto_.op_type());
}

view::Expr Node::named(StringRef what, view::Expr value, int64_t min, int64_t max) {
  if (value.isConst() || value.kind() == view::Expr::Kind::Var)
    return value;
  min = std::max(min, value.min());
  max = std::min(max, value.max());
  if (min >= max) {
    builder_.check(view::logicalAnd({view::greaterEqual(value, min), view::greaterEqual(min, value)}),
                   "the " + what + " " + value.print() + " is not " + Twine(min));
    return min;
  }
  std::string name = scope_.prefix() + (proto_.output_size() ? proto_.output(0) : proto_.op_type()) + "." + what.str();
  return importer_.bind(name, builder_.size(value), builder_, {min, max, std::clamp<int64_t>(1, min, max)},
                        meaning(what));
}

std::optional<llvm::SmallVector<int64_t>> Node::integers(int index, StringRef what) {
  const Elements *known = elements(index);
  llvm::SmallVector<int64_t> numbers;
  if (known)
    for (view::Expr element : *known)
      if (std::optional<int64_t> value = element.asConst())
        numbers.push_back(*value);
  if (known && numbers.size() == known->size())
    return numbers;
  fail("the " + what + " " + quoted(has(index) ? proto_.input(index) : "") + " are not known at import",
       known ? "fix the sizes they depend on with --dim" : "they have to be constants");
  return std::nullopt;
}

mlir::DenseElementsAttr Node::dense(int index) {
  return llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(tensor(index).data);
}

static double numberOf(mlir::Attribute element) {
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(element))
    return real.getValueAsDouble();
  auto integer = llvm::cast<mlir::IntegerAttr>(element);
  bool isUnsigned = integer.getType().isUnsignedInteger() || integer.getType().isInteger(1);
  return integer.getValue().roundToDouble(!isUnsigned);
}

std::optional<double> Node::number(int index) {
  mlir::DenseElementsAttr data = dense(index);
  if (!data || data.getNumElements() != 1)
    return std::nullopt;
  return numberOf(*data.value_begin<mlir::Attribute>());
}

std::optional<llvm::SmallVector<double>> Node::reals(int index, StringRef what) {
  mlir::DenseElementsAttr data = dense(index);
  if (!data) {
    fail("the " + what + " " + quoted(has(index) ? proto_.input(index) : "") + " are not known at import",
         "they have to be constants");
    return std::nullopt;
  }
  return llvm::map_to_vector(data.getValues<mlir::Attribute>(), numberOf);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const Attribute *Node::attribute(StringRef name) {
  for (auto &[given, isRead] : attributes_) {
    if (given->name() != name)
      continue;
    isRead = true;
    return given;
  }
  return references_.lookup(name);
}

const Attribute *Node::attribute(StringRef name, Attribute::AttributeType type) {
  const Attribute *found = attribute(name);
  if (!found || found->type() == type)
    return found;
  fail("attribute " + quoted(name) + " is of type " + ::onnx::AttributeProto_AttributeType_Name(found->type()) +
           " where " + ::onnx::AttributeProto_AttributeType_Name(type) + " is needed",
       "give it that type");
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t otherwise) {
  const Attribute *found = attribute(name, Attribute::INT);
  return found ? found->i() : otherwise;
}

int64_t Node::integer(StringRef name) {
  if (!hasAttr(name))
    fail("attribute " + quoted(name) + " is missing", "the operator needs it");
  return integer(name, 0);
}

bool Node::flag(StringRef name, bool otherwise) {
  int64_t value = integer(name, otherwise);
  if (value != 0 && value != 1)
    fail("attribute " + quoted(name) + " is " + llvm::Twine(value), "it has to be 0 or 1");
  return value == 1;
}

double Node::real(StringRef name, double otherwise) {
  const Attribute *found = attribute(name, Attribute::FLOAT);
  return found ? found->f() : otherwise;
}

std::string Node::string(StringRef name, StringRef otherwise) {
  const Attribute *found = attribute(name, Attribute::STRING);
  return found ? found->s() : otherwise.str();
}

llvm::SmallVector<int64_t> Node::integers(StringRef name) {
  const Attribute *found = attribute(name, Attribute::INTS);
  return found ? llvm::SmallVector<int64_t>(found->ints().begin(), found->ints().end()) : llvm::SmallVector<int64_t>();
}

std::optional<llvm::SmallVector<double>> Node::reals(StringRef name) {
  const Attribute *found = attribute(name, Attribute::FLOATS);
  if (!found)
    return std::nullopt;
  return llvm::SmallVector<double>(found->floats().begin(), found->floats().end());
}

llvm::SmallVector<std::string> Node::strings(StringRef name) {
  const Attribute *found = attribute(name, Attribute::STRINGS);
  return found ? llvm::SmallVector<std::string>(found->strings().begin(), found->strings().end())
               : llvm::SmallVector<std::string>();
}

const ::onnx::TensorProto *Node::tensorAttr(StringRef name) {
  const Attribute *found = attribute(name, Attribute::TENSOR);
  bool isString = found && found->t().data_type() == ::onnx::TensorProto::STRING && !takesStrings(op());
  if (isString)
    fail("attribute " + quoted(name) + " is of strings", "it is of numbers");
  return found && !isString ? &found->t() : nullptr;
}

const ::onnx::SparseTensorProto *Node::sparseAttr(StringRef name) {
  const Attribute *found = attribute(name, Attribute::SPARSE_TENSOR);
  return found ? &found->sparse_tensor() : nullptr;
}

const ::onnx::TypeProto *Node::typeAttr(StringRef name) {
  const Attribute *found = attribute(name, Attribute::TYPE_PROTO);
  return found ? &found->tp() : nullptr;
}

const ::onnx::GraphProto *Node::graph(StringRef name) {
  if (!hasAttr(name))
    fail("attribute " + quoted(name) + " is missing", "the operator needs it");
  const Attribute *found = attribute(name, Attribute::GRAPH);
  return found ? &found->g() : nullptr;
}

void Node::ignore(std::initializer_list<StringRef> names) {
  for (StringRef name : names)
    attribute(name);
}

StringRef Node::unread() const {
  for (const auto &[given, isRead] : attributes_)
    if (!isRead)
      return given->name();
  return {};
}

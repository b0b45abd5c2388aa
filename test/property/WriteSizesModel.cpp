// A model of RandomSizes.h in ONNX. A step's amount is an input if it is data, and a constant if it is fixed or a
// binding's numbers are written in. Lists of bounds and limits go through a node or two, as exporters write them, so
// that sizes are computed from data as well as read.
#include "RandomSizes.h"

#include "llvm/ADT/STLExtras.h"

using namespace kiln;
using namespace kiln::test;
using Kind = Step::Kind;

namespace {

class GraphWriter {
public:
  GraphWriter(::onnx::GraphProto &graph, const std::vector<Step> &steps, const Binding *known)
      : graph_(graph), steps_(steps), known_(known) {}
  std::string write(std::string x) {
    for (size_t i = 0; i < steps_.size(); ++i)
      x = write(i, x);
    return x;
  }
  void addInput(const std::string &name, int32_t dtype, const Numbers &shape);

private:
  std::string write(size_t index, const std::string &x);
  /// A node with one result, whose name this returns.
  std::string add(const std::string &op, std::vector<std::string> inputs);
  void set(const std::string &name, const Numbers &numbers);
  void set(const std::string &name, int64_t number);
  void set(const std::string &name, const std::string &text);
  std::string constant(const Numbers &numbers);
  std::string weight(const std::vector<float> &elements, const Numbers &shape);
  std::string amounts(size_t index, int64_t count);
  void setWindow(const Step &step);

  ::onnx::GraphProto &graph_;
  const std::vector<Step> &steps_;
  const Binding *known_;
  int names_ = 0;
};

} // namespace

std::string GraphWriter::add(const std::string &op, std::vector<std::string> inputs) {
  ::onnx::NodeProto &node = *graph_.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output("t" + std::to_string(names_++));
  return node.output(0);
}

void GraphWriter::set(const std::string &name, const Numbers &numbers) {
  ::onnx::AttributeProto &attribute = *graph_.mutable_node()->rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INTS);
  for (int64_t number : numbers)
    attribute.add_ints(number);
}

void GraphWriter::set(const std::string &name, int64_t number) {
  ::onnx::AttributeProto &attribute = *graph_.mutable_node()->rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(number);
}

void GraphWriter::set(const std::string &name, const std::string &text) {
  ::onnx::AttributeProto &attribute = *graph_.mutable_node()->rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::STRING);
  attribute.set_s(text);
}

std::string GraphWriter::constant(const Numbers &numbers) {
  ::onnx::TensorProto &tensor = *graph_.add_initializer();
  tensor.set_name("c" + std::to_string(names_++));
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(int64_t(numbers.size()));
  for (int64_t number : numbers)
    tensor.add_int64_data(number);
  return tensor.name();
}

std::string GraphWriter::weight(const std::vector<float> &elements, const Numbers &shape) {
  ::onnx::TensorProto &tensor = *graph_.add_initializer();
  tensor.set_name("w" + std::to_string(names_++));
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (int64_t size : shape)
    tensor.add_dims(size);
  for (float element : elements)
    tensor.add_float_data(element);
  return tensor.name();
}

void GraphWriter::addInput(const std::string &name, int32_t dtype, const Numbers &shape) {
  ::onnx::ValueInfoProto &input = *graph_.add_input();
  input.set_name(name);
  auto &type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(dtype);
  auto &sizes = *type.mutable_shape();
  for (auto [axis, size] : llvm::enumerate(shape)) {
    auto &dim = *sizes.add_dim();
    if (size >= 0)
      dim.set_dim_value(size);
    else
      dim.set_dim_param("n" + std::to_string(axis));
  }
}

std::string GraphWriter::amounts(size_t index, int64_t count) {
  const Step &step = steps_[index];
  if (!step.isData)
    return constant(step.fixed);
  if (known_)
    return constant(known_->amounts[index]);
  std::string name = "a" + std::to_string(index);
  addInput(name, ::onnx::TensorProto::INT64, {count});
  return name;
}

void GraphWriter::setWindow(const Step &step) {
  set("kernel_shape", step.kernel);
  set("strides", step.strides);
  set("dilations", step.dilations);
  set("pads", step.pads);
}

std::string GraphWriter::write(size_t index, const std::string &x) {
  const Step &step = steps_[index];
  int64_t spatial = step.rank - 2;
  Numbers axes;
  for (int64_t i = 2; i < step.rank; ++i)
    axes.push_back(i);
  switch (step.kind) {
  case Kind::Pad: {
    std::string pads = amounts(index, 2 * step.rank), y = add("Pad", {x, pads});
    set("mode", step.mode);
    return y;
  }
  case Kind::Slice: {
    // Starts and ends are the halves of one list.
    std::string both = amounts(index, 2 * spatial), zero = constant({0}), middle = constant({spatial}),
                end = constant({2 * spatial});
    std::string starts = add("Slice", {both, zero, middle}), ends = add("Slice", {both, middle, end});
    return add("Slice", {x, starts, ends, constant(axes), constant(step.strides)});
  }
  case Kind::Resize: {
    std::string sizes = amounts(index, spatial), y = add("Resize", {x, "", "", sizes});
    set("axes", axes);
    set("mode", step.mode);
    set("coordinate_transformation_mode", std::string(step.number ? "half_pixel" : "asymmetric"));
    return y;
  }
  case Kind::Reshape:
    return add("Reshape", {x, amounts(index, step.number + 2)});
  case Kind::Tile:
    return add("Tile", {x, amounts(index, step.rank)});
  case Kind::Expand: {
    std::string most = add("ReduceMax", {x, constant({step.number})});
    return add("Expand", {most, amounts(index, step.rank)});
  }
  case Kind::Broadcast: {
    std::string both = amounts(index, 2 * spatial), zero = constant({0}), middle = constant({spatial}),
                end = constant({2 * spatial}), starts = constant(Numbers(spatial, 0));
    auto part = [&](const std::string &from, const std::string &to) {
      return add("Slice", {x, starts, add("Slice", {both, from, to}), constant(axes)});
    };
    std::string first = part(zero, middle), second = part(middle, end);
    return add("Sub", {first, second});
  }
  case Kind::Range: {
    std::string limit = add("Squeeze", {amounts(index, 1)}), zero = add("Sub", {limit, limit}),
                one = add("Squeeze", {constant({1})}), row = add("Range", {zero, limit, one}),
                real = add("Cast", {row});
    set("to", int64_t(::onnx::TensorProto::FLOAT));
    return add("Add", {x, real});
  }
  case Kind::MaxPool:
  case Kind::AveragePool: {
    std::string y = add(step.kind == Kind::MaxPool ? "MaxPool" : "AveragePool", {x});
    setWindow(step);
    set("ceil_mode", int64_t(step.flag));
    return y;
  }
  case Kind::Conv: {
    int64_t group = step.flag ? step.number : 1;
    Numbers shape = {step.number, int64_t(step.weight.size()) / step.number / product(step.kernel)};
    llvm::append_range(shape, step.kernel);
    std::string y = add("Conv", {x, weight(step.weight, shape)});
    setWindow(step);
    set("group", group);
    return y;
  }
  case Kind::Turn: {
    Numbers order = {0, 1};
    llvm::append_range(order, axes);
    if (step.rank > 3)
      std::swap(order[2], order[3]);
    std::string y = add("Transpose", {x});
    set("perm", order);
    return y;
  }
  case Kind::Join: {
    std::string other = add("Neg", {x}), y = add("Concat", {x, other});
    set("axis", step.number);
    return y;
  }
  case Kind::Softmax: {
    std::string y = add("Softmax", {x});
    set("axis", step.flag ? int64_t(-1) : int64_t(1));
    return y;
  }
  }
  return x;
}

::onnx::ModelProto SizesModel::model(const Binding *known) const {
  ::onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  ::onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("sizes");
  GraphWriter writer(graph, steps_, known);
  writer.addInput("x", ::onnx::TensorProto::FLOAT, known ? known->shape : shape_);
  std::string y = writer.write("x");
  ::onnx::ValueInfoProto &output = *graph.add_output();
  output.set_name(y);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
  return model;
}

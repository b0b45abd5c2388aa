#include "LaunchRecords.h"

#include "SizeVariants.h"
#include "ir/base/DType.h"
#include "ir/graph/Graph.h"
#include "ir/host/Roles.h"
#include "support/Pattern.h"
#include "support/Quote.h"

#include "kiln/kiln.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::driver;
using host::Reason;

bool Launch::computes(host::TensorAttr tensor) { return !host::role::isRead(tensor.getOp()); }

llvm::SmallVector<host::TensorAttr> Launch::madeOf(size_t position) const {
  llvm::SmallVector<host::TensorAttr> made;
  for (host::TensorAttr tensor : tensors)
    if (llvm::is_contained(tensor.getOperands(), int64_t(position)))
      made.push_back(tensor);
  return made;
}

static std::string branchesAround(mlir::Operation *op) {
  std::string text;
  for (mlir::Operation *around = op->getParentOp(); around; op = around, around = op->getParentOp())
    if (auto node = around->getAttrOfType<mlir::StringAttr>(host::kNodeAttr);
        node && llvm::isa<mlir::scf::IfOp>(around)) {
      bool isThen = op->getParentRegion() == &around->getRegion(0);
      text = llvm::formatv("the {0} branch of '{1}'{2}{3}", isThen ? "then" : "else", plainText(node.getValue()),
                           text.empty() ? "" : ", ", text);
    }
  return text;
}

LaunchRecords::LaunchRecords(mlir::ModuleOp module) {
  llvm::StringMap<unsigned> uses;
  for (auto program : module.getOps<host::ProgramOp>())
    program.walk([&](host::LaunchOp op) {
      Launch &launch = launches_.emplace_back(Launch{
          op.getKernel().str(), op.getKernel().str(), op.getOrigin().str(), {}, branchesAround(op), forSizes(op), ""});
      ++uses[launch.kernel];
      if (host::LaunchOp main = mainVariant(op); main && main != op)
        launch.standsIn = main.getKernel().str();
      if (mlir::ArrayAttr tensors = op.getTensorsAttr())
        launch.tensors = llvm::to_vector(tensors.getAsRange<host::TensorAttr>());
    });
  for (auto [number, launch] : llvm::enumerate(launches_)) {
    if (uses[launch.kernel] > 1)
      launch.name += " (launch " + std::to_string(number + 1) + ")";
    for (host::TensorAttr tensor : launch.tensors)
      if (!Launch::computes(tensor))
        readers_[tensor.getMemory()].push_back(&launch);
  }
}

LaunchRecords LaunchRecords::ofRecipes(mlir::ModuleOp module) {
  LaunchRecords all;
  for (auto recipe : module.getOps<mlir::ModuleOp>())
    llvm::append_range(all.launches_, LaunchRecords(recipe).launches_);
  return all;
}

llvm::ArrayRef<const Launch *> LaunchRecords::readers(host::TensorAttr tensor) const {
  auto found = readers_.find(tensor.getMemory());
  return found == readers_.end() ? llvm::ArrayRef<const Launch *>() : llvm::ArrayRef(found->second);
}

/// A size as the model writes it: its symbols without their bounds.
static std::string written(view::Expr size) {
  std::string text = size.render();
  return text.front() == '(' ? text.substr(1, text.size() - 2) : text;
}

/// "192*batch*(past+seq)"
static std::string writtenBytes(llvm::ArrayRef<view::Expr> shape, int64_t elementBytes) {
  std::string symbolic;
  for (view::Expr size : shape) {
    if (size.isConst())
      elementBytes *= size.constant();
    else
      symbolic += "*" + (size.kind() == view::Expr::Kind::Mul ? written(size) : size.render());
  }
  return elementBytes ? std::to_string(elementBytes) + symbolic : "0";
}

std::string driver::describe(mlir::RankedTensorType type) {
  std::optional<DType> dtype = dtypeOf(type.getElementType());
  view::Shape shape = shapeOf(type);
  std::string text = kiln_dtype_name(static_cast<kiln_dtype>(*dtype)) + std::string(" [");
  for (auto [axis, size] : llvm::enumerate(shape))
    text += (axis ? ", " : "") + written(size);
  std::string bytes = writtenBytes(shape, byteSize(*dtype));
  return plainText(text + "], " + bytes) + (bytes == "1" ? " byte" : " bytes");
}

/// "350 ns", "1.2 µs", "3.4 ms"
static std::string duration(int64_t ns) {
  if (ns < 1000)
    return std::to_string(ns) + " ns";
  return ns < 1'000'000 ? llvm::formatv("{0:F1} µs", ns / 1e3).str() : llvm::formatv("{0:F1} ms", ns / 1e6).str();
}

std::string driver::reason(host::TensorAttr tensor) {
  host::PlacementAttr placement = tensor.getPlacement();
  if (!placement)
    return "";
  auto times = [&](llvm::StringRef inside, llvm::StringRef own) {
    int64_t readers = placement.getReaders();
    std::string where = readers == 1 ? "its reader" : "its " + std::to_string(readers) + " readers";
    return "computed inside " + where + " it " + inside.str() + " " + duration(placement.getInsideNs()) +
           ", in a kernel of its own " + own.str() + duration(placement.getOwnNs());
  };
  switch (placement.getReason()) {
  case Reason::Inside:
    return times("takes", "it would take ");
  case Reason::Cost:
    return times("would take", "");
  case Reason::Uses:
    return "it would be computed again in too many places";
  case Reason::Limit:
    return "a kernel computes so much at once, and reads so many tensors, at most";
  case Reason::Score:
    return "the sum over its softmax walks once, and uses each score when it is computed";
  case Reason::Held:
    if (placement.getInsideNs() > 0)
      return "its kernel holds a row of it at a time, which takes " + duration(placement.getInsideNs()) +
             "; in a kernel of its own it would take " + duration(placement.getOwnNs());
    return "a kernel holds it for a block of rows, together with the sum over its softmax";
  case Reason::Output:
    return "an output of the model";
  case Reason::Control:
    return "control flow reads it or passes it on";
  case Reason::Size:
    return "the host reads it: it is the size of other tensors";
  case Reason::Table:
    return "a gather reads it by index";
  case Reason::Assign:
    return "it replaces the value of an input, in the same memory";
  case Reason::Copy:
    return "a copy is asked for, its elements in order";
  case Reason::Expanded:
    return "a reader repeats its elements";
  case Reason::Padded:
    return "a reader needs zeros around it";
  case Reason::Reduce:
    return "its kernel has one reduce, and not all that reads this could be computed in its loops";
  }
  llvm_unreachable("every reason has its sentence");
}

/// "; its axes lie in the order 2, 3, 1, since …"; "" if their order is the model's.
static std::string order(host::LayoutAttr layout) {
  std::string text = "; its axes lie in the order ", inner = std::to_string(layout.getOrder().back());
  for (auto [position, axis] : llvm::enumerate(layout.getOrder()))
    text += (position ? ", " : "") + std::to_string(axis);
  switch (layout.getReason()) {
  case host::LayoutReason::Rows:
    return "";
  case host::LayoutReason::Columns:
    return text + ", since lanes of its product go along axis " + inner;
  case host::LayoutReason::Input:
    return text + ", since what it is computed from lies so";
  case host::LayoutReason::Reader:
    return text + ", since lanes of a kernel that reads it go along axis " + inner;
  }
  llvm_unreachable("every reason has its words");
}

/// "1 before and 1 after axis 2, …"
static std::string zeros(host::LayoutAttr layout) {
  llvm::SmallVector<int64_t> axes(layout.getOrder());
  llvm::sort(axes);
  std::string text;
  for (size_t i = 0; 2 * i < layout.getZeros().size(); ++i) {
    int64_t before = layout.getZeros()[2 * i], after = layout.getZeros()[2 * i + 1];
    if (before + after > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(before) + " before and " + std::to_string(after) +
              " after axis " + std::to_string(axes[i]);
  }
  return text;
}

std::string driver::layout(host::TensorAttr tensor) {
  host::LayoutAttr layout = tensor.getLayout();
  if (!layout)
    return "";
  std::string room = zeros(layout);
  return order(layout) + (room.empty() ? "" : "; with zeros around it: " + room);
}

bool driver::printRecipes(mlir::ModuleOp module, llvm::StringRef pattern, llvm::raw_ostream &out) {
  bool isAny = false;
  for (auto program : module.getOps<host::ProgramOp>())
    for (auto weight : program.getWeights().getAsRange<host::WeightAttr>()) {
      auto data = llvm::dyn_cast<graph::RecipeAttr>(weight.getData());
      if (!data || !matchesPattern(data.getModel(), pattern))
        continue;
      isAny = true;
      out << data.getModel() << " makes weight " << plainText(weight.getName()) << " by";
      module.lookupSymbol<mlir::ModuleOp>(data.getModel()).walk([&](host::LaunchOp launch) {
        out << " " << launch.getKernel() << " " << plainText(launch.getOrigin());
      });
      out << "\n";
    }
  return isAny;
}

void driver::printPlacements(mlir::ModuleOp module, llvm::raw_ostream &out) {
  LaunchRecords records(module);
  for (const Launch &launch : records.launches())
    for (host::TensorAttr tensor : launch.tensors)
      if (Launch::writes(tensor))
        out << llvm::formatv("{0,-31} writes '{1}', {2}: {3}\n", launch.name, plainText(tensor.getNode()),
                             describe(tensor.getType()), reason(tensor) + layout(tensor));
}

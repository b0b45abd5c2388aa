//===- CHostRun.cpp - The host program as a C function ------------------------===//
//
// The host program has values and regions with results, C has statements. So the result of an op becomes a
// constant, and the result of an if or a loop is declared before it and assigned at the end of each branch or step.
// Sizes are computed in int64_t and may wrap if a caller gives large ones: each statement notes that, and the run
// ends with a message before the number is used. Each call into the runtime may fail and then ends the run with its
// status.
//
//===----------------------------------------------------------------------===//

#include "render/c/CHost.h"

#include "ir/host/Call.h"
#include "render/kernel/Pattern.h"
#include "support/Quote.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace kiln::render;
using mlir::Operation;
using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace {

/// Writes one statement for each op. A value that an op computes is a constant of its own; a result of control flow is
/// a variable, declared before the statement that assigns it.
class RunRenderer {
public:
  RunRenderer(const ModelTables &tables, SemanticFunctions &functions) : tables_(tables), functions_(functions) {}

  std::string run();

private:
  void block(mlir::Block &block);
  void render(Operation *op);
  void branch(scf::IfOp op);
  void loop(scf::WhileOp op);
  void batch(host::BatchOp op);
  void launch(host::LaunchOp op);
  void callLibrary(host::CallOp op);
  void plan(host::PlanOp op);
  std::string arithmetic(Operation *op);
  std::string size(view::Expr expr, const llvm::DenseMap<view::Expr, std::string> &variables, bool isEstimate);

  std::string text(Value value) const { return names_.find(value)->second; }
  std::string list(mlir::ValueRange values, llvm::StringRef otherwise = "") const;
  /// The number of the device whose memory a slice is.
  static std::string device(Value slice) { return std::to_string(host::deviceOf(slice)); }
  std::string dtype(mlir::Type type) const { return runtimeName(scalarDType(type)).str(); }

  /// A fresh name for the value.
  std::string name(Value value);
  static llvm::StringRef typeName(mlir::Type type) {
    return llvm::isa<host::SliceType>(type) ? "kiln_slice" : type.isInteger(1) ? "_Bool" : "int64_t";
  }
  void define(Operation *op, const llvm::Twine &text);
  /// After a statement that computes sizes: ends the run if one wraps.
  void endIfWrapped(llvm::StringRef message);
  void declare(mlir::ValueRange values);
  void assign(mlir::ValueRange to, mlir::ValueRange from);

  void line(const llvm::Twine &text) { body_ += std::string(2 * depth_, ' ') + text.str() + "\n"; }
  /// A call of the runtime; a status other than KILN_OK ends the run.
  void call(const llvm::Twine &function, const llvm::Twine &arguments) {
    line("if ((status = kiln_rt_" + function + "(context, " + arguments + ")) != KILN_OK)");
    line("  return status;");
  }
  void callForSlice(Operation *op, const llvm::Twine &function, const llvm::Twine &arguments) {
    line("kiln_slice " + name(op->getResult(0)) + ";");
    call(function, arguments + ", &" + text(op->getResult(0)));
  }

  const ModelTables &tables_;
  SemanticFunctions &functions_;
  llvm::DenseMap<Value, std::string> names_;
  unsigned slices_ = 0, numbers_ = 0;
  std::string launches_, body_;
  unsigned launchCount_ = 0;
  bool mayWrap_ = false, notesWraps_ = false; // in a statement since the last endIfWrapped; in any
  unsigned depth_ = 1;
};

} // namespace

std::string RunRenderer::name(Value value) {
  bool isSlice = llvm::isa<host::SliceType>(value.getType());
  return names_[value] = isSlice ? "slice" + std::to_string(slices_++) : "n" + std::to_string(numbers_++);
}

std::string RunRenderer::list(mlir::ValueRange values, llvm::StringRef otherwise) const {
  if (values.empty())
    return otherwise.str();
  return llvm::join(llvm::map_range(values, [&](Value value) { return text(value); }), ", ");
}

void RunRenderer::define(Operation *op, const llvm::Twine &text) {
  if (!op->use_empty())
    line("const " + typeName(op->getResult(0).getType()) + " " + name(op->getResult(0)) + " = " + text + ";");
}

void RunRenderer::endIfWrapped(llvm::StringRef message) {
  if (!std::exchange(mayWrap_, false))
    return;
  notesWraps_ = true;
  line("if (wraps)");
  line("  return kiln_rt_fail(context, KILN_INVALID_ARGUMENT, " + cString(message) + ");");
}

void RunRenderer::declare(mlir::ValueRange values) {
  for (Value value : values) {
    bool isSlice = llvm::isa<host::SliceType>(value.getType());
    line(typeName(value.getType()) + " " + name(value) + " = " + (isSlice ? "{NULL, 0}" : "0") + ";");
    if (value.use_empty())
      line("(void)" + text(value) + ";");
  }
}

void RunRenderer::assign(mlir::ValueRange to, mlir::ValueRange from) {
  for (auto [variable, value] : llvm::zip_equal(to, from))
    line(text(variable) + " = " + text(value) + ";");
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

std::string RunRenderer::size(view::Expr expr, const llvm::DenseMap<view::Expr, std::string> &variables,
                              bool isEstimate) {
  using Kind = view::Expr::Kind;
  auto operands =
      llvm::map_to_vector(expr.operands(), [&](view::Expr operand) { return size(operand, variables, isEstimate); });
  auto call = [&](Alu kind) {
    return functions_.call(kind, DType::I64) + "(" + stripParens(operands[0]).str() + ", " +
           stripParens(operands[1]).str() + ")";
  };
  auto infix = [&](llvm::StringRef sign) { return "(" + llvm::join(operands, sign) + ")"; };
  auto checked = [&](llvm::StringRef function) {
    mayWrap_ = true;
    std::string result = operands[0];
    for (const std::string &operand : llvm::drop_begin(operands))
      result = ("kiln_size_" + function + "(" + stripParens(result) + ", " + stripParens(operand) + ", &wraps)").str();
    return result;
  };
  // If nothing is negative, C's division floors.
  auto isPlain = [&] { return expr.operands()[0].min() >= 0 && expr.operands()[1].min() > 0; };
  switch (expr.kind()) {
  case Kind::Const:
    return integerLiteral(kC11, DType::I64, llvm::APInt(64, expr.constant(), /*isSigned=*/true));
  case Kind::Var:
    return variables.at(expr);
  case Kind::Add:
    return mayWrap(expr) && !isEstimate ? checked("add") : infix("+");
  case Kind::Mul:
    return mayWrap(expr) && !isEstimate ? checked("mul") : infix("*");
  case Kind::FloorDiv:
    return isPlain() ? infix("/") : call(Alu::FLOORDIV);
  case Kind::Mod:
    return isPlain() ? infix("%") : call(Alu::FLOORMOD);
  case Kind::Min:
    return call(Alu::MIN);
  case Kind::Max:
    return call(Alu::MAX);
  case Kind::Less:
    return infix("<");
  case Kind::And:
    return infix("&");
  }
  llvm_unreachable("every kind is handled");
}

static llvm::StringRef comparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "==";
  case arith::CmpIPredicate::ne:
    return "!=";
  case arith::CmpIPredicate::slt:
    return "<";
  case arith::CmpIPredicate::sle:
    return "<=";
  case arith::CmpIPredicate::sgt:
    return ">";
  case arith::CmpIPredicate::sge:
    return ">=";
  default:
    llvm_unreachable("sizes are signed");
  }
}

std::string RunRenderer::arithmetic(Operation *op) {
  auto operand = [&](unsigned index) { return text(op->getOperand(index)); };
  auto infix = [&](llvm::StringRef sign) { return (operand(0) + " " + sign + " " + operand(1)).str(); };
  auto call = [&](Alu kind) { return functions_.call(kind, DType::I64) + "(" + operand(0) + ", " + operand(1) + ")"; };
  auto checked = [&](llvm::StringRef function) {
    mayWrap_ = !op->use_empty();
    return ("kiln_size_" + function + "(" + operand(0) + ", " + operand(1) + ", &wraps)").str();
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::ConstantOp constant) {
        auto value = llvm::cast<mlir::IntegerAttr>(constant.getValue()).getValue();
        return integerLiteral(kC11, scalarDType(constant.getType()), value);
      })
      .Case([&](arith::AddIOp) { return checked("add"); })
      .Case([&](arith::SubIOp) { return infix("-"); })
      .Case([&](arith::MulIOp) { return checked("mul"); })
      .Case([&](arith::DivSIOp) { return call(Alu::IDIV); })
      .Case([&](arith::RemSIOp) { return call(Alu::MOD); })
      .Case([&](arith::FloorDivSIOp) { return call(Alu::FLOORDIV); })
      .Case([&](arith::MaxSIOp) { return call(Alu::MAX); })
      .Case([&](arith::MinSIOp) { return call(Alu::MIN); })
      .Case([&](arith::AndIOp) { return infix("&"); })
      .Case([&](arith::OrIOp) { return infix("|"); })
      .Case([&](arith::XOrIOp) { return infix("^"); })
      .Case([&](arith::CmpIOp compare) { return infix(comparison(compare.getPredicate())); })
      .Case([&](arith::SelectOp) { return operand(0) + " ? " + operand(1) + " : " + operand(2); })
      .Case([&](arith::ExtUIOp) { return operand(0); })
      .Case([&](arith::ExtSIOp) { return "-(int64_t)" + operand(0); }) // of a bool
      .Case([&](arith::TruncIOp) { return operand(0) + " & 1"; })      // to a bool
      .DefaultUnreachable("a host program has host, scf and arith ops");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void RunRenderer::launch(host::LaunchOp op) {
  launches_ +=
      "  {" + std::to_string(tables_.kernelIndex.lookup(op.getKernel())) + ", " + cString(op.getOrigin()) + "},\n";
  auto array = [&](llvm::StringRef type, llvm::StringRef name, mlir::ValueRange values) -> std::string {
    if (values.empty())
      return "NULL";
    line("const " + type + " " + name + "[] = {" + list(values) + "};");
    return name.str();
  };
  line("{");
  ++depth_;
  std::string buffers = array("kiln_slice", "buffers", op.getBuffers());
  std::string sizes = array("int64_t", "sizes_", op.getSizes());
  std::string grid = list(op.getGrid());
  for (size_t axis = op.getGrid().size(); axis < 3; ++axis)
    grid += grid.empty() ? "1" : ", 1";
  line("const int64_t grid[KILN_MAX_GRID] = {" + grid + "};");
  std::string expected = op.getExpected() ? text(op.getExpected()) : "0";
  line("const int64_t estimates[KILN_ESTIMATES] = {" + text(op.getOperations()) + ", " + text(op.getBytes()) + ", " +
       expected + "};");
  call("launch", "&launches[" + llvm::Twine(launchCount_++) + "], " + buffers + ", " + sizes + ", grid, estimates");
  --depth_;
  line("}");
}

void RunRenderer::callLibrary(host::CallOp op) {
  int64_t inputs = op.getBuffers().size() - op.getResults();
  line("{");
  ++depth_;
  line("static const kiln_call_info info = {kiln_call_" + op.getCallee() + ", " + cString(op.getOrigin()) + ", " +
       llvm::Twine(op.getResults()) + ", " + llvm::Twine(inputs) + ", " + device(op.getBuffers().front()) + "};");
  line("const kiln_slice buffers[] = {" + list(op.getBuffers()) + "};");
  line("const int64_t bytes[] = {" + list(op.getBytes()) + "};");
  line("const int64_t sizes_[] = {" + list(op.getSizes(), "0") + "};");
  call("call", "&info, buffers, bytes, sizes_");
  --depth_;
  line("}");
}

/// The kernel that an error names, as an argument in C.
template <typename Op> static std::string busiest(Op op) {
  return op.getBusiest() ? cString(*op.getBusiest()) : "NULL";
}

void RunRenderer::plan(host::PlanOp op) {
  llvm::SmallVector<std::string> lifetimes;
  for (auto [first, last] : llvm::zip(op.getFirst(), op.getLast()))
    lifetimes.push_back(("{" + llvm::Twine(first) + ", " + llvm::Twine(last) + "}").str());
  std::string count = std::to_string(lifetimes.size());
  line("static const kiln_lifetime lifetimes[] = {" + llvm::join(lifetimes, ", ") + "};");
  line("const int64_t temporary_bytes[] = {" + list(op.getBytes()) + "};");
  line("kiln_slice temporaries[" + count + "];");
  call("plan", device(op.getSlices().front()) + ", lifetimes, " + count + ", temporary_bytes, " + busiest(op) +
                   ", temporaries");
  for (auto [index, slice] : llvm::enumerate(op.getSlices()))
    line("const kiln_slice " + name(slice) + " = temporaries[" + llvm::Twine(index) + "];");
}

void RunRenderer::branch(scf::IfOp op) {
  declare(op.getResults());
  line("if (" + text(op.getCondition()) + ") {");
  ++depth_;
  block(op.getThenRegion().front());
  assign(op.getResults(), op.thenYield().getOperands());
  if (!op.getElseRegion().empty()) {
    --depth_;
    line("} else {");
    ++depth_;
    block(op.getElseRegion().front());
    assign(op.getResults(), op.elseYield().getOperands());
  }
  --depth_;
  line("}");
}

void RunRenderer::loop(scf::WhileOp op) {
  mlir::Block &before = op.getBefore().front(), &after = op.getAfter().front();
  declare(before.getArguments());
  assign(before.getArguments(), op.getInits());
  declare(op.getResults());
  for (auto [argument, result] : llvm::zip_equal(after.getArguments(), op.getResults()))
    names_[argument] = text(result);
  line("for (;;) {");
  ++depth_;
  block(before);
  scf::ConditionOp condition = op.getConditionOp();
  assign(op.getResults(), condition.getArgs());
  line("if (!" + text(condition.getCondition()) + ")");
  line("  break;");
  block(after);
  assign(before.getArguments(), op.getYieldOp().getOperands());
  --depth_;
  line("}");
}

void RunRenderer::batch(host::BatchOp op) {
  std::string device = std::to_string(op.getDevice()), samples = std::to_string(op.getSamples());
  std::string sample = name(op.getSample()), slot = name(op.getSlot());
  line("for (int64_t " + sample + " = 0; " + sample + " < " + samples + "; " + sample + "++) {");
  ++depth_;
  line("int64_t " + slot + ";");
  call("batch_sample", device + ", " + sample + ", " + samples + ", &" + slot);
  for (Operation &inside : op.getBody().front())
    render(&inside);
  --depth_;
  line("}");
  call("batch_end", device);
}

void RunRenderer::block(mlir::Block &block) {
  for (Operation &op : block.without_terminator())
    render(&op);
}

void RunRenderer::render(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::IfOp op) { branch(op); })
      .Case([&](scf::WhileOp op) { loop(op); })
      .Case([&](host::BatchOp op) { batch(op); })
      .Case([&](host::LaunchOp op) { launch(op); })
      .Case([&](host::CallOp op) { callLibrary(op); })
      .Case([&](host::EvalOp op) {
        llvm::DenseMap<view::Expr, std::string> variables;
        unsigned next = 0;
        op.getExpr().getValue().forEachVariable(
            [&](view::Expr variable) { variables[variable] = text(op.getValues()[next++]); });
        define(op, stripParens(size(op.getExpr().getValue(), variables, isEstimate(op))));
        endIfWrapped(wrapMessage(op.getExpr().getValue()));
      })
      .Case([&](host::InputOp op) { callForSlice(op, "input", llvm::Twine(op.getIndex())); })
      .Case([&](host::WeightOp op) { callForSlice(op, "weight", llvm::Twine(tables_.entryOf(op))); })
      .Case([&](host::OutputOp op) {
        std::string dims = op.getDims().empty() ? "NULL" : "(const int64_t[]){" + list(op.getDims()) + "}";
        callForSlice(op, "output", llvm::Twine(op.getIndex()) + ", " + dims);
      })
      .Case([&](host::ArenaOp op) {
        callForSlice(op, "arena", device(op) + ", " + text(op.getBytes()) + ", " + busiest(op));
      })
      .Case([&](host::ZerosOp op) {
        std::string sizes = op.getSizes().empty() ? "NULL" : "(const int64_t[]){" + list(op.getSizes()) + "}";
        callForSlice(op, "zeros",
                     device(op) + ", " + llvm::Twine(op.getBlock()) + ", " + text(op.getBytes()) + ", " +
                         llvm::Twine(op.getSizes().size()) + ", " + sizes);
      })
      .Case([&](host::PlanOp op) { plan(op); })
      .Case([&](host::AllocOp op) { callForSlice(op, "alloc", device(op) + ", " + text(op.getBytes())); })
      .Case([&](host::ScratchOp op) { define(op, "{NULL, " + text(op.getBytes()) + "}"); })
      .Case([&](host::FreeOp op) { call("free", device(op.getSlice()) + ", " + text(op.getSlice())); })
      .Case([&](host::OffsetOp op) {
        const std::string from = text(op.getSlice());
        define(op, "{" + from + ".memory, " + from + ".offset+" + text(op.getBytes()) + "}");
      })
      .Case([&](host::CopyOp op) {
        call("copy", text(op.getTo()) + ", " + text(op.getFrom()) + ", " + text(op.getBytes()) + ", " +
                         device(op.getTo()) + ", " + device(op.getFrom()));
      })
      .Case([&](host::ReadOp op) {
        line("int64_t " + name(op) + ";");
        call("read", device(op.getFrom()) + ", " + text(op.getFrom()) + ", " + dtype(op.getDtype()) + ", &" + text(op));
      })
      .Case([&](host::WriteOp op) {
        call("write",
             device(op.getTo()) + ", " + text(op.getTo()) + ", " + dtype(op.getDtype()) + ", " + text(op.getValue()));
      })
      .Case([&](host::CheckOp op) {
        line("if (!" + text(op.getCondition()) + ")");
        std::string sizes = op.getSizes().empty() ? "NULL" : "(const int64_t[]){" + list(op.getSizes()) + "}";
        line("  return kiln_rt_fail_at(context, KILN_INDEX_ERROR, " + cString(op.getMessage()) + ", " + sizes + ");");
      })
      .Default([&](Operation *op) {
        define(op, arithmetic(op));
        endIfWrapped(kLoopWrapMessage);
      });
}

std::string RunRenderer::run() {
  mlir::Block &body = tables_.program->getRegion(0).front();
  for (auto [index, symbol] : llvm::enumerate(body.getArguments()))
    if (!symbol.use_empty())
      line("const int64_t " + name(symbol) + " = sizes[" + llvm::Twine(index) + "]; /* " +
           cComment(tables_.symbols[index].name) + " */");
  block(body);
  line("return status;");
  std::string text;
  if (launchCount_)
    text = "static const kiln_launch_info launches[] = {\n" + launches_ + "};\n\n";
  return text +
         "static kiln_status run(kiln_context *context, const int64_t *sizes) {\n  kiln_status status = KILN_OK;\n" +
         (notesWraps_ ? "  int wraps = 0;\n" : "") + "  (void)context;\n  (void)sizes;\n" + body_ + "}\n";
}

std::string render::renderRunFunction(const ModelTables &tables, SemanticFunctions &functions) {
  return RunRenderer(tables, functions).run();
}

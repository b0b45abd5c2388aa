//===- Alias.cpp - Which outputs can lie in an input's memory ----------===//
//
// A cache that grows, such as the keys and values of a language model, is an input of each run and, with a few more
// rows, an output of it. If both are in one memory, a run has to write only the new rows. --alias past=present:2048
// asks for that, and this file decides whether it is possible: the two have one shape, or the graph makes the output by
// appending to the input along one axis. In that case the size of the memory has to be known. It is the capacity of the
// option or the bound of the size that grows, and it also bounds the input and the appended rows. The result is a note
// on the input, graph.alias; the view stage acts on it.
//
//===-------------------------------------------------------------------===//
#include "import/Alias.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Append.h"
#include "support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::import;
using view::Expr;

namespace {
/// One alias during its check.
struct Declared {
  mlir::func::FuncOp main;
  std::string text; ///< "--alias past=present"
  unsigned input, output;
  std::optional<int64_t> capacity;
};
} // namespace

static std::vector<std::string> namesOf(unsigned count, llvm::function_ref<mlir::StringAttr(unsigned)> name) {
  std::vector<std::string> names;
  names.reserve(count);
  for (unsigned i = 0; i < count; ++i)
    names.push_back(name(i) ? name(i).str() : "");
  return names;
}

/// The port of this name.
static llvm::Expected<unsigned> portOf(const std::string &text, llvm::StringRef kind, llvm::StringRef name,
                                       llvm::ArrayRef<std::string> names) {
  const auto *found = llvm::find(names, name);
  if (found != names.end())
    return found - names.begin();
  return usageError(text + ": '" + name + "' is not an " + kind + " of the model", "it has " + llvm::join(names, ", "));
}

static llvm::Expected<Declared> find(mlir::func::FuncOp main, const AliasOption &option) {
  Declared declared{main, "--alias " + option.text, 0, 0, option.capacity};
  llvm::Expected<unsigned> input =
      portOf(declared.text, "input", option.input, namesOf(main.getNumArguments(), [&](unsigned i) {
               return main.getArgAttrOfType<mlir::StringAttr>(i, graph::kNameAttr);
             }));
  if (!input)
    return input.takeError();
  std::vector<std::string> outputs = namesOf(main.getNumResults(), [&](unsigned i) {
    return main.getResultAttrOfType<mlir::StringAttr>(i, graph::kNameAttr);
  });
  // A name may have a colon in it, so only here does it show which part is the capacity.
  auto [name, capacity] = llvm::StringRef(option.output).rsplit(':');
  bool isName = llvm::is_contained(outputs, option.output);
  if (!isName && llvm::is_contained(outputs, name) && name.size() < option.output.size())
    return usageError(declared.text + ": '" + capacity + "' is not a capacity", "give a number of elements");
  llvm::Expected<unsigned> output = portOf(declared.text, "output", option.output, outputs);
  if (!output)
    return output.takeError();
  declared.input = *input;
  declared.output = *output;
  return declared;
}

/// Refuses types that a caller's memory cannot hold for both.
static llvm::Error checkKinds(const Declared &declared) {
  auto wrong = [&](const llvm::Twine &cause, const llvm::Twine &remedy) {
    return failure(declared.text + ": " + cause, remedy);
  };
  mlir::func::FuncOp main = declared.main;
  auto inputDType = main.getArgAttrOfType<mlir::TypeAttr>(declared.input, kPortDTypeAttr);
  auto outputDType = main.getResultAttrOfType<mlir::TypeAttr>(declared.output, kPortDTypeAttr);
  for (mlir::TypeAttr dtype : {inputDType, outputDType})
    if (dtype && isObject(dtype.getValue()))
      return wrong("strings and sequences have memory of their own", "leave it out");
  auto from = llvm::cast<mlir::RankedTensorType>(main.getArgumentTypes()[declared.input]);
  auto to = llvm::cast<mlir::RankedTensorType>(main.getResultTypes()[declared.output]);
  if (inputDType != outputDType || from.getElementType() != to.getElementType())
    return wrong("the two are of different dtypes", "cast the output in the model");
  if (main.getArgAttr(declared.input, graph::kValueAttr))
    return wrong("the input has a stored default, which cannot be written", "leave it out");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto other = main.getArgAttrOfType<graph::AliasAttr>(i, graph::kAliasAttr);
    if (other && (i == declared.input || other.getOutput() == declared.output))
      return wrong("one of the two has an alias already", "name each input and output once");
  }
  return llvm::Error::success();
}

/// The symbols of a size that nothing bounds, "'n' and 'm'"; all if only their product has no bound.
static std::string unboundedIn(Expr size, int64_t unbounded) {
  std::vector<std::string> open, all;
  size.forEachVariable([&](Expr symbol) {
    all.push_back("'" + symbol.name().str() + "'");
    if (symbol.max() >= unbounded)
      open.push_back(all.back());
  });
  return llvm::join(open.empty() ? all : open, " and ");
}

/// The room along the axis that grows.
static llvm::Expected<int64_t> capacityOf(const Declared &declared, Expr grown) {
  int64_t unbounded = SymbolBounds().max;
  if (!declared.capacity && grown.max() >= unbounded)
    return usageError(declared.text + ": it is not known how much room there is, for the size " + grown.render() +
                          " has no bound",
                      "say it, " + declared.text + ":2048, or bound " + unboundedIn(grown, unbounded) + " by --dim");
  int64_t capacity = declared.capacity.value_or(grown.max());
  if (capacity < std::max<int64_t>(grown.min(), 1) || capacity > unbounded)
    return usageError(declared.text + ": a capacity of " + llvm::Twine(capacity) + " is too " +
                          (capacity > unbounded ? "large" : "small") + " for the size " + grown.render(),
                      "give another");
  return capacity;
}

/// The appended rows are no more than the capacity, and the input no longer than the rest of it.
static void boundSizes(Expr before, Expr grown, int64_t capacity, const ImportOptions &options,
                       llvm::StringMap<SymbolBounds> &bounds) {
  auto bound = [&](Expr size, int64_t most) {
    if (size.kind() != Expr::Kind::Var || options.dims.contains(size.name()) || size.max() <= most)
      return;
    SymbolBounds &known = bounds.try_emplace(size.name(), SymbolBounds{size.min(), size.max()}).first->second;
    known.max = std::max(known.min, std::min(known.max, most));
    known.value = std::clamp(known.value, known.min, known.max);
  };
  Expr step = grown - before;
  bound(before, capacity - std::max<int64_t>(step.min(), 0));
  bound(step, capacity);
}

static llvm::Expected<graph::AliasAttr> aliasFor(const Declared &declared, const ImportOptions &options,
                                                 llvm::StringMap<SymbolBounds> &bounds) {
  mlir::func::FuncOp main = declared.main;
  mlir::Value input = main.getArgument(declared.input);
  mlir::Value output = main.getBody().front().getTerminator()->getOperand(declared.output);
  if (shapeOf(input) == shapeOf(output)) {
    if (declared.capacity)
      return usageError(declared.text + ": the two are of one shape, so there is no room for more to say",
                        "leave the capacity out");
    return graph::AliasAttr::get(main.getContext(), declared.output, -1, 0);
  }
  std::optional<int64_t> axis = graph::appendedAxis(output, input);
  if (!axis)
    return failure(
        declared.text +
            ": kiln cannot see that the output is the input followed by new rows (through Concat, Transpose and "
            "stacking)",
        "leave it out: the output has memory of its own then");
  Expr before = shapeOf(input)[*axis], grown = shapeOf(output)[*axis];
  llvm::Expected<int64_t> capacity = capacityOf(declared, grown);
  if (!capacity)
    return capacity.takeError();
  boundSizes(before, grown, *capacity, options, bounds);
  return graph::AliasAttr::get(main.getContext(), declared.output, *axis, *capacity);
}

llvm::Error import::declareAliases(mlir::ModuleOp module, const ImportOptions &options,
                                   llvm::StringMap<SymbolBounds> &bounds) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  for (const AliasOption &option : options.aliases) {
    llvm::Expected<Declared> declared = find(main, option);
    if (!declared)
      return declared.takeError();
    if (llvm::Error error = checkKinds(*declared))
      return error;
    llvm::Expected<graph::AliasAttr> alias = aliasFor(*declared, options, bounds);
    if (!alias)
      return alias.takeError();
    main.setArgAttr(declared->input, graph::kAliasAttr, *alias);
  }
  return llvm::Error::success();
}

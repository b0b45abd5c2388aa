#include "passes/optimize/choose/OptsFile.h"

#include "passes/optimize/ApplyOpts.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace kiln;

/// Whether a kernel can have this name.
static bool isName(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::vector<optimize::OptsLine> optimize::parseOptsFile(mlir::MLIRContext *context, llvm::StringRef text,
                                                        std::optional<OptsFault> &fault) {
  std::vector<OptsLine> lines;
  llvm::StringMap<unsigned> numbers;
  unsigned number = 0;
  auto refuse = [&](llvm::Error error) {
    fault = {number, llvm::toString(std::move(error))};
    return lines;
  };
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [name, list] = line.split(':');
    name = name.trim();
    if (!line.contains(':') || !isName(name))
      return refuse(failure("is not a kernel and its opts",
                            "write KERNEL: KIND AXIS AMOUNT, KIND AXIS AMOUNT; --emit opts writes such lines"));
    if (auto [known, isNew] = numbers.try_emplace(name, number); !isNew)
      return refuse(failure("kernel " + name + " has its opts in line " + llvm::Twine(known->second) + " already",
                            "leave one of the two out"));
    llvm::Expected<llvm::SmallVector<kernel::OptAttr>> opts = parseOpts(context, list);
    if (!opts)
      return refuse(opts.takeError());
    lines.push_back({number, name.str(), std::move(*opts)});
  }
  return lines;
}

void optimize::printOptsFile(mlir::ModuleOp module, llvm::raw_ostream &out) {
  for (auto func : module.getOps<kernel::FuncOp>()) {
    if (func->hasAttr(kInPlaceOf))
      continue;
    out << func.getName() << ":";
    llvm::StringRef separator = " ";
    for (auto opt : func.getOpts().getAsRange<kernel::OptAttr>()) {
      out << separator << textOf(opt);
      separator = ", ";
    }
    out << "\n";
  }
}

#include "Diagnostics.h"

#include "support/Error.h"
#include "support/Quote.h"
#include "tools/kiln/inspect/Log.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::driver;

/// "node 'conv1': " or "12:3: "; "" if nothing is known.
static std::string place(mlir::Location location) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    return "node " + quotedName(name.getName().getValue()) + ": ";
  if (auto line = llvm::dyn_cast<mlir::FileLineColLoc>(location))
    return std::to_string(line.getLine()) + ":" + std::to_string(line.getColumn()) + ": ";
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (std::string text = place(part); !text.empty())
        return text;
  return "";
}

Diagnostics::Diagnostics(mlir::MLIRContext &context, std::string file)
    : handler_(&context, [this, file = std::move(file)](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
          logWarning(file + ": warning: " + diagnostic.str());
        if (!first_.empty() || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return;
        // A line of its own belongs to another file than the model's.
        if (auto line = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()); line && line.getColumn() == 0) {
          file_ = (line.getFilename().getValue() + ":" + llvm::Twine(line.getLine())).str();
          first_ = diagnostic.str();
        } else {
          first_ = place(diagnostic.getLocation()) + diagnostic.str();
        }
      }) {}

llvm::Error Diagnostics::take(llvm::StringRef file, llvm::StringRef otherwise, llvm::StringRef remedy) {
  std::string text = std::exchange(first_, "");
  if (text.empty())
    text = otherwise.str();
  // One line, whatever a verifier quotes.
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::SplitString(text, lines, "\r\n");
  std::string named = std::exchange(file_, "");
  return failure((named.empty() ? file : llvm::StringRef(named)) + ": " + llvm::join(lines, " "), remedy);
}

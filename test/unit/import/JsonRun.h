//===- JsonRun.h - Import a graph written as JSON, and run it ---------------===//
//
// A test of the JSON importer is one graph and its results, or its error. A graph with files needs a folder, the
// importer a context, and the interpreter of graphs, which judges, a module that verifies: all of them are made here,
// so that a test is the graph, its inputs and its results. If one node is enough, its inputs are stored defaults and
// their shapes are counted from the values.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "import/Import.h"
#include "interp/GraphInterpreter.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <tuple>

using kiln::DType;
using kiln::interp::HostTensor;

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// A folder of its own, gone at the end.
class Folder {
public:
  Folder() { REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-import", path_)); }
  ~Folder() { std::ignore = llvm::sys::fs::remove_directories(path_); }

  std::string file(llvm::StringRef name) const { return (path_ + "/" + name).str(); }
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::string path = file(name);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
    REQUIRE_FALSE(error);
    return path;
  }

private:
  llvm::SmallString<128> path_;
};

class Context : public mlir::MLIRContext {
public:
  Context() : MLIRContext(Threading::DISABLED) {
    loadDialect<kiln::KilnDialect, kiln::graph::GraphDialect, mlir::func::FuncDialect>();
  }
};

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

inline Module importFile(Context &context, const std::string &path, const kiln::import::ImportOptions &options = {}) {
  llvm::Expected<Module> module = kiln::import::importJson(context, path, options);
  if (!module)
    FAIL(llvm::toString(module.takeError()));
  REQUIRE(succeeded(mlir::verify(**module)));
  return std::move(*module);
}

inline std::vector<HostTensor> runModule(Module &module, const std::string &path,
                                         llvm::ArrayRef<HostTensor> inputs = {}) {
  kiln::interp::GraphInterpreterOptions options;
  options.modelPath = path;
  std::vector<HostTensor> all(inputs);
  all.resize(module->lookupSymbol<mlir::func::FuncOp>("main").getNumArguments());
  auto outputs = kiln::interp::interpretGraph(*module, all, options);
  if (!outputs)
    FAIL(llvm::toString(outputs.takeError()));
  return std::move(*outputs);
}

/// The outputs of a graph; inputs that are not given take their defaults.
inline std::vector<HostTensor> runGraph(llvm::StringRef text, llvm::ArrayRef<HostTensor> inputs = {},
                                        const kiln::import::ImportOptions &options = {}) {
  Folder folder;
  std::string path = folder.write("graph.json", text);
  Context context;
  Module module = importFile(context, path, options);
  return runModule(module, path, inputs);
}

/// What the importer says of a graph, without the folder's name.
inline std::string importError(llvm::StringRef text, const kiln::import::ImportOptions &options = {}) {
  Folder folder;
  Context context;
  llvm::Expected<Module> module = kiln::import::importJson(context, folder.write("graph.json", text), options);
  REQUIRE_FALSE(bool(module));
  std::string error = llvm::toString(module.takeError());
  REQUIRE(llvm::StringRef(error).starts_with(folder.file("")));
  return error.substr(folder.file("").size());
}

/// A graph of one node, its inputs stored defaults of one dtype.
inline std::string oneNode(llvm::StringRef op, const std::vector<std::string> &values, llvm::StringRef attributes = "",
                           llvm::StringRef dtype = "float32") {
  std::string inputs, names;
  for (auto [index, value] : llvm::enumerate(values)) {
    std::string shape, name = "x" + std::to_string(index), separator = index ? ", " : "";
    for (llvm::StringRef rest = value; rest.starts_with("["); rest = rest.drop_front()) {
      // The numbers at this depth of nesting: the commas outside inner brackets, one more, of the first list.
      int depth = 0, count = 1;
      for (char c : rest) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        count += depth == 1 && c == ',';
        if (depth == 0)
          break;
      }
      shape += (shape.empty() ? "" : ", ") + std::to_string(rest.starts_with("[]") ? 0 : count);
    }
    inputs += (llvm::Twine(separator) + R"({"name": ")" + name + R"(", "dtype": ")" + dtype + R"(", "shape": [)" +
               shape + R"(], "value": )" + value + "}")
                  .str();
    names += (llvm::Twine(separator) + "\"" + name + "\"").str();
  }
  return (llvm::Twine(R"({"inputs": [)") + inputs + R"(], "nodes": [{"op": ")" + op + R"(", "inputs": [)" + names +
          "], " + attributes + (attributes.empty() ? "" : ", ") + R"("output": "y"}], "outputs": ["y"]})")
      .str();
}

inline HostTensor evaluate(llvm::StringRef op, const std::vector<std::string> &values, llvm::StringRef attributes = "",
                           llvm::StringRef dtype = "float32") {
  return runGraph(oneNode(op, values, attributes, dtype)).front();
}

inline std::vector<int64_t> dims(const HostTensor &tensor) { return {tensor.dims.begin(), tensor.dims.end()}; }

/// The elements, whatever the dtype.
inline std::vector<double> numbers(const HostTensor &tensor) {
  std::vector<double> result;
  kiln::withElement(tensor.dtype, [&](auto tag) {
    for (auto element : tensor.elements<typename decltype(tag)::Type>())
      result.push_back(double(float(element)));
  });
  return result;
}

inline std::vector<double> numbersOf(llvm::StringRef op, const std::vector<std::string> &values,
                                     llvm::StringRef attributes = "", llvm::StringRef dtype = "float32") {
  return numbers(evaluate(op, values, attributes, dtype));
}

/// Within 1e-5 of each other, relative to 1; equal where not finite.
inline bool near(const std::vector<double> &got, const std::vector<double> &want) {
  bool same = got.size() == want.size();
  for (size_t i = 0; same && i < got.size(); ++i)
    same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) ||
           std::abs(got[i] - want[i]) <= 1e-5 * std::max(1.0, std::abs(want[i]));
  if (!same)
    UNSCOPED_INFO("got " << Catch::StringMaker<std::vector<double>>::convert(got));
  return same;
}

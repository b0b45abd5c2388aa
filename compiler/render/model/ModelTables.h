//===- ModelTables.h - The tables of kiln/program.h as plain data ---------------------===//
//
// The runtime knows a model by constant tables (kiln/program.h): names, dims and dtypes of its inputs and outputs,
// bounds of its symbols, the place of each weight, how each kernel is launched. They are written in three forms, as
// LLVM IR, as C, and in the header of an artefact. So they are gathered once, from the host program, and the three
// cannot disagree.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"
#include "render/kernel/DTypeNames.h"
#include "target/Target.h"

#include "llvm/ADT/StringMap.h"

namespace kiln::render {

struct DimEntry {
  view::Expr value;
  std::string text; ///< "3", "batch", "past + seq"
  int64_t size;     ///< -1 if it is not fixed
  int32_t symbol;   ///< -1 if it is not a symbol by itself
};

struct PortEntry {
  std::string name;
  mlir::Type element; ///< maybe a narrow dtype
  std::vector<DimEntry> dims;
  mlir::ElementsAttr value;          ///< an input's stored default, or null
  bool hasRank = true;               ///< false for contents of a sequence or an optional without a fixed rank
  std::vector<PortEntry> holds = {}; ///< of a sequence or an optional: its contents, one entry
  int32_t device = 0;                ///< whose memory the program wants it in
  int32_t optionalAxes = 0;          ///< how many of the last dims a run may leave out
};

struct SymbolEntry {
  std::string name;
  int64_t min, max, value;
};

struct WeightEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> dims;
  int64_t offset, bytes; ///< in the model's weight data, in which every weight is aligned to KILN_ALIGNMENT
  mlir::Attribute data;  ///< dense elements, a #graph.file or a #graph.recipe
  mlir::ModuleOp recipe; ///< of a #graph.recipe: the model that makes it
  bool isShared = false; ///< it is stored with an earlier one, of another version (Versions.h) or on another device
  int32_t device = 0;    ///< in whose memory it is put
};

struct KernelEntry {
  uop::FuncOp function;
  int32_t buffers, sizes;
  std::array<int64_t, 3> local;
  int32_t scratch;    ///< how many of the last buffers are host.scratch
  int32_t device = 0; ///< which runs it
};

/// A device that the model runs on; its number is its place in a list.
struct Place {
  std::string device; ///< NAME of the kiln_device_NAME
  std::string code;   ///< its kernels' source or binary; "": they are code of the host's, or there are none
  double operationsPerNs = 0, bytesPerNs = 0; ///< as kiln_place
  target::CacheRates caches = {};             ///< as kiln_place
};

/// As kiln_alias.
struct AliasEntry {
  int32_t input, output, axis;
  int64_t capacity;
};

/// A library that calls of the host use; see kiln/call.h.
struct LibraryEntry {
  llvm::StringLiteral word, linked; ///< as KILN_CALL_LIBRARIES has them
};

struct ModelTables {
  host::ProgramOp program;
  std::vector<PortEntry> inputs, outputs;
  std::vector<SymbolEntry> symbols;
  std::vector<WeightEntry> weights; ///< the program's, in its order, then those that another device reads as well
  int64_t weightBytes = 0;
  std::vector<KernelEntry> kernels;     ///< the module's, in its order
  llvm::StringMap<int32_t> kernelIndex; ///< by symbol name
  std::vector<LibraryEntry> libraries;  ///< each once
  std::vector<AliasEntry> aliases;      ///< outputs that lie in an input's memory

  /// That of an input or of an output, or null.
  const AliasEntry *aliasOfInput(int32_t index) const;
  const AliasEntry *aliasOfOutput(int32_t index) const;
  /// The entry of a weight in memory of the device that the op names.
  int32_t entryOf(host::WeightOp weight) const;
};

/// Whether a sum or product within the size may pass 64 bits for sizes of a run that are each allowed, so that the
/// program has to notice. Decided part by part: a part that is certainly within its bounds needs no test.
bool mayWrap(view::Expr size);
/// The message that the run then ends with.
std::string wrapMessage(view::Expr size);
inline constexpr llvm::StringLiteral kLoopWrapMessage =
    "the sizes in a loop together pass 64 bits; run with smaller ones";
/// Whether a size is only an estimate, for logs: it may wrap.
bool isEstimate(host::EvalOp eval);

/// Whether a tensor of strings, a sequence or an optional is read or made: its elements are pointers of 64 bits.
bool usesReferences(const ModelTables &tables);

/// The tables of a module that holds one host.program and the kernels that it launches.
ModelTables modelTables(mlir::ModuleOp module);

} // namespace kiln::render

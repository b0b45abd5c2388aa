//===- Options.h - The command line as data -----------------------------------===//
#pragma once

#include "AtOption.h"
#include "RatesOption.h"
#include "import/Import.h"
#include "passes/Pipeline.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln::driver {

/// The output of `kiln compile`: --emit.
enum class Emit {
  Exe,
  Obj,
  Shared,
  Static,
  Header,
  Source,
  Import,
  View,
  Schedule,
  Optimize,
  Opts,
  Lower,
  Render,
  Llvm,
  Asm
};

/// The stage whose module, or a part of it, --emit prints; nullopt: it makes something else.
std::optional<Stage> emittedStage(Emit emit);

/// Options of every compilation.
struct CompileOptions {
  std::string model;    ///< an ONNX or JSON file, or the dump of a stage
  std::string optsPath; ///< --opts: the file of pipeline.opts, or ""
  import::ImportOptions import;
  std::string device;                 ///< --device; "": a dump's, else cpu
  std::string cpu;                    ///< --mcpu; "": a dump's, else this machine's
  int64_t panel = 0;                  ///< of the target: see ir/base/Target.td
  std::vector<std::string> otherCpus; ///< those after the first: an artefact has a version for each of them, too
  std::string triple;                 ///< --target: the system that code is for; "": a dump's, else this machine's
  std::string compiler;     ///< --cc: the C compiler that compiles and links, with its first words; "": the system's
  Rates rates;              ///< --rates: those that differ from the device's
  std::string gpuArchs;     ///< --gpu-arch: comma separated; "": the device's own choice
  PipelineOptions pipeline; ///< options of passes
  unsigned level = 2;       ///< -O: of the code generator
  int debug = 0;            ///< DEBUG, --debug: see Debug.h
  std::vector<std::string> kernels; ///< --kernel: those that DEBUG and --emit show; empty: all
};

struct ArtefactOptions {
  Emit emit = Emit::Exe;
  std::string output;           ///< "": after the model for an artefact, standard output for text
  std::string weightsPath;      ///< a file for weights outside the artefact; "": they go into it
  std::string depfile;          ///< --depfile: where make's rule for the output goes; "": it is not written
  std::string name;             ///< --name: the beginning of names in the header; "": as the output's does
  bool isStatic = false;        ///< a program that needs no shared library
  bool keepsNames = false;      ///< -g: a program or shared library names its functions
  bool isFreestanding = false;  ///< --freestanding: a source for programs without an operating system
  bool showsStats = false;      ///< --stats: the model in numbers, on standard output
  bool isJson = false;          ///< --json: the output is one JSON document
  std::vector<std::string> why; ///< --why: nodes and tensors whose place in the schedule is printed
  std::string graphPath;        ///< --graph: where a drawing of the schedule goes; "": none is made
  bool onlyInspects = false;    ///< --why or --graph, and no option that asks for another output
};

struct RunOptions {
  /// Those of the program that `compile` would make; see kiln/cli.h.
  std::vector<std::string> arguments;
};

struct VerifyOptions {
  double relative = 1e-3, absolute = 1e-5; ///< |got - wanted| <= absolute + relative * |wanted|
  std::vector<Sizes> at;                   ///< --at: at each of these, random inputs against the graph interpreter
  bool isJson = false;                     ///< --json: the results are one JSON document
  bool interpretsGraph = false;            ///< --graph: judge the import, before any pass, not a device
};

} // namespace kiln::driver

//===- OptionTable.cpp - The options of each command -------------------===//
//
// Help, the manual, a page of the docs and three shells' completions are made of this table, which CLI11 holds. A
// reader of --help looks for one option of some thirty, so these are under headings, the most common first, and a
// command shows its own examples. All but the plainest values are texts, which CommandLine.cpp interprets.
//
//===-------------------------------------------------------------------===//
#include "OptionTable.h"

#include "../Version.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

using namespace kiln;
using namespace kiln::driver;

static constexpr llvm::StringLiteral kCompileExamples =
    R"(  kiln compile model.onnx -o model && ./model input.npy    a program, and a run of it
  kiln compile graph.json --emit schedule                  the kernels, before they are optimised
  kiln compile model.onnx --device c --emit render         the C that device 'c' compiles
  kiln compile model.onnx --dim batch=1..64,default=8      sizes that the model leaves open
  kiln compile model.onnx --why conv1                      which kernels compute a node, and why
)";

static constexpr llvm::StringLiteral kRunExamples =
    R"(  kiln run graph.json --input x=x.npy --output-dir out     compile in memory and run
  DEBUG=4 NOOPT=1 kiln run graph.json                      show every kernel's tree and source, unoptimised
)";

static constexpr llvm::StringLiteral kVerifyExamples =
    R"(  kiln verify samples/mnist                                compare with the stored results
)";

static constexpr llvm::StringLiteral kVariables = R"(
Environment:
  DEBUG=1..7, NOOPT=1         as --debug and --no-opt
  KILN_CUDA_DEVICE=NAME       the GPU to use, by a part of what `kiln devices` calls it (the first)
  KILN_OPENCL_DEVICE=NAME     the same for OpenCL (the first GPU, or else the first device)
  KILN_NVRTC, KILN_NVDISASM   paths of NVIDIA's libnvrtc.so and nvdisasm
  CC                          the C compiler that links for this system (cc)
  BEAM and others of tinygrad's have no effect; a line says so.

Exit status: 0, 1 for a failure, 2 for wrong use.
)";

/// The text below the options.
static std::string footer(const llvm::Twine &examples) { return ("Examples:\n" + examples + kVariables).str(); }
namespace {

/// CLI11 shows the value that a flag without one means; the description does that here. Nor does it break lines.
struct Formatter final : CLI::Formatter {
  static constexpr size_t kNames = 34, kLine = 100;
  Formatter() { column_width(kNames); }
  std::string make_option_desc(const CLI::Option *option) const override {
    std::string text;
    size_t column = 0;
    for (llvm::StringRef word : llvm::split(option->get_description(), ' ')) {
      bool fits = column + word.size() < kLine - kNames;
      text += (text.empty() ? "" : fits ? " " : "\n") + word.str();
      column = (fits ? column + 1 : 0) + word.size();
    }
    return text;
  }
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    return llvm::StringRef(CLI::Formatter::make_option_name(option, isPositional)).split('{').first.str();
  }
};

} // namespace

/// Options that are added from here on are under this heading.
static void beginGroup(CLI::App &app, const char *heading) { app.option_defaults()->group(heading); }

/// An option that may be repeated and takes one value each time: CLI11 would take the next arguments for more values,
/// even the model's name.
static void addRepeatable(CLI::App &app, const char *name, std::vector<std::string> &values, const char *typeName,
                          const std::string &description) {
  app.add_option(name, values, description)
      ->type_name(typeName)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

static void addModelOptions(CLI::App &app, Texts &texts) {
  beginGroup(app, "The model");
  addRepeatable(app, "--dim", texts.dims, "DIM",
                "a size that the model leaves open, by its name or as INPUT.AXIS: NAME=VALUE or NAME=LO..HI,default=V");
  addRepeatable(app, "--shape", texts.shapes, "SHAPE",
                "the shape of an input, where the model leaves it open: INPUT=1,3,height,?");
  addRepeatable(app, "--alias", texts.aliases, "ALIAS",
                "an output that lies in an input's memory: INPUT=OUTPUT, or with room to grow INPUT=OUTPUT:CAPACITY");
  app.add_option("--precision", texts.precision,
                 "the type that float32 products are computed in: f32, or bf16 with sums in float32 (f32)")
      ->type_name("DTYPE");
  app.add_flag("--check", texts.checksIndices,
               "end a run at an index outside its axis, with node, index and size; without it a gather reads 0 there");
  app.add_option("--memory-limit", texts.memoryLimit, "the largest tensor that is not refused, in GiB (16)")
      ->type_name("GIB");
}

static void addCodeOptions(CLI::App &app, CommandLine &line, Texts &texts) {
  CompileOptions &compile = line.compile;
  beginGroup(app, "Code");
  app.add_option("--device", compile.device, "where kernels run; see `kiln devices` (cpu)")->type_name("D");
  std::string cpu = "the CPU to make code for, as LLVM names it (this machine's)";
  bool takesSeveral = app.get_name() == "compile";
  app.add_option("--mcpu", texts.cpus,
                 takesSeveral ? cpu + "; with several, a program uses the first that the machine supports" : cpu)
      ->type_name(takesSeveral ? "CPU,..." : "CPU");
  if (takesSeveral)
    app.add_option("--target", compile.triple, "the system to make code for, as aarch64-linux-gnu (this machine's)")
        ->type_name("SYSTEM");
  if (takesSeveral)
    app.add_option(
           "--cc", compile.compiler,
           "the command that links, with options, as 'clang --target=aarch64-linux-gnu' (CC, or cc; for another system "
           "SYSTEM-gcc)")
        ->type_name("COMMAND");
  app.add_option("--gpu-arch", compile.gpuArchs, "the GPUs to make code for, and PTX for later ones (sm_80,sm_90a)")
      ->type_name("ARCH,...");
  app.add_option("-O", compile.level, "how hard the code generator tries, 0 to 3 (2)")->type_name("N");
  app.add_flag("--no-opt", compile.pipeline.noOpt, "leave every kernel as it was scheduled");
  app.add_option("--opts", compile.optsPath, "a file of opts, a line for each kernel; --emit opts writes one")
      ->type_name("FILE");
  app.add_option("--schedule", texts.schedule, "classic: tinygrad v0.9.2's rules; or default")->type_name("S");
  app.add_option("--winograd", compile.pipeline.winograd,
                 "Winograd's tile for 3 x 3 convolutions: 2, 4 (less exact) or 0 (off) (2)")
      ->type_name("N");
  app.add_option("--rates", texts.rates,
                 "what the device can do, for the schedule: " + llvm::join(RatesAttr::names(), "=N, ") +
                     "=N, separated by commas")
      ->type_name("RATES");
}

static void addMessageOptions(CLI::App &app, CommandLine &line, Texts &texts) {
  beginGroup(app, "Messages");
  app.add_option(
         "--debug", line.compile.debug,
         "show more, as DEBUG does: 1 devices, 2 launches, 3 kernels, 4 source, 5 uops, 6 machine code, 7 passes")
      ->type_name("N");
  addRepeatable(app, "--kernel", line.compile.kernels, "NAME",
                "only this kernel, in the output of --debug" +
                    std::string(app.get_name() == "compile" ? " and of --emit schedule ... asm"
                                : app.get_name() == "run"   ? " and --profile-kernels"
                                                            : "") +
                    "; a * stands for any letters");
  app.add_flag("--quiet", line.isQuiet, "no progress and no final line on a terminal");
  app.add_option("--log-level", texts.logLevel, "messages: error, warning, or info for every step (warning)")
      ->type_name("LEVEL");
}

static void addOutputOptions(CLI::App &app, CommandLine &line, Texts &texts) {
  ArtefactOptions &artefact = line.artefact;
  beginGroup(app, "The output");
  app.add_option("-o", artefact.output, "where it goes (an artefact: the model's name; text: standard output)")
      ->type_name("OUT");
  app.add_option(
         "--emit", texts.emit,
         "exe, obj, shared, static, header, source, a stage (import view schedule optimize lower render), opts, llvm "
         "or asm (exe)")
      ->type_name("KIND");
  app.add_option("--weights", artefact.weightsPath, "put the weights there, a safetensors file")->type_name("FILE");
  app.add_option("--depfile", artefact.depfile, "write a rule of make: the output, and all files that it is made of")
      ->type_name("FILE");
  app.add_option("--name", artefact.name, "what the names in the header begin with (the output's name)")
      ->type_name("NAME");
  app.add_flag("--static", artefact.isStatic, "a program that needs no shared library");
  app.add_flag("-g", artefact.keepsNames,
               "keep the kernels' names in a program or shared library, for perf and debuggers");
  app.add_flag("--freestanding", artefact.isFreestanding, "with --emit source: no operating system, no C library");
}

static void addInspectOptions(CLI::App &app, CommandLine &line) {
  beginGroup(app, "What is shown");
  addRepeatable(app, "--why", line.artefact.why, "NODE",
                "print which kernels compute a node or tensor, or what a kernel computes, and why");
  app.add_option("--graph", line.artefact.graphPath, "draw the kernels round their nodes, by Graphviz: .dot or .svg")
      ->type_name("FILE");
  app.add_flag("--stats", line.artefact.showsStats,
               "print kernels, FLOPs, bytes and memory; with -o or --emit the artefact is made, too");
  app.add_flag("--json", line.isJson, "print --stats as one JSON document, and an error as one JSON line");
  app.add_flag("--time-stages", line.timesStages, "also print how long each stage takes, and its memory");
}

static void addRunOptions(CLI::App &app, CommandLine &line, Texts &texts) {
  beginGroup(app, kOfPrograms);
  app.add_option("INPUT", texts.inputs,
                 ".npy files, or values as 3, '[1, 2]' or 2x2xf32=0 (zeros): the inputs in declared order");
  addRepeatable(app, "--input", texts.named, "NAME=FILE", "an input by its name, a file or values");
  app.add_option("--output-dir", texts.outputDir, "write output_0.npy, output_1.npy ... there")->type_name("DIR");
  app.add_flag("--output-names", texts.outputNames, "there also NAME.npy, after the name of each output");
  app.add_flag("--no-print", texts.noPrint, "do not print the outputs");
  app.add_flag("--random{0}", texts.random, "fill the inputs that are not given; also --random=SEED");
  addRepeatable(app, "--at", texts.sizes, "NAME=SIZE,...",
                "random inputs have these sizes; repeatable, for other sizes");
  app.add_flag("--bench{100}", texts.bench, "time 100 runs, in microseconds; also --bench=N");
  app.add_flag(
      "--profile{-}", texts.profile,
      "show the kernels of 10 runs, or of --bench=N, by share of time; also --profile=FILE: Chrome's trace events");
  app.add_flag("--profile-kernels", texts.profileKernels, "the same with a row for each kernel of a node");
  app.add_option("--threads", texts.threads, "CPU threads (one per core)")->type_name("N");
  app.add_flag("--list", texts.list, "names, dtypes and shapes of inputs and outputs");
  app.add_flag(
      "--json", line.isJson,
      "print one JSON document: of --list, --bench or --profile, or else the outputs' names, dtypes and shapes; "
      "an error is one JSON line");
}

static void addVerifyOptions(CLI::App &app, CommandLine &line, Texts &texts) {
  beginGroup(app, "The comparison");
  app.add_option("--rtol", line.verify.relative,
                 "RTOL of the tolerance: |got - wanted| <= ATOL + RTOL * |wanted| (1e-3)");
  app.add_option("--atol", line.verify.absolute, "ATOL of the tolerance (1e-5)");
  addRepeatable(app, "--at", texts.at, "NAME=SIZE,...",
                "compare with the graph interpreter, too, on random inputs of these sizes; repeatable");
  app.add_flag("--graph", line.verify.interpretsGraph, "interpret the graph as imported; compile nothing");
  app.add_flag("--json", line.isJson, "print one JSON document; an error is one JSON line");
}

static constexpr char kModelFile[] = "an ONNX or JSON file, or the dump of a stage (.mlir)";

static CLI::App &addCommand(CLI::App &app, const char *name, const char *description, const std::string &below = "") {
  CLI::App &command = *app.add_subcommand(name, description);
  command.footer(below);
  return command;
}

std::unique_ptr<CLI::App> driver::makeOptionTable(CommandLine &line, Texts &texts) {
  auto app = std::make_unique<CLI::App>("kiln turns a model file into a program.", "kiln");
  app->set_version_flag("-v,--version", versionLine());
  app->footer(footer(kCompileExamples + llvm::Twine(kRunExamples) + kVerifyExamples));
  app->require_subcommand(0, 1);
  app->formatter(std::make_shared<Formatter>());

  CLI::App &compile =
      addCommand(*app, "compile", "make a program, an object, or the text of a stage", footer(kCompileExamples));
  compile.add_option("MODEL", line.compile.model, kModelFile)->required();
  addOutputOptions(compile, line, texts);
  addModelOptions(compile, texts);
  addCodeOptions(compile, line, texts);
  addInspectOptions(compile, line);
  addMessageOptions(compile, line, texts);

  CLI::App &run = addCommand(*app, "run", "compile in memory and run", footer(kRunExamples));
  run.add_option("MODEL", line.compile.model, kModelFile)->required();
  addRunOptions(run, line, texts);
  addModelOptions(run, texts);
  addCodeOptions(run, line, texts);
  addMessageOptions(run, line, texts);

  CLI::App &verify = addCommand(*app, "verify", "compare with stored results, or with the graph interpreter's",
                                footer(kVerifyExamples));
  verify.add_option("MODEL", line.compile.model, "a model's file, or a folder of a model and its inputs and outputs")
      ->required();
  addVerifyOptions(verify, line, texts);
  addModelOptions(verify, texts);
  addCodeOptions(verify, line, texts);
  addMessageOptions(verify, line, texts);

  addCommand(*app, "devices", "what kiln compiles for, and what this machine has of it")
      .add_flag("--json", line.isJson, "print one JSON document");

  addCommand(*app, "doctor", "try what kiln depends on: status 0 where a program for device cpu can be made")
      .add_flag("--json", line.isJson, "print one JSON document");

  CLI::App &flags = addCommand(*app, "flags", "how a C compiler compiles and links a program with an object");
  flags.add_flag("--cflags", line.flags.compiling, "where the headers are");
  flags.add_flag("--libs", line.flags.linking, "the runtime's libraries");
  flags.add_option("--device", line.flags.device, "the object's device (cpu)")->type_name("D");

  // For packagers of kiln: not commands that users call, so they have no group.
  addCommand(*app, "completion", "what bash, zsh or fish completes the command line with")
      .group("")
      ->add_option("SHELL", texts.shell)
      ->required();
  addCommand(*app, "manual", "the page of man").group("");
  addCommand(*app, "page", "the page of the docs").group("");
  return app;
}

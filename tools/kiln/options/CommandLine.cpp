//===- CommandLine.cpp - From argv to options ---------------------------===//
//
// CLI11 splits the arguments and keeps the table from which help, manual and completions come. What values mean is
// kiln's own matter: "batch=1..64,default=8" is more than CLI11 can check, and what it finds wrong it says without a
// remedy. So it fills plain texts (Texts) which are understood afterwards, and its own errors are put into the words
// that all others have.
// `kiln run` passes on what concerns the run, not the compilation, as arguments to the command line that every compiled
// program has (runtime/src/cli), so that there is one parser of these.
//
//===--------------------------------------------------------------------===//
#include "CommandLine.h"

#include "AliasOption.h"
#include "CommandTable.h"
#include "DimOption.h"
#include "TargetOption.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "tools/kiln/Devices.h"
#include "tools/kiln/inspect/GraphDrawing.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace kiln;
using namespace kiln::driver;

static constexpr std::pair<llvm::StringLiteral, Emit> kEmits[] = {
    {"exe", Emit::Exe},           {"obj", Emit::Obj},           {"shared", Emit::Shared}, {"static", Emit::Static},
    {"header", Emit::Header},     {"source", Emit::Source},     {"import", Emit::Import}, {"view", Emit::View},
    {"schedule", Emit::Schedule}, {"optimize", Emit::Optimize}, {"opts", Emit::Opts},     {"lower", Emit::Lower},
    {"render", Emit::Render},     {"llvm", Emit::Llvm},         {"asm", Emit::Asm}};

static constexpr char kCommands[] = "commands are compile, run, verify, devices and flags";

static constexpr char kExamples[] = R"(Examples:
  kiln compile model.onnx -o model && ./model input.npy    a program, and a run of it
  kiln compile graph.json --emit schedule                  the kernels, before they are optimised
  kiln compile model.onnx --device c --emit render         the C that device 'c' compiles
  kiln compile model.onnx --dim batch=1..64,default=8      sizes that the model leaves open
  kiln compile model.onnx --why conv1                      which kernels compute a node, and why
  kiln run graph.json --input x=x.npy --output-dir out     compile in memory and run
  kiln verify samples/mnist                                compare with the stored results
  DEBUG=4 NOOPT=1 kiln run graph.json                      show every kernel's tree and source, unoptimised

DEBUG=1..7 and NOOPT=1 in the environment do what --debug and --no-opt do; KILN_CUDA_DEVICE and KILN_OPENCL_DEVICE name
a GPU, by a part of what `kiln devices` calls it, KILN_NVRTC and KILN_NVDISASM NVIDIA's libnvrtc.so and nvdisasm, CC the
C compiler that links for this system. Other variables of tinygrad's, as BEAM, have no effect, which a line says. Exit
status: 0, 1 for a failure, 2 for wrong use.
)";

namespace {

/// What CLI11 fills and what has yet to be understood.
struct Texts {
  std::vector<std::string> aliases, dims, inputs, named, at, sizes;
  std::string cpus, emit, schedule = "default", logLevel = "warning", precision = "f32", rates, outputDir, random,
                          bench, profile, threads;
  std::optional<double> memoryLimit; ///< in GiB
  bool list = false;
};

/// CLI11 shows what a flag without a value stands for; the description does.
struct Formatter final : CLI::Formatter {
  std::string make_option_name(const CLI::Option *option, bool isPositional) const override {
    return llvm::StringRef(CLI::Formatter::make_option_name(option, isPositional)).split('{').first.str();
  }
};

} // namespace

static void addCompileOptions(CLI::App &app, CommandLine &line, Texts &texts, const std::string &what) {
  CompileOptions &compile = line.compile;
  app.add_option("MODEL", compile.model, what)->required();
  app.add_option("--device", compile.device, "where kernels run; see `kiln devices` (cpu)")->type_name("D");
  std::string cpu = "the CPU to make code for, as LLVM names it (this machine's)";
  bool takesSeveral = app.get_name() == "compile";
  app.add_option("--mcpu", texts.cpus,
                 takesSeveral ? cpu + "; several of them: a program runs as the first that the machine is like" : cpu)
      ->type_name(takesSeveral ? "CPU,..." : "CPU");
  app.add_option("--gpu-arch", compile.gpuArchs, "the GPUs to make code for, PTX for later ones beside (sm_80,sm_90a)")
      ->type_name("ARCH,...");
  app.add_option("-O", compile.level, "how hard the code generator tries, 0 to 3 (2)")->type_name("N");
  app.add_flag("--no-opt", compile.pipeline.noOpt, "leave every kernel as it was scheduled");
  app.add_option("--schedule", texts.schedule, "classic: tinygrad v0.9.2's rules; or default")->type_name("S");
  app.add_option("--precision", texts.precision,
                 "what products of float32 multiply: bf16, summed up in float32; or f32")
      ->type_name("DTYPE");
  app.add_option("--winograd", compile.pipeline.winograd,
                 "outputs along an axis of a tile of 3 x 3 windows: 2; 4, less exact; or 0, none (2)")
      ->type_name("N");
  app.add_option(
         "--rates", texts.rates,
         "what the device can do, for the schedule: bytes-per-ns=N, ops-per-ns=N, product-ops-per-ns=N, launch-ns=N, "
         "units=N, tile-reuse=N, separated by commas")
      ->type_name("RATES");
  app.add_option("--dim", texts.dims, "a size that the model leaves open: NAME=VALUE or NAME=LO..HI,default=V")
      ->type_name("DIM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--alias", texts.aliases,
                 "an output that lies in an input's memory: INPUT=OUTPUT, or with room for more INPUT=OUTPUT:CAPACITY")
      ->type_name("ALIAS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--memory-limit", texts.memoryLimit, "the largest tensor that is not refused, in GiB (16)")
      ->type_name("GIB");
  app.add_option("--opts", compile.optsPath, "a file of opts, a line for each kernel; --emit opts writes one")
      ->type_name("FILE");
  app.add_option("--debug", compile.debug, "show more, 1 to 7, as DEBUG does")->type_name("N");
  app.add_flag("--quiet", line.isQuiet, "do not say on a terminal what is being done");
  app.add_option("--log-level", texts.logLevel,
                 "what to say beside results: error, warning or info, all steps (warning)")
      ->type_name("LEVEL");
}

static void addRunOptions(CLI::App &app, Texts &texts) {
  app.add_option("INPUT", texts.inputs, ".npy files, the inputs in declared order");
  app.add_option("--input", texts.named, "an input by its name")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--output-dir", texts.outputDir, "write output_0.npy, output_1.npy ... there")->type_name("DIR");
  app.add_flag("--random{0}", texts.random, "fill the inputs that are not given; also --random=SEED");
  app.add_option("--at", texts.sizes, "with random inputs of these sizes; repeatable")
      ->type_name("NAME=SIZE,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--bench{100}", texts.bench, "time 100 runs; also --bench=N");
  app.add_flag(
      "--profile{-}", texts.profile,
      "show the kernels of 10 runs, or of --bench=N, by share of time; also --profile=FILE: Chrome's trace events");
  app.add_option("--threads", texts.threads, "CPU threads (one per core)")->type_name("N");
  app.add_flag("--list", texts.list, "names, dtypes and shapes of inputs and outputs");
}

static std::vector<std::string> runArguments(const Texts &texts, bool isQuiet) {
  std::vector<std::string> arguments;
  auto add = [&](const std::string &name, const std::string &value) {
    if (!value.empty())
      arguments.push_back(name + "=" + value);
  };
  for (const std::string &input : texts.named)
    add("--input", input);
  for (const std::string &sizes : texts.sizes)
    add("--at", sizes);
  add("--output-dir", texts.outputDir);
  add("--random", texts.random);
  add("--bench", texts.bench);
  if (texts.profile == "-")
    arguments.push_back("--profile");
  else
    add("--profile", texts.profile);
  add("--threads", texts.threads);
  if (texts.list)
    arguments.push_back("--list");
  if (isQuiet)
    arguments.push_back("--quiet");
  arguments.push_back("--");
  llvm::append_range(arguments, texts.inputs);
  return arguments;
}

static llvm::Expected<Emit> parseEmit(llvm::StringRef text) {
  std::string known;
  for (const auto &[name, emit] : kEmits) {
    if (text == name)
      return emit;
    known += (known.empty() ? "" : ", ") + name.str();
  }
  return usageError("--emit " + text + ": no such kind", "kinds are " + known);
}

/// What an environment variable says as a number of 0 or more; 0 where it is not set.
static llvm::Expected<int> environment(const char *name) {
  const char *text = getenv(name);
  int value = 0;
  if (text && *text && (llvm::StringRef(text).getAsInteger(10, value) || value < 0))
    return usageError(llvm::Twine(name) + "=" + text + ": no number of 0 or more", "correct the environment");
  return value;
}

/// Variables that whoever comes from tinygrad may set, and what does here what they do there.
static constexpr std::pair<const char *, const char *> kIgnoredVariables[] = {
    {"BEAM", "kernels' loops are chosen without a search, and changed by --opts"},
    {"NOLOCALS", "kernels' loops are changed by --opts"},
    {"TC", "matrix instructions are used where the device has them, with --precision bf16 on a CPU"},
    {"WINO", "it is used where it is faster; --winograd chooses"},
    {"GRAPH", "give --graph FILE.svg"},
    {"VIZ", "give --graph FILE.svg"},
    {"PROFILE", "give --profile"},
};

static void warnOfIgnoredVariables() {
  for (const auto &[name, remedy] : kIgnoredVariables)
    if (const char *text = getenv(name); text && *text && llvm::StringRef(text) != "0")
      logWarning((llvm::Twine(name) + "=" + text + ": has no effect; " + remedy).str());
}

/// What CLI11 found wrong, in the words of other errors.
static std::string wordsOf(const CLI::ParseError &error) {
  std::string text = error.what();
  llvm::StringRef words(text);
  if (words.consume_front("Could not convert: ")) {
    auto [option, value] = words.split(" = ");
    return (option + " " + value + ": no such value").str();
  }
  auto [option, missing] = words.split(": 1 required ");
  if (missing.consume_back(" missing"))
    return (option + ": its value " + missing + " is missing").str();
  return text;
}

/// Names what of the arguments an application takes no notice of: CLI11 lists it, last first and without a remedy.
static llvm::Error unexpected(const CLI::App &app, int argc, char **argv, const std::string &help) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  std::vector<std::string> extra = app.remaining(/*recurse=*/true);
  bool allNames = false;
  for (llvm::StringRef argument : llvm::ArrayRef(argv, argc).drop_front()) {
    if (argument == "--") {
      allNames = true;
      continue;
    }
    if (!llvm::is_contained(extra, argument.str()))
      continue;
    if (allNames && argument.starts_with("-"))
      return usageError(argument + ": no option behind --", "put options before it");
    if (!argument.starts_with("-"))
      return usageError(argument + ": one argument too many", help);
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    return usageError(argument + ": no such option", didYouMean(argument.split('=').first, known, help));
  }
  return usageError("an argument was not expected", help);
}

static constexpr std::pair<llvm::StringLiteral, LogLevel> kLogLevels[] = {
    {"error", LogLevel::Error}, {"warning", LogLevel::Warning}, {"info", LogLevel::Info}};

static std::vector<OptionWords> optionWords() {
  OptionWords emits{"--emit", {}};
  for (const auto &[name, emit] : kEmits)
    emits.words.push_back(name.str());
  return {emits,
          {"--device", deviceNames()},
          {"--schedule", {"default", "classic"}},
          {"--precision", {"f32", "bf16"}},
          {"--log-level", {"error", "warning", "info"}}};
}

static llvm::Error understand(CommandLine &line, const Texts &texts) {
  CompileOptions &compile = line.compile;
  auto level = llvm::find_if(kLogLevels, [&](const auto &each) { return each.first == texts.logLevel; });
  if (level == std::end(kLogLevels))
    return usageError("--log-level " + texts.logLevel + ": no such level", "give error, warning or info");
  line.logLevel = level->second;
  if (compile.triple == "armv7") // what people call the system that compilers call so
    compile.triple = "arm-linux-gnueabihf";
  if (llvm::Error error = parseCpus(texts.cpus, compile))
    return error;
  if (llvm::Error error = checkTarget(compile))
    return error;
  llvm::Expected<Rates> rates = parseRates(texts.rates);
  if (!rates)
    return rates.takeError();
  compile.rates = std::move(*rates);
  if (compile.level > 3)
    return usageError("-O" + llvm::Twine(compile.level) + ": no such level", "give -O0 to -O3");
  if (texts.schedule != "classic" && texts.schedule != "default")
    return usageError("--schedule " + texts.schedule + ": no such policy", "give classic or default");
  compile.pipeline.classic = texts.schedule == "classic";
  if (texts.precision != "f32" && texts.precision != "bf16")
    return usageError("--precision " + texts.precision + ": no such precision", "give f32 or bf16");
  if (texts.precision == "bf16")
    compile.import.precision = DType::BF16;
  if (int64_t tile = compile.pipeline.winograd; tile != 0 && tile != 2 && tile != 4)
    return usageError("--winograd " + llvm::Twine(tile) + ": no such tile", "give 0, 2 or 4");
  for (const std::string &dim : texts.dims)
    if (llvm::Error error = parseDim(dim, compile.import.dims))
      return error;
  for (const std::string &alias : texts.aliases)
    if (llvm::Error error = parseAlias(alias, compile.import.aliases))
      return error;
  if (!(line.verify.relative >= 0 && line.verify.absolute >= 0))
    return usageError("--rtol, --atol: a tolerance is negative or no number", "give 0 or more");
  if (texts.memoryLimit && !(*texts.memoryLimit > 0))
    return usageError("--memory-limit: no tensor is so small", "give more than 0 GiB");
  if (texts.memoryLimit)
    compile.import.memoryLimit = static_cast<int64_t>(std::min(*texts.memoryLimit, 0x1p32) * 0x1p30);
  if (!compile.optsPath.empty()) {
    auto file = llvm::MemoryBuffer::getFile(compile.optsPath, /*IsText=*/true);
    if (!file)
      return failure(compile.optsPath + ": cannot be read: " + file.getError().message(),
                     "name a file of opts, such as --emit opts writes");
    compile.pipeline.opts = (*file)->getBuffer().str();
    compile.pipeline.optsPath = compile.optsPath;
  }
  for (const std::string &text : texts.at) {
    llvm::Expected<Sizes> sizes = parseSizes(text);
    if (!sizes)
      return sizes.takeError();
    line.verify.at.push_back(std::move(*sizes));
  }
  ArtefactOptions &artefact = line.artefact;
  bool inspects = !artefact.why.empty() || !artefact.graphPath.empty();
  artefact.onlyInspects = inspects && texts.emit.empty() && artefact.output.empty() && artefact.weightsPath.empty() &&
                          artefact.name.empty() && !artefact.isStatic;
  llvm::Expected<Emit> emit = parseEmit(texts.emit.empty() ? "exe" : texts.emit);
  if (!emit)
    return emit.takeError();
  artefact.emit = *emit;
  if (artefact.isFreestanding && artefact.emit != Emit::Source)
    return usageError("--freestanding: only C goes without an operating system", "add --emit source --device c");
  if (artefact.isFreestanding && !artefact.weightsPath.empty())
    return usageError("--weights: there is no file to read without an operating system", "leave it out");
  if (!artefact.graphPath.empty())
    if (llvm::Error error = checkGraphPath(artefact.graphPath))
      return error;
  line.run.arguments = runArguments(texts, line.isQuiet);
  return llvm::Error::success();
}

static void addCompile(CLI::App &compile, CommandLine &line, Texts &texts) {
  addCompileOptions(compile, line, texts, "an ONNX or JSON file, or the dump of a stage (.mlir)");
  compile
      .add_option("-o", line.artefact.output, "where it goes (an artefact: the model's name; text: standard output)")
      ->type_name("OUT");
  compile
      .add_option(
          "--emit", texts.emit,
          "exe, obj, shared, static, header, source, a stage (import view schedule optimize lower render), opts, llvm "
          "or asm (exe)")
      ->type_name("KIND");
  compile
      .add_option("--target", line.compile.triple, "the system to make code for, as aarch64-linux-gnu (this machine's)")
      ->type_name("SYSTEM");
  compile.add_option("--weights", line.artefact.weightsPath, "put the weights there, a safetensors file")
      ->type_name("FILE");
  compile.add_option("--name", line.artefact.name, "what the names in the header begin with (the output's name)")
      ->type_name("NAME");
  compile.add_flag("--static", line.artefact.isStatic, "a program that needs no shared library");
  compile.add_flag("--freestanding", line.artefact.isFreestanding,
                   "with --emit source: no operating system, no C library");
  compile.add_flag("--time-stages", line.timesStages, "also print how long each stage takes, and its memory");
  compile.add_flag("--stats", line.artefact.showsStats, "also print kernels, FLOPs, bytes and memory");
  compile
      .add_option("--why", line.artefact.why,
                  "print which kernels compute a node or tensor, or what a kernel computes, and why")
      ->type_name("NODE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  compile
      .add_option("--graph", line.artefact.graphPath, "draw the kernels round their nodes, by Graphviz: .dot or .svg")
      ->type_name("FILE");
}

static void addVerify(CLI::App &verify, CommandLine &line, Texts &texts) {
  addCompileOptions(verify, line, texts, "a model's file, or a folder of a model and its inputs and outputs");
  verify.add_option("--rtol", line.verify.relative, "the largest relative error (1e-3)");
  verify.add_option("--atol", line.verify.absolute, "the largest absolute error (1e-5)");
  verify
      .add_option("--at", texts.at, "also with random inputs of these sizes, against the graph interpreter; repeatable")
      ->type_name("NAME=SIZE,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verify.add_flag("--graph", line.verify.interpretsGraph, "interpret the graph as imported; compile nothing");
}

/// "help" and "help COMMAND" are what "--help" and "COMMAND --help" are.
static std::vector<char *> argumentsOf(int argc, char **argv) {
  static char helpFlag[] = "--help";
  std::vector<char *> arguments(argv, argv + argc);
  if (argc > 1 && llvm::StringRef(argv[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.resize(std::min<size_t>(arguments.size(), 2));
    arguments.push_back(helpFlag);
  }
  return arguments;
}

/// What is wrong with the name of a command: CLI11 would say that one is missing where an unknown one is given.
static llvm::Error checkCommand(const CLI::App &app, llvm::StringRef given) {
  auto isGiven = [&](const CLI::App *command) { return command->get_name() == given; };
  if (given.starts_with("-") || llvm::any_of(app.get_subcommands([](const CLI::App *) { return true; }), isGiven))
    return llvm::Error::success();
  if (llvm::sys::fs::is_regular_file(given))
    return usageError(given + ": is a file, not a command", "`kiln compile " + given + "` makes a program of it");
  return usageError(given + ": no such command",
                    didYouMean(given, {"compile", "run", "verify", "devices", "flags"}, kCommands));
}

/// Whether there is something to do beside what has been printed.
static llvm::Expected<bool> parse(CLI::App &app, int argc, char **argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    llvm::outs() << (chosen.empty() ? app.help() : chosen.front()->help("kiln"));
    return false;
  } catch (const CLI::CallForVersion &) {
    llvm::outs() << app.version() << "\n";
    return false;
  } catch (const CLI::ParseError &error) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    std::string command = chosen.empty() ? "kiln" : "kiln " + chosen.front()->get_name();
    std::string help = "see " + command + " --help";
    if (dynamic_cast<const CLI::ExtrasError *>(&error))
      return unexpected(chosen.empty() ? app : *chosen.front(), argc, argv, help);
    return usageError(wordsOf(error), help);
  }
  return true;
}

llvm::Expected<std::optional<CommandLine>> driver::parseCommandLine(int argc, char **argv) {
  CommandLine line;
  Texts texts;
  llvm::Expected<int> debug = environment("DEBUG");
  if (!debug)
    return debug.takeError();
  llvm::Expected<int> noOpt = environment("NOOPT");
  if (!noOpt)
    return noOpt.takeError();
  line.compile.debug = *debug;
  line.compile.pipeline.noOpt = *noOpt != 0;

  CLI::App app("kiln turns a model file into a program.", "kiln");
  app.set_version_flag("-v,--version", "kiln " KILN_VERSION);
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(34);

  CLI::App &compile = *app.add_subcommand("compile", "make a program, an object, or the text of a stage");
  addCompile(compile, line, texts);
  CLI::App &run = *app.add_subcommand("run", "compile in memory and run");
  addCompileOptions(run, line, texts, "an ONNX or JSON file, or the dump of a stage (.mlir)");
  addRunOptions(run, texts);

  CLI::App &verify = *app.add_subcommand("verify", "compare with stored results, or with the graph interpreter's");
  addVerify(verify, line, texts);
  CLI::App &devices = *app.add_subcommand("devices", "what kiln compiles for, and what this machine has of it");

  CLI::App &flags = *app.add_subcommand("flags", "how a C compiler compiles and links a program with an object");
  flags.add_flag("--cflags", line.flags.compiling, "where the headers are");
  flags.add_flag("--libs", line.flags.linking, "the runtime's libraries");
  flags.add_option("--device", line.flags.device, "the object's device (cpu)")->type_name("D");

  // For who packages kiln: no command that people call, so they have no group.
  std::string shell;
  CLI::App &completion = *app.add_subcommand("completion", "what bash, zsh or fish completes the command line with");
  completion.add_option("SHELL", shell)->required();
  CLI::App &manual = *app.add_subcommand("manual", "the page of man");
  CLI::App &page = *app.add_subcommand("page", "the page of the docs");
  completion.group("");
  page.group("");
  manual.group("");

  std::vector<char *> arguments = argumentsOf(argc, argv);
  if (arguments.size() > 1)
    if (llvm::Error error = checkCommand(app, arguments[1]))
      return error;
  llvm::Expected<bool> goesOn = parse(app, static_cast<int>(arguments.size()), arguments.data());
  if (!goesOn)
    return goesOn.takeError();
  if (!*goesOn)
    return std::nullopt;
  if (manual) {
    printManual(app, app.version(), llvm::outs());
    return std::nullopt;
  }
  if (page) {
    printPage(app, llvm::outs());
    return std::nullopt;
  }
  if (completion) {
    if (llvm::Error error = printCompletion(app, optionWords(), shell, llvm::outs()))
      return error;
    return std::nullopt;
  }
  if (app.get_subcommands().empty())
    return usageError("no command", llvm::Twine(kCommands) + "; see kiln --help");
  line.command = run       ? Command::Run
                 : verify  ? Command::Verify
                 : devices ? Command::Devices
                 : flags   ? Command::Flags
                           : Command::Compile;
  if (compile || run || verify)
    if (llvm::Error error = understand(line, texts))
      return error;
  if (!compile && !line.compile.otherCpus.empty())
    return usageError("--mcpu " + texts.cpus + ": this machine is one CPU", "name one, or use kiln compile");
  setLogLevel(line.logLevel);
  warnOfIgnoredVariables();
  return line;
}

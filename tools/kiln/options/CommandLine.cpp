//===- CommandLine.cpp - From argv to options ---------------------------===//
//
// CLI11 splits the arguments, by the table of OptionTable.cpp. The meaning of values is kiln's own matter:
// "batch=1..64,default=8" is more than CLI11 can check, and its messages have no remedy. So it fills plain texts
// (Texts), which are interpreted afterwards, and its own errors are rewritten in the words that all others have. `kiln
// run` passes arguments that concern the run, not the compilation, on to the command line that every compiled program
// has (runtime/src/cli), so that there is one parser of these.
//
//===--------------------------------------------------------------------===//
#include "CommandLine.h"

#include "AliasOption.h"
#include "CommandTable.h"
#include "DimOption.h"
#include "OptionTable.h"
#include "OtherWords.h"
#include "ShapeOption.h"
#include "TargetOption.h"
#include "support/Error.h"
#include "support/FolderFile.h"
#include "support/Nearest.h"
#include "target/Cpu.h"
#include "tools/kiln/Devices.h"
#include "tools/kiln/inspect/GraphDrawing.h"

#include "kiln/cli.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <deque>
#include <limits>

using namespace kiln;
using namespace kiln::driver;

namespace {
struct EmitRow {
  llvm::StringLiteral word;
  Emit emit;
  std::optional<Stage> stage = std::nullopt; ///< whose module it prints, or a part of that
};
} // namespace

static constexpr EmitRow kEmits[] = {{"exe", Emit::Exe},
                                     {"obj", Emit::Obj},
                                     {"shared", Emit::Shared},
                                     {"static", Emit::Static},
                                     {"header", Emit::Header},
                                     {"source", Emit::Source},
                                     {"import", Emit::Import, Stage::Import},
                                     {"view", Emit::View, Stage::View},
                                     {"schedule", Emit::Schedule, Stage::Schedule},
                                     {"optimize", Emit::Optimize, Stage::Optimize},
                                     {"opts", Emit::Opts, Stage::Optimize},
                                     {"lower", Emit::Lower, Stage::Lower},
                                     {"render", Emit::Render},
                                     {"llvm", Emit::Llvm},
                                     {"asm", Emit::Asm}};

std::optional<Stage> driver::emittedStage(Emit emit) {
  return llvm::find_if(kEmits, [&](const EmitRow &row) { return row.emit == emit; })->stage;
}

/// CLI11 takes "[1, 2]" for two arguments, unless something follows it.
static constexpr char kAfterList = ' ';

static constexpr char kCommands[] = "commands are compile, run, verify, devices, doctor and flags";

static std::vector<std::string> runArguments(const Texts &texts, const CommandLine &line) {
  std::vector<std::string> arguments;
  auto add = [&](const std::string &name, const std::string &value) {
    if (!value.empty())
      arguments.push_back(name + "=" + value);
  };
  for (const std::string &input : texts.named)
    add("--input", input);
  for (const std::string &sizes : texts.sizes)
    add("--at", sizes);
  for (const std::string &kernel : line.compile.kernels)
    add("--kernel", kernel);
  add("--output-dir", texts.outputDir);
  add("--random", texts.random);
  add("--bench", texts.bench);
  if (texts.profile == "-")
    arguments.push_back("--profile");
  else
    add("--profile", texts.profile);
  add("--threads", texts.threads);
  for (auto [isGiven, flag] :
       {std::pair(texts.list, "--list"), std::pair(line.isQuiet, "--quiet"), std::pair(line.isJson, "--json"),
        std::pair(texts.noPrint, "--no-print"), std::pair(texts.outputNames, "--output-names"),
        std::pair(texts.profileKernels, "--profile-kernels")})
    if (isGiven)
      arguments.push_back(flag);
  arguments.push_back("--");
  for (llvm::StringRef input : texts.inputs)
    arguments.push_back(input.rtrim(kAfterList).str());
  return arguments;
}

static llvm::Expected<Emit> parseEmit(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> known;
  for (const EmitRow &row : kEmits) {
    if (text == row.word)
      return row.emit;
    known.push_back(row.word);
  }
  return usageError("--emit " + text + ": no such kind",
                    nearestKind(text, known, "kinds are " + llvm::join(known, ", ")));
}

/// The last level of DEBUG; model/Debug.h says what each shows.
static constexpr int kMostDebug = 7;

/// An environment variable as a number of 0 or more; 0 if it is not set.
static llvm::Expected<int> environment(const char *name, int most = std::numeric_limits<int>::max()) {
  const char *text = getenv(name);
  int value = 0;
  if (text && *text && (llvm::StringRef(text).getAsInteger(10, value) || value < 0))
    return usageError(llvm::Twine(name) + "=" + text + ": is not a number of 0 or more", "correct the environment");
  if (value > most)
    return usageError(llvm::Twine(name) + "=" + text + ": no such level", "give 0 to " + llvm::Twine(most));
  return value;
}

/// A program may have any name; one that ends like a library's was perhaps meant to be one.
static void warnOfName(const ArtefactOptions &artefact) {
  llvm::StringRef meant = kindOfFile(artefact.output);
  if (artefact.emit == Emit::Exe && !meant.empty())
    logWarning(
        ("-o " + artefact.output + ": becomes a program; did you mean to give --emit " + meant + ", too?").str());
}

static void warnOfIgnoredVariables() {
  for (const kiln_ignored_variable *each = kiln_ignored_variables; each->name; ++each)
    if (const char *value = kiln_ignored_value(each))
      logWarning((llvm::Twine(each->name) + "=" + value + ": has no effect; " + each->of_compiler).str());
}

static llvm::Error missingValue(llvm::StringRef option, llvm::StringRef value, llvm::StringRef help) {
  return usageError(option + ": its value " + value + " is missing", help);
}

/// CLI11's error, in the words of other errors.
static llvm::Error inOurWords(const CLI::ParseError &error, llvm::StringRef help) {
  std::string text = error.what();
  llvm::StringRef words(text);
  if (words.consume_front("Could not convert: ")) {
    auto [option, value] = words.split(" = ");
    return usageError(option + " " + value + ": no such value", help);
  }
  auto [single, times] = words.split(": At Most 1 required but received ");
  if (!times.empty())
    return usageError(single + ": given " + (times == "2" ? "twice" : times + " times"), "give it once");
  auto [option, missing] = words.split(": 1 required ");
  if (missing.consume_back(" missing"))
    return missingValue(option, missing, help);
  return usageError(text, help);
}

/// An empty value is most often that of a variable which a script did not set. Treating it as absent would do something
/// else than was asked for.
static llvm::Error checkValues(const CLI::App &command, llvm::StringRef help) {
  for (const CLI::Option *option : command.get_options()) {
    if (!llvm::is_contained(option->results(), ""))
      continue;
    if (option->get_positional())
      return usageError(option->get_name() + ": its name is empty", help);
    return missingValue(option->get_name(), option->get_type_name(), help);
  }
  return llvm::Error::success();
}

/// For "--mcpu= -o model" CLI11 takes -o for the CPU.
static llvm::Error checkEqualSigns(const CLI::App &command, llvm::ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments) {
    if (argument == "--")
      break;
    if (!argument.starts_with("-") || !argument.consume_back("="))
      continue;
    const CLI::Option *option = command.get_option_no_throw(argument.str());
    if (option && option->get_expected_min() > 0)
      return missingValue(argument, option->get_type_name(), "see kiln " + command.get_name() + " --help");
  }
  return llvm::Error::success();
}

/// Refuses "--bench 30", as programs do: the number would be taken for an input.
static llvm::Error checkNumbers(llvm::ArrayRef<char *> arguments) {
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    llvm::StringRef option = argument, next = index + 1 < arguments.size() ? arguments[index + 1] : "";
    if (option == "--")
      break;
    if ((option == "--bench" || option == "--random") && !next.empty() && llvm::all_of(next, llvm::isDigit))
      return usageError(option + " " + next + ": write " + option + "=" + next + ", or give an input's value before " +
                        option);
  }
  return llvm::Error::success();
}

/// "kiln run and programs": those that have an option; "" if nothing has.
static std::string ownersOf(const CLI::App &all, const std::string &option) {
  std::vector<std::string> owners;
  bool isOfPrograms = false;
  for (const CLI::App *command : all.get_subcommands([](const CLI::App *) { return true; }))
    if (const CLI::Option *found = command->get_option_no_throw(option); found && !command->get_group().empty()) {
      owners.push_back("kiln " + command->get_name());
      isOfPrograms |= found->get_group() == kOfPrograms;
    }
  if (isOfPrograms)
    owners.push_back("programs");
  return llvm::join(owners, " and ");
}

/// Names the arguments that `app`, kiln or one of its commands, ignores: CLI11 lists them, last first and without a
/// remedy.
static llvm::Error unexpected(const CLI::App &all, const CLI::App &app, int argc, char **argv,
                              const std::string &help) {
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
      return usageError(argument + ": no option after --", "put options before it");
    if (!argument.starts_with("-"))
      return usageError(argument + ": one argument too many", help);
    if (std::string owners = ownersOf(all, argument.split('=').first.str()); !owners.empty())
      return usageError(argument + ": is an option of " + owners, help);
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    return usageError(argument + ": no such option", nearestOption(argument.split('=').first, known, help));
  }
  return usageError("an argument was not expected", help);
}

static constexpr std::pair<llvm::StringLiteral, LogLevel> kLogLevels[] = {
    {"error", LogLevel::Error}, {"warning", LogLevel::Warning}, {"info", LogLevel::Info}};

static std::vector<OptionWords> optionWords() {
  OptionWords emits{"--emit", {}};
  for (const EmitRow &row : kEmits)
    emits.words.push_back(row.word.str());
  OptionWords systems{"--target", {}};
  for (llvm::StringRef system : target::systems())
    systems.words.push_back(system.str());
  return {emits,
          systems,
          {"--device", deviceNames()},
          {"--winograd", {"0", "2", "4"}},
          {"--schedule", {"default", "classic"}},
          {"--precision", {"f32", "bf16"}},
          {"--log-level", {"error", "warning", "info"}}};
}

/// The target, and its assumed properties.
static llvm::Error understandTarget(CompileOptions &compile, const Texts &texts) {
  compile.triple = systemOf(compile.triple).str();
  if (llvm::Error error = parseCpus(texts.cpus, compile))
    return error;
  if (llvm::Error error = checkTarget(compile))
    return error;
  llvm::Expected<Rates> rates = parseRates(texts.rates);
  if (!rates)
    return rates.takeError();
  compile.rates = std::move(*rates);
  return llvm::Error::success();
}

/// Options of each stage.
static llvm::Error understandStages(CompileOptions &compile, const Texts &texts) {
  if (compile.debug < 0 || compile.debug > kMostDebug)
    return usageError("--debug " + llvm::Twine(compile.debug) + ": no such level",
                      "give 0 to " + llvm::Twine(kMostDebug));
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
  if (!compile.optsPath.empty() && compile.pipeline.noOpt)
    return usageError("--opts " + compile.optsPath + ": --no-opt, or NOOPT, leaves every kernel as it was scheduled",
                      "leave one of them out");
  if (!compile.optsPath.empty()) {
    auto file = mapRegularFile(compile.optsPath, "name a file of opts, such as --emit opts writes");
    if (!file)
      return failure(compile.optsPath + ": " + llvm::toString(file.takeError()));
    compile.pipeline.opts = (*file)->getBuffer().str();
    compile.pipeline.optsPath = compile.optsPath;
  }
  return llvm::Error::success();
}

static llvm::Error checkModelIsFile(const CommandLine &line) {
  if (line.compile.model != "-")
    return llvm::Error::success();
  return usageError("-: a model is read from a file, not from standard input", "write it to one, and name that");
}

/// Facts about the model that the model does not give.
static llvm::Error understandModel(import::ImportOptions &model, const Texts &texts) {
  for (const std::string &dim : texts.dims)
    if (llvm::Error error = parseDim(dim, model.dims))
      return error;
  for (const std::string &shape : texts.shapes)
    if (llvm::Error error = parseShape(shape, model.shapes))
      return error;
  for (const std::string &alias : texts.aliases)
    if (llvm::Error error = parseAlias(alias, model.aliases))
      return error;
  if (texts.memoryLimit && !(*texts.memoryLimit > 0))
    return usageError("--memory-limit: no tensor is so small", "give more than 0 GiB");
  model.checksIndices = texts.checksIndices;
  if (texts.memoryLimit)
    model.memoryLimit = static_cast<int64_t>(std::min(*texts.memoryLimit, 0x1p32) * 0x1p30);
  return llvm::Error::success();
}

static llvm::Error understandVerify(VerifyOptions &verify, const Texts &texts) {
  if (!(verify.relative >= 0 && verify.absolute >= 0))
    return usageError("--rtol, --atol: a tolerance is negative or not a number", "give 0 or more");
  for (const std::string &text : texts.at) {
    llvm::Expected<Sizes> sizes = parseSizes(text);
    if (!sizes)
      return sizes.takeError();
    verify.at.push_back(std::move(*sizes));
  }
  return llvm::Error::success();
}

/// Whether something is shown that --kernel can choose from; kiln compile looks at --emit as well.
static llvm::Error checkKernels(const CommandLine &line, const Texts &texts) {
  const std::vector<std::string> &kernels = line.compile.kernels;
  bool isRun = line.command == Command::Run;
  if (kernels.empty() || line.compile.debug >= 2 || line.command == Command::Compile || texts.profileKernels)
    return llvm::Error::success();
  return usageError("--kernel " + kernels.front() + ": chooses what DEBUG=2" +
                        (isRun ? " and --profile-kernels show" : " and higher levels show"),
                    isRun ? "add one of them" : "add it");
}

/// Standard output is the one document.
static llvm::Error checkJson(const ArtefactOptions &artefact) {
  return !artefact.isJson || artefact.why.empty()
             ? llvm::Error::success()
             : usageError("--json: --why has text for people alone", "leave one of them out");
}

static llvm::Error understandArtefact(ArtefactOptions &artefact, const Texts &texts) {
  if (llvm::Error error = checkJson(artefact))
    return error;
  bool inspects = artefact.showsStats || !artefact.why.empty() || !artefact.graphPath.empty();
  artefact.onlyInspects = inspects && texts.emit.empty() && artefact.output.empty() && artefact.weightsPath.empty() &&
                          artefact.name.empty() && artefact.depfile.empty() && !artefact.isStatic &&
                          !artefact.keepsNames;
  llvm::Expected<Emit> emit = parseEmit(texts.emit.empty() ? "exe" : texts.emit);
  if (!emit)
    return emit.takeError();
  artefact.emit = *emit;
  if (artefact.isFreestanding && artefact.emit != Emit::Source)
    return usageError("--freestanding: only C goes without an operating system", "add --emit source --device c");
  if (artefact.isFreestanding && !artefact.weightsPath.empty())
    return usageError("--weights: there is no file to read without an operating system", "leave it out");
  return artefact.graphPath.empty() ? llvm::Error::success() : checkGraphPath(artefact.graphPath);
}

static llvm::Error understand(CommandLine &line, const Texts &texts) {
  auto level = llvm::find_if(kLogLevels, [&](const auto &each) { return each.first == texts.logLevel; });
  if (level == std::end(kLogLevels))
    return usageError("--log-level " + texts.logLevel + ": no such level", "give error, warning or info");
  line.logLevel = level->second;
  if (llvm::Error error = checkModelIsFile(line))
    return error;
  if (llvm::Error error = understandTarget(line.compile, texts))
    return error;
  if (llvm::Error error = understandStages(line.compile, texts))
    return error;
  if (llvm::Error error = understandModel(line.compile.import, texts))
    return error;
  if (llvm::Error error = understandVerify(line.verify, texts))
    return error;
  line.verify.isJson = line.isJson;
  line.artefact.isJson = line.command == Command::Compile && line.isJson;
  if (llvm::Error error = understandArtefact(line.artefact, texts))
    return error;
  if (llvm::Error error = checkKernels(line, texts))
    return error;
  line.run.arguments = runArguments(texts, line);
  return llvm::Error::success();
}

/// "help" and "help COMMAND" mean the same as "--help" and "COMMAND --help".
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

/// The fault of a command's name, and of its arguments as they are: CLI11 would say that a command is missing if an
/// unknown one is given.
static llvm::Error checkCommand(const CLI::App &app, llvm::StringRef given, llvm::ArrayRef<char *> arguments) {
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    if (command->get_name() == given) {
      llvm::Error error = checkEqualSigns(*command, arguments);
      return error || given != "run" ? std::move(error) : checkNumbers(arguments);
    }
  if (given.starts_with("-"))
    return llvm::Error::success();
  if (llvm::sys::fs::is_regular_file(given))
    return usageError(given + ": is a file, not a command", "`kiln compile " + given + "` makes a program of it");
  if (app.get_option_no_throw(("--" + given).str()))
    return usageError(given + ": no such command", "did you mean '--" + given + "'?");
  return usageError(given + ": no such command",
                    didYouMean(given, {"compile", "run", "verify", "devices", "doctor", "flags"}, kCommands));
}

/// Whether there is something to do besides the printed text.
static llvm::Expected<bool> parse(CLI::App &app, int argc, char **argv) {
  auto helpOf = [&](const std::vector<CLI::App *> &chosen) {
    return "see kiln " + (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help";
  };
  try {
    app.parse(argc, argv);
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    for (const CLI::App *command : chosen)
      if (llvm::Error error = checkValues(*command, helpOf(chosen)))
        return error;
  } catch (const CLI::CallForHelp &) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    llvm::outs() << (chosen.empty() ? app.help() : chosen.front()->help("kiln"));
    return false;
  } catch (const CLI::CallForVersion &) {
    llvm::outs() << app.version() << "\n";
    return false;
  } catch (const CLI::ParseError &error) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    std::string help = helpOf(chosen);
    if (dynamic_cast<const CLI::ExtrasError *>(&error))
      return unexpected(app, chosen.empty() ? app : *chosen.front(), argc, argv, help);
    return inOurWords(error, help);
  }
  return true;
}

/// Prints the text of a command that describes all others; false: `name` is none of these.
static llvm::Expected<bool> printTable(const CLI::App &app, llvm::StringRef name, const std::string &shell) {
  if (name == "manual")
    printManual(app, app.version(), llvm::outs());
  else if (name == "page")
    printPage(app, llvm::outs());
  else if (name != "completion")
    return false;
  else if (llvm::Error error = printCompletion(app, optionWords(), shell, llvm::outs()))
    return error;
  return true;
}

llvm::Expected<std::optional<CommandLine>> driver::parseCommandLine(int argc, char **argv) {
  CommandLine line;
  Texts texts;
  llvm::Expected<int> debug = environment("DEBUG", kMostDebug);
  if (!debug)
    return debug.takeError();
  llvm::Expected<int> noOpt = environment("NOOPT");
  if (!noOpt)
    return noOpt.takeError();
  line.compile.debug = *debug;
  line.compile.pipeline.noOpt = *noOpt != 0;

  const std::unique_ptr<CLI::App> table = makeOptionTable(line, texts);
  CLI::App &app = *table;
  std::vector<char *> arguments = argumentsOf(argc, argv);
  std::deque<std::string> lists;
  for (char *&argument : arguments)
    if (llvm::StringRef text = argument; text.starts_with("[") && text.ends_with("]"))
      argument = lists.emplace_back(text.str() + kAfterList).data();
  if (arguments.size() > 1)
    if (llvm::Error error = checkCommand(app, arguments[1], llvm::ArrayRef(arguments).drop_front(2)))
      return error;
  llvm::Expected<bool> goesOn = parse(app, static_cast<int>(arguments.size()), arguments.data());
  if (!goesOn)
    return goesOn.takeError();
  if (!*goesOn)
    return std::nullopt;
  const std::vector<CLI::App *> chosen = app.get_subcommands();
  if (chosen.empty())
    return usageError("no command", llvm::Twine(kCommands) + "; see kiln --help");
  llvm::StringRef name = chosen.front()->get_name();
  llvm::Expected<bool> isPrinted = printTable(app, name, texts.shell);
  if (!isPrinted)
    return isPrinted.takeError();
  if (*isPrinted)
    return std::nullopt;
  line.command = llvm::StringSwitch<Command>(name)
                     .Case("run", Command::Run)
                     .Case("verify", Command::Verify)
                     .Case("devices", Command::Devices)
                     .Case("flags", Command::Flags)
                     .Case("doctor", Command::Doctor)
                     .Default(Command::Compile);
  if (llvm::is_contained({Command::Compile, Command::Run, Command::Verify}, line.command))
    if (llvm::Error error = understand(line, texts))
      return error;
  if (line.command != Command::Compile && !line.compile.otherCpus.empty())
    return usageError("--mcpu " + texts.cpus + ": this machine is one CPU", "name one, or use kiln compile");
  setLogLevel(line.logLevel);
  warnOfIgnoredVariables();
  if (texts.emit.empty())
    warnOfName(line.artefact);
  return line;
}

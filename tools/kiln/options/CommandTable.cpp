//===- CommandTable.cpp - The command line's options as a manual and completions -===//
//
// Each of these formats gives a meaning to other characters: a line of man's that begins with a dot is a command, a bar
// ends a cell of a table in Markdown, a colon or bracket ends a description in zsh. The descriptions of options are
// written for --help and hold all of them, so each printer has a function that quotes its text.
//
//===-----------------------------------------------------------------------------===//
#include "CommandTable.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

using namespace kiln;
using namespace kiln::driver;
using llvm::StringRef;

/// Commands that people call: those with a description.
static std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  std::vector<const CLI::App *> commands;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    if (!command->get_group().empty())
      commands.push_back(command);
  return commands;
}

/// Options with a name, "-o" or "--emit".
static std::vector<const CLI::Option *> optionsOf(const CLI::App &app) {
  std::vector<const CLI::Option *> options;
  for (const CLI::Option *option : app.get_options())
    if (option->nonpositional())
      options.push_back(option);
  return options;
}

static std::vector<std::string> namesOf(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

/// The word that help shows for the value, such as FILE. A flag has none: "", though CLI11 calls its value a boolean.
static std::string valueOf(const CLI::Option &option) {
  return option.get_expected_min() == 0 ? "" : option.get_type_name();
}

//===-- The manual -------------------------------------------------------------===//

/// Text that man shows as it is.
static std::string roff(StringRef text) {
  std::string result;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
      result += "\\&";
    if (c == '-' || c == '\\')
      result += '\\';
    result += c == '\\' ? 'e' : c;
  }
  return result;
}

static void printOptions(const CLI::App &app, llvm::raw_ostream &out) {
  for (const CLI::Option *option : optionsOf(app)) {
    std::string value = valueOf(*option);
    out << ".TP\n.B " << roff(llvm::join(namesOf(*option), ", "));
    if (!value.empty())
      out << " \\fI" << roff(value) << "\\fR";
    out << "\n" << roff(option->get_description()) << "\n";
  }
}

void driver::printManual(const CLI::App &app, StringRef version, llvm::raw_ostream &out) {
  out << ".TH KILN 1 \"\" \"" << version << "\"\n.SH NAME\nkiln \\- "
      << roff(StringRef(app.get_description()).drop_front(5))
      << "\n.SH SYNOPSIS\n.B kiln\n.I COMMAND\n[options]\n.SH COMMANDS\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << ".SS kiln " << command->get_name() << "\n" << roff(command->get_description()) << "\n";
    for (const CLI::Option *option : command->get_options())
      if (option->get_positional())
        out << ".TP\n.I " << roff(option->get_name(/*positional=*/true)) << "\n"
            << roff(option->get_description()) << "\n";
    printOptions(*command, out);
  }
  out << ".SH OPTIONS\n";
  printOptions(app, out);
  out << ".SH EXAMPLES\n.nf\n" << roff(app.get_footer()) << "\n.fi\n";
}

//===-- The page of the docs -----------------------------------------------------===//

/// Text in a cell of a table: a bar would end it, and text that looks like a tag would not be shown.
static std::string cell(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '|' || c == '<' ? std::string("\\") + c : std::string(1, c);
  return result;
}

static void printRows(const CLI::App &app, llvm::raw_ostream &out) {
  out << "\n| option | what it does |\n|---|---|\n";
  for (const CLI::Option *option : app.get_options())
    if (option->get_positional())
      out << "| `" << option->get_name(/*positional=*/true) << "` | " << cell(option->get_description()) << " |\n";
  for (const CLI::Option *option : optionsOf(app)) {
    std::string value = valueOf(*option);
    out << "| `" << llvm::join(namesOf(*option), "`, `") << (value.empty() ? "" : " " + value) << "` | "
        << cell(option->get_description()) << " |\n";
  }
}

void driver::printPage(const CLI::App &app, llvm::raw_ostream &out) {
  out << "# The command line\n\nThe output of `kiln COMMAND --help` for all commands; `man kiln` has the same. "
         "`kiln page > docs/command-line.md` writes this page.\n\n```\n"
      << StringRef(app.get_footer()).trim("\n") << "\n```\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << "\n## kiln " << command->get_name() << "\n\n" << command->get_description() << "\n";
    printRows(*command, out);
  }
  out << "\n## kiln\n";
  printRows(app, out);
}

//===-- Completions -------------------------------------------------------------===//

static StringRef lookUp(llvm::ArrayRef<OptionWords> words, const CLI::Option &option, std::string &joined) {
  for (const OptionWords &entry : words)
    if (llvm::is_contained(namesOf(option), entry.option))
      joined = llvm::join(entry.words, " ");
  return joined;
}

static void printBash(const CLI::App &app, llvm::ArrayRef<OptionWords> words, llvm::raw_ostream &out) {
  std::string commands;
  for (const CLI::App *command : commandsOf(app))
    commands += command->get_name() + " ";
  out << "# What bash completes kiln's command line with; made by kiln.\n_kiln() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
         "  if [ \"$word\" = = ]; then\n    word=\n  elif [ \"$before\" = = ]; then # between option and value\n"
         "    before=${COMP_WORDS[COMP_CWORD-2]}\n  fi\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \""
      << commands << "--help --version\" -- \"$word\"))\n    return\n  fi\n  case $before in\n";
  for (const OptionWords &entry : words)
    out << "  " << entry.option << ")\n    COMPREPLY=($(compgen -W \"" << llvm::join(entry.words, " ")
        << "\" -- \"$word\"))\n    return ;;\n";
  out << "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << "  " << command->get_name() << ") options=\"";
    for (const CLI::Option *option : optionsOf(*command))
      out << llvm::join(namesOf(*option), " ") << " ";
    out << "\" ;;\n";
  }
  out << "  esac\n  case $word in\n  -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "  *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\ncomplete -o filenames -F _kiln kiln\n";
}

/// Between single quotes of a shell.
static std::string quoted(StringRef text, StringRef escapedQuote) {
  std::string result;
  for (char c : text)
    result += c == '\'' ? escapedQuote.str() : std::string(1, c);
  return "'" + result + "'";
}

static void printZsh(const CLI::App &app, llvm::ArrayRef<OptionWords> words, llvm::raw_ostream &out) {
  auto text = [](StringRef plain) {
    std::string result;
    for (char c : plain)
      result += StringRef("[]:\\").contains(c) ? std::string("\\") + c : std::string(1, c);
    return result;
  };
  out << "#compdef kiln\n# What zsh completes kiln's command line with; made by kiln.\nif (( CURRENT == 2 )); then\n"
         "  local -a commands=(\n";
  for (const CLI::App *command : commandsOf(app))
    out << "    " << quoted(command->get_name() + ":" + text(command->get_description()), "'\\''") << "\n";
  out << "  )\n  _describe command commands\n  return\nfi\nlocal command=$words[2]\nshift words\n(( CURRENT-- ))\n"
         "case $command in\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << command->get_name() << ")\n  _arguments -s";
    for (const CLI::Option *option : optionsOf(*command))
      for (const std::string &name : namesOf(*option)) {
        std::string value = valueOf(*option), joined;
        std::string row = name + "[" + text(option->get_description()) + "]";
        if (!value.empty()) {
          StringRef known = lookUp(words, *option, joined);
          row += ":" + text(value) + ":" + (known.empty() ? "_files" : "(" + known.str() + ")");
        }
        out << " \\\n    " << quoted(row, "'\\''");
      }
    out << " \\\n    '*:file:_files' ;;\n";
  }
  out << "esac\n";
}

static void printFish(const CLI::App &app, llvm::ArrayRef<OptionWords> words, llvm::raw_ostream &out) {
  auto text = [](StringRef plain) { return quoted(plain, "\\'"); };
  out << "# What fish completes kiln's command line with; made by kiln.\n";
  for (const CLI::App *command : commandsOf(app)) {
    out << "complete -c kiln -n __fish_use_subcommand -f -a " << command->get_name() << " -d "
        << text(command->get_description()) << "\n";
    for (const CLI::Option *option : optionsOf(*command)) {
      out << "complete -c kiln -n '__fish_seen_subcommand_from " << command->get_name() << "'";
      for (const std::string &name : option->get_snames())
        out << " -s " << name;
      for (const std::string &name : option->get_lnames())
        out << " -l " << name;
      std::string joined;
      if (!valueOf(*option).empty())
        out << " -r";
      if (StringRef known = lookUp(words, *option, joined); !known.empty())
        out << " -f -a " << text(known);
      out << " -d " << text(option->get_description()) << "\n";
    }
  }
}

llvm::Error driver::printCompletion(const CLI::App &app, llvm::ArrayRef<OptionWords> words, StringRef shell,
                                    llvm::raw_ostream &out) {
  if (shell == "bash")
    printBash(app, words, out);
  else if (shell == "zsh")
    printZsh(app, words, out);
  else if (shell == "fish")
    printFish(app, words, out);
  else
    return usageError("completion " + shell + ": no such shell", "shells are bash, zsh and fish");
  return llvm::Error::success();
}

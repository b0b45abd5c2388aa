//===- Main.cpp - kiln-golden: compare kiln with the reference data ------===//
//
//   kiln-golden shapetracker|symbolic|schedule|bytes FILE
//   kiln-golden programs FILE FOLDER
//
// Checks every case of FILE through the compiler's own code, prints each mismatch in a line and ends with "N passed, M
// failed"; the exit status is 1 if one failed or there was none. test/golden/README.md describes the files. The last
// form writes each program of a schedule file as a dump of the import stage, FOLDER/NAME.mlir.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Report.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <functional>
#include <iostream>

using namespace kiln::golden;

int main(int argc, char **argv) {
  CLI::App app("Checks the compiler against figures of the reference");
  app.require_subcommand(1);
  std::string path;
  std::function<void(const Json &, Report &)> check;
  auto kind = [&](const char *name, const char *help, auto function) {
    CLI::App *command = app.add_subcommand(name, help);
    command->add_option("file", path, "the data, JSON")->required();
    command->callback([&check, function] { check = function; });
  };
  kind("shapetracker", "views, merges and index expressions", checkShapeTrackers);
  kind("symbolic", "the simplifier of symbolic integers", checkSymbolic);
  kind("schedule", "kernels, estimates and memory of the classic policy", checkSchedules);
  kind("bytes", "bytes moved under both policies; by default no more", compareBytes);
  std::string folder;
  CLI::App *programs = app.add_subcommand("programs", "write the programs of a schedule file as graphs");
  programs->add_option("file", path, "the data, JSON")->required();
  programs->add_option("folder", folder, "where the graphs go")->required();
  programs->callback([&] { check = [&](const Json &file, Report &report) { writePrograms(file, folder, report); }; });
  CLI11_PARSE(app, argc, argv);

  std::ifstream stream(path);
  if (!stream) {
    std::cerr << "kiln-golden: " << path << ": cannot be opened\n";
    return 1;
  }
  Json file = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) {
    std::cerr << "kiln-golden: " << path << ": is not JSON\n";
    return 1;
  }
  Report report;
  try {
    check(file, report);
  } catch (const Json::exception &e) {
    report.mismatch(std::string("malformed: ") + e.what());
    report.end();
  }
  return report.finish();
}

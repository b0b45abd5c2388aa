//===- Report.h - The results of a run of checks -------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <set>
#include <string>

namespace kiln::golden {

using Json = nlohmann::json;

/// Counts cases and prints each mismatch of a case in a line of its own.
class Report {
public:
  /// Begins a case; `name` starts its lines.
  void begin(std::string name);
  void mismatch(const std::string &what);
  /// Prints a line that is not a mismatch.
  void note(const std::string &what);
  bool isBad() const { return bad_; }
  /// A mismatch for every field of `object` that `known` lacks.
  void expectFields(const Json &object, std::initializer_list<const char *> known);
  /// Ends the case.
  void end();
  /// Prints the last line; the exit status. A run without a case has failed.
  int finish();

private:
  std::string name_;
  bool bad_ = false;
  unsigned passed_ = 0, failed_ = 0;
};

/// Operators and leaves of an expression in the reference's rendering, an n-ary sum being n - 1 operators.
unsigned countNodes(const std::string &rendered);

/// Each checks one file; a case that cannot be read is a mismatch of that case.
void checkShapeTrackers(const Json &file, Report &report);
void checkSymbolic(const Json &file, Report &report);
void checkSchedules(const Json &file, Report &report);
/// Prints the bytes that each program of a schedule file moves under both policies; more for the default is a mismatch.
void compareBytes(const Json &file, Report &report);
/// Writes each program as a dump of the import stage.
void writePrograms(const Json &file, const std::string &folder, Report &report);

} // namespace kiln::golden

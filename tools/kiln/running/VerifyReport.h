//===- VerifyReport.h - What kiln verify prints -------------------------------===//
#pragma once

#include "Compare.h"
#include "StoredCase.h"
#include "tools/kiln/inspect/Json.h"

namespace kiln::driver {

/// The results of one model on standard output: line by line for people, or one document at the end (--json).
class VerifyReport {
public:
  VerifyReport(std::string model, bool isJson);

  /// Something about all cases: "output_0 next to it is not compared with".
  void note(const std::string &text);
  /// The next results are of this case.
  void beginCase(const StoredCase &one, bool isStored);
  /// The case has other outputs than the model, so none is compared. It counts as one that differs.
  void differInNumber(size_t ofModel, size_t stored);
  void compare(const std::string &name, const interp::HostTensor &got, const Comparison &result);
  /// The last line, or the document; whether all outputs agree. `judged` ran the model: a device, or the interpreter.
  bool conclude(llvm::StringRef judged);

private:
  std::string model_;
  bool isJson_;
  Json cases_ = Json::array(), notes_ = Json::array();
  size_t wrong_ = 0, compared_ = 0;
};

} // namespace kiln::driver

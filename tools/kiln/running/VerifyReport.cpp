#include "VerifyReport.h"

#include "kiln/kiln.h"
#include "support/Quote.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

VerifyReport::VerifyReport(std::string model, bool isJson) : model_(std::move(model)), isJson_(isJson) {}

void VerifyReport::note(const std::string &text) {
  notes_.push_back(text);
  if (!isJson_)
    llvm::outs() << plainText(model_) << ": " << text << "\n";
}

void VerifyReport::beginCase(const StoredCase &one, bool isStored) {
  std::string folder = one.folder.empty() ? "." : one.folder;
  Json &next = cases_.emplace_back(Json{{"wanted", isStored ? "stored" : "graph interpreter"}});
  if (isStored)
    next["folder"] = folder;
  next["outputs"] = Json::array();
  if (!isJson_)
    llvm::outs() << plainText(model_) << ": "
                 << (isStored ? "stored in " + plainText(folder) : "random inputs, against the graph interpreter")
                 << "\n";
}

void VerifyReport::differInNumber(size_t ofModel, size_t stored) {
  std::string problem = "the model has " + std::to_string(ofModel) + " outputs, stored are " + std::to_string(stored);
  cases_.back()["problem"] = problem;
  ++wrong_;
  if (!isJson_)
    llvm::outs() << problem << "\n";
}

static Json describeJson(const std::string &name, const HostTensor &got, const Comparison &result) {
  Json output = {{"name", name}, {"ok", result.equal}};
  if (got.isList) {
    output["dtype"] = kiln_dtype_name(KILN_SEQUENCE);
  } else {
    output["dtype"] = kiln_dtype_name(got.objects ? KILN_STRING : static_cast<kiln_dtype>(got.dtype));
    output["shape"] = got.dims;
  }
  if (result.comparable) {
    output["absolute"] = result.absolute;
    output["relative"] = result.relative;
    output["ulps"] = result.ulps;
  }
  if (!result.equal)
    output["problem"] = result.mismatch;
  return output;
}

void VerifyReport::compare(const std::string &name, const HostTensor &got, const Comparison &result) {
  cases_.back()["outputs"].push_back(describeJson(name, got, result));
  wrong_ += !result.equal;
  ++compared_;
  if (isJson_)
    return;
  llvm::outs() << plainText(name) << ": " << describe(got);
  if (result.comparable)
    llvm::outs() << ", largest error "
                 << llvm::format("%.3g absolute, %.3g relative, %.0f ULP", result.absolute, result.relative,
                                 result.ulps);
  llvm::outs() << ": " << (result.equal ? "ok" : result.mismatch) << "\n";
}

bool VerifyReport::conclude(llvm::StringRef judged) {
  if (!isJson_) {
    llvm::outs() << (wrong_ ? "FAILED" : "verified") << " on " << judged << ": " << compared_ - wrong_ << " of "
                 << compared_ << " outputs agree\n";
    return wrong_ == 0;
  }
  Json document = jsonDocument();
  document["model"] = model_;
  document["device"] = judged.str();
  document["ok"] = wrong_ == 0;
  document["cases"] = std::move(cases_);
  if (!notes_.empty())
    document["notes"] = std::move(notes_);
  printJson(document, llvm::outs());
  return wrong_ == 0;
}

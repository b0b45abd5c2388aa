#include "support/Error.h"

#include "llvm/Support/raw_ostream.h"

using namespace kiln;

char UserError::ID = 0;

void UserError::log(llvm::raw_ostream &os) const { os << text_; }

std::error_code UserError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

static llvm::Error make(ErrorKind kind, const llvm::Twine &cause, const llvm::Twine &remedy) {
  std::string text = cause.str();
  if (std::string advice = remedy.str(); !advice.empty())
    text += "; " + advice;
  return llvm::make_error<UserError>(kind, std::move(text));
}

llvm::Error kiln::failure(const llvm::Twine &cause, const llvm::Twine &remedy) {
  return make(ErrorKind::Failure, cause, remedy);
}

llvm::Error kiln::usageError(const llvm::Twine &cause, const llvm::Twine &remedy) {
  return make(ErrorKind::Usage, cause, remedy);
}

//===- Error.h - A user's mistake in one line ------------------------===//
//
// Every failure that a user can cause travels as an llvm::Error made here and is printed once, by the driver, as
//   kiln: FILE: node 'NAME' (OP): CAUSE; REMEDY
// A broken invariant inside the compiler is not such a failure: it asserts.
//
//===----------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln {

/// Why a command ends: it decides the exit status.
enum class ErrorKind {
  Failure, ///< the input, the machine or the model is at fault: exit status 1
  Usage,   ///< the command line is at fault: exit status 2
};

/// One user error. The text is a single line without "kiln:" before it and without a full stop after it.
class UserError : public llvm::ErrorInfo<UserError> {
public:
  static char ID;
  UserError(ErrorKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

  ErrorKind kind() const { return kind_; }
  const std::string &text() const { return text_; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorKind kind_;
  std::string text_;
};

/// An error of kind Failure. `cause` says what is wrong and where; `remedy`, if any, what to do about it.
llvm::Error failure(const llvm::Twine &cause, const llvm::Twine &remedy = "");

/// An error of kind Usage.
llvm::Error usageError(const llvm::Twine &cause, const llvm::Twine &remedy = "");

} // namespace kiln

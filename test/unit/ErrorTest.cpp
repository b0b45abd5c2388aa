#include "support/Error.h"

#include <catch2/catch.hpp>

TEST_CASE("an error's text is the cause, then the remedy") {
  CHECK(llvm::toString(kiln::failure("a.onnx: no output", "name one")) == "a.onnx: no output; name one");
  CHECK(llvm::toString(kiln::failure("a.onnx: no output")) == "a.onnx: no output");
}

TEST_CASE("an error knows whether the command line or the input is at fault") {
  llvm::handleAllErrors(kiln::usageError("no such flag"),
                        [](const kiln::UserError &e) { CHECK(e.kind() == kiln::ErrorKind::Usage); });
}

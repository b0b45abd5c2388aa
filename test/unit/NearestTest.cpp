#include "support/Nearest.h"

#include <catch2/catch.hpp>

using kiln::didYouMean;

TEST_CASE("a misspelt name is answered with the nearest, another with what else there is to say") {
  std::vector<llvm::StringRef> names = {"batch", "seq", "softmax", "Softmax_1"};
  CHECK(didYouMean("bacth", names, "none") == "did you mean 'batch'?");
  CHECK(didYouMean("sofmax", names, "none") == "did you mean 'softmax'?");
  CHECK(didYouMean("SOFTMAX_1", names, "none") == "did you mean 'Softmax_1'?");
  CHECK(didYouMean("sq", names, "none") == "did you mean 'seq'?");
  CHECK(didYouMean("depth", names, "none") == "none");
  CHECK(didYouMean("", names, "none") == "none");
  CHECK(didYouMean("batch", {}, "none") == "none");
}

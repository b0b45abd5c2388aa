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
  // Of names as many edits away, that which goes on in the same way for longest, and then with the nearest number.
  std::vector<llvm::StringRef> numbered = {"v2", "v3", "v4", "w5"};
  CHECK(didYouMean("v5", numbered, "none") == "did you mean 'v4'?");
  CHECK(didYouMean("v1", numbered, "none") == "did you mean 'v2'?");
  CHECK(didYouMean("batch", {}, "none") == "none");
  CHECK(didYouMean("sotfmxa", names, "none") == "none");
  CHECK(didYouMean("softmix_12", names, "none") == "did you mean 'Softmax_1'?");
  CHECK(didYouMean("softmix_12", names, "none", /*most=*/2) == "none");
}

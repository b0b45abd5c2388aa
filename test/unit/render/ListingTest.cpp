#include "Kernels.h"

#include "render/Listing.h"
#include "render/Number.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace kiln;

/// Lines without what the columns pad at their ends.
static std::string listingOf(llvm::StringRef text) { return render::listing(test::Module(text).kernel()); }

TEST_CASE("the dot product's fourteen uops") {
  CHECK(listingOf(test::kDot) ==
        R"(   0 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.int)      []                               0
   1 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.int)      []                               1
   2 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.int)      []                               2
   3 UOps.CONST          : dtypes.int                []                               0
   4 UOps.CONST          : dtypes.int                []                               2
   5 UOps.DEFINE_ACC     : dtypes.int                ['0', 6]                         (0,)
   6 UOps.RANGE          : dtypes.int                ['0', '2']                       (0, True)
   7 UOps.LOAD           : dtypes.int                [1, 6]                           None
   8 UOps.LOAD           : dtypes.int                [2, 6]                           None
   9 UOps.ALU            : dtypes.int                [7, 8]                           BinaryOps.MUL
  10 UOps.ALU            : dtypes.int                [5, 9]                           BinaryOps.ADD
  11 UOps.PHI            : dtypes.int                [5, 10]                          None
  12 UOps.ENDRANGE       :                           [6]                              None
  13 UOps.STORE          :                           [0, '0', 11]                     None
)");
}

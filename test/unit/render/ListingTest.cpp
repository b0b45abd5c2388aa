#include "Kernels.h"

#include "render/kernel/Listing.h"
#include "render/kernel/Number.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace kiln;

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

TEST_CASE("a reduction over two axes has one accumulator that names both ranges") {
  CHECK(listingOf(test::kSumOfMatrix) ==
        R"(   0 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               0
   1 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               1
   2 UOps.CONST          : dtypes.int                []                               0
   3 UOps.CONST          : dtypes.float              []                               0.0
   4 UOps.CONST          : dtypes.int                []                               2
   5 UOps.CONST          : dtypes.int                []                               3
   6 UOps.DEFINE_ACC     : dtypes.float              ['0.0', 7, 8]                    (0,)
   7 UOps.RANGE          : dtypes.int                ['0', '2']                       (0, True)
   8 UOps.RANGE          : dtypes.int                ['0', '3']                       (1, True)
   9 UOps.ALU            : dtypes.int                [7, '3']                         BinaryOps.MUL
  10 UOps.ALU            : dtypes.int                [9, 8]                           BinaryOps.ADD
  11 UOps.LOAD           : dtypes.float              [1, 10]                          None
  12 UOps.ALU            : dtypes.float              [6, 11]                          BinaryOps.ADD
  13 UOps.PHI            : dtypes.float              [6, 12]                          None
  14 UOps.ENDRANGE       :                           [8]                              None
  15 UOps.ENDRANGE       :                           [7]                              None
  16 UOps.STORE          :                           [0, '0', 13]                     None
)");
}

TEST_CASE("two reductions number their accumulators") {
  CHECK(listingOf(test::kVariance) ==
        R"(   0 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               0
   1 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               1
   2 UOps.CONST          : dtypes.int                []                               0
   3 UOps.CONST          : dtypes.float              []                               0.0
   4 UOps.CONST          : dtypes.float              []                               0.25
   5 UOps.CONST          : dtypes.float              []                               0.3333333432674408
   6 UOps.CONST          : dtypes.int                []                               4
   7 UOps.DEFINE_ACC     : dtypes.float              ['0.0', 8]                       (0,)
   8 UOps.RANGE          : dtypes.int                ['0', '4']                       (0, True)
   9 UOps.LOAD           : dtypes.float              [1, 8]                           None
  10 UOps.ALU            : dtypes.float              [7, 9]                           BinaryOps.ADD
  11 UOps.PHI            : dtypes.float              [7, 10]                          None
  12 UOps.ENDRANGE       :                           [8]                              None
  13 UOps.ALU            : dtypes.float              [11, '0.25']                     BinaryOps.MUL
  14 UOps.ALU            : dtypes.float              [13]                             UnaryOps.NEG
  15 UOps.DEFINE_ACC     : dtypes.float              ['0.0', 16]                      (1,)
  16 UOps.RANGE          : dtypes.int                ['0', '4']                       (1, True)
  17 UOps.LOAD           : dtypes.float              [1, 16]                          None
  18 UOps.ALU            : dtypes.float              [17, 14]                         BinaryOps.ADD
  19 UOps.ALU            : dtypes.float              [18, 18]                         BinaryOps.MUL
  20 UOps.ALU            : dtypes.float              [15, 19]                         BinaryOps.ADD
  21 UOps.PHI            : dtypes.float              [15, 20]                         None
  22 UOps.ENDRANGE       :                           [16]                             None
  23 UOps.ALU            : dtypes.float              [21, '0.3333333432674408']       BinaryOps.MUL
  24 UOps.STORE          :                           [0, '0', 23]                     None
)");
}

TEST_CASE("a masked load names its alternative, then its gate") {
  CHECK(listingOf(test::kPad) ==
        R"(   0 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               0
   1 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               1
   2 UOps.CONST          : dtypes.int                []                               -1
   3 UOps.CONST          : dtypes.int                []                               0
   4 UOps.CONST          : dtypes.float              []                               0.0
   5 UOps.CONST          : dtypes.int                []                               4
   6 UOps.CONST          : dtypes.int                []                               5
   7 UOps.RANGE          : dtypes.int                ['0', '5']                       (0, False)
   8 UOps.ALU            : dtypes.int                [7, '-1']                        BinaryOps.ADD
   9 UOps.ALU            : dtypes.bool               ['0', 7]                         BinaryOps.CMPLT
  10 UOps.ALU            : dtypes.bool               [7, '4']                         BinaryOps.CMPLT
  11 UOps.ALU            : dtypes.bool               [9, 10]                          BinaryOps.AND
  12 UOps.LOAD           : dtypes.float              [1, 8, '0.0', 11]                None
  13 UOps.STORE          :                           [0, 7, 12]                       None
  14 UOps.ENDRANGE       :                           [7]                              None
)");
}

TEST_CASE("floats print as Python prints them") {
  CHECK(render::floatText(2.0) == "2.0");
  CHECK(render::floatText(0.1f) == "0.10000000149011612");
  CHECK(render::floatText(1e-4) == "0.0001");
  CHECK(render::floatText(1e-5) == "1e-05");
  CHECK(render::floatText(123456.789) == "123456.789");
  CHECK(render::floatText(1e15) == "1000000000000000.0");
  CHECK(render::floatText(1.5e16) == "1.5e+16");
  CHECK(render::floatText(-0.0) == "-0.0");
  CHECK(render::floatText(-1e-310) == "-1e-310");
  CHECK(render::floatText(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(render::floatText(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

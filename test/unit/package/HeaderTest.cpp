#include "Folder.h"
#include "SumModel.h"
#include "WriteFile.h"

#include "render/llvm/LlvmEmit.h"
#include "render/model/CHeader.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace kiln;
using kiln::test::Folder;
using kiln::test::TextModel;

static std::string compile(const char *compiler) {
  return std::string(compiler) + " -Wall -Wextra -Wpedantic -Werror ";
}

static std::string types() {
  return llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(KILN_TEST_INCLUDE "/kiln/types.h")))
      ->getBuffer()
      .str();
}

TEST_CASE("a C program runs a model through its header") {
  Folder folder;
  TextModel model = test::sumModel("dense<[10.0, 20.0, 30.0]> : tensor<3xf32>", "");
  render::ProgramOptions options;
  options.symbol = render::modelSymbol("sum");
  options.prefix = "sum";
  REQUIRE(!test::writeFile(folder.path("sum.o"), [&](llvm::raw_ostream &out) {
    return render::emitProgram(render::Version{model.tables(), llvm::cantFail(target::describeCpu(""))}, 2, options,
                               render::LlvmFile::Object, "", out);
  }));
  folder.write("sum.h", render::modelHeader(model.tables(), "sum", types()));
  folder.write("main.c", R"(
    #include <stdio.h>
    int main(void) {
      kiln_context *context;
      if (sum_create(NULL, &context, NULL, 0))
        return 1;
      const float a[3] = {100, 200, 300}, *sum;
      if (sum_run(context, a, &sum))
        return 1;
      printf("%g %g %g, ", sum[0], sum[1], sum[2]);
      if (sum_run(context, NULL, &sum))
        return 1;
      printf("%g, ", sum[0]);
      float mine[SUM_SUM_ELEMENTS];
      if (sum_run_into(context, a, mine, SUM_SUM_ELEMENTS))
        return 1;
      printf("%g, ", mine[2]);
      printf("%d, %s\n", sum_run_into(context, a, mine, 2), sum_error(context));
      sum_inputs in = {.a = a};
      sum_outputs out = {.sum = NULL};
      if (sum_run_structs(context, &in, &out) || out.sum == mine)
        return 1;
      printf("%g, ", out.sum[1]);
      out.sum = mine;
      out.sum_room = SUM_SUM_ELEMENTS;
      in.a = NULL;
      if (sum_run_structs_into(context, &in, &out) || out.sum != mine)
        return 1;
      printf("%g\n", mine[1]);
      sum_destroy(context);
      return 0;
    })");
  std::string libraries =
      " " KILN_TEST_RUNTIME "/libkiln_device_cpu.a " KILN_TEST_RUNTIME "/libkiln_runtime.a -pthread "
      "-lm";
  REQUIRE(folder.shell(compile("cc -std=c11") + "-include sum.h main.c sum.o -o main" + libraries) == 0);
  REQUIRE(folder.shell("./main > out.txt") == 0);
  CHECK(folder.read("out.txt") == "110.5 220.5 330.5, 11.5, 330.5, 1, output 'sum': wanted room for 12 bytes, given a "
                                  "capacity of 8\n220.5, 22.5\n");
}

TEST_CASE("a header of awkward names and computed sizes is C and C++") {
  Folder folder;
  TextModel model(R"(
    host.program @model attributes {
        inputs = [#host.port<"int", tensor<?x?xf16, #kiln.dims<["n", "n*3+m"]>>>, #host.port<"a/b", tensor<i1>>,
                  #host.port<"a.b", tensor<2xui8>>, #host.port<"1st */", tensor<4xbf16>>, #host.port<"", tensor<f64>>, #host.port<"memset", tensor<f64>>,
                  #host.port<"linux", tensor<f64>>],
        outputs = [#host.port<"context", tensor<i64>>, #host.port<"n", tensor<?xi16, #kiln.dims<["m//2"]>>>],
        weights = [], symbols = [#kiln.symbol<"n", 0 to 100, default 1>, #kiln.symbol<"m", 0 to 9, default 2>]} {
    ^bb0(%n: i64, %m: i64):
      host.done
    })");
  folder.write("odd.h", render::modelHeader(model.tables(), "3d-net", types()));
  folder.write("use.c", R"(
    kiln_status use(kiln_context *c, const uint16_t *x, const uint8_t *y, const double *z) {
      const int64_t *first;
      const int16_t *second;
      int64_t dims[1];
      return model_3d_net_run(c, 3, 4, x, y, y, x, z, z, z, &first, &second, dims);
    })");
  CHECK(folder.shell(compile("cc -std=c11") + "-include odd.h -c use.c -o use.o") == 0);
  CHECK(folder.shell(compile("cc -std=gnu11") + "-include odd.h -c use.c -o use.o") == 0);
  CHECK(folder.shell(compile("clang-22 -std=c11") + "-include odd.h -c use.c -o use.o") == 0);
  CHECK(folder.shell(compile("c++ -std=c++17 -x c++") + "-include odd.h -c use.c -o use.o") == 0);
  INFO(folder.read("odd.h"));
  CHECK(folder.read("odd.h").find("dims[1] = m + (n * 3);") != std::string::npos);
}

TEST_CASE("no model's names are the runtime's or the C library's") {
  CHECK(render::headerName("kiln") == "kiln_2");
  CHECK(render::headerName("my-net.v2") == "my_net_v2");
  // C reserves names that begin with an underscore.
  CHECK(render::headerName("3d") == "model_3d");
  CHECK(render::headerName("") == "model");
  CHECK(render::headerName("\u03c0") == "model");
  CHECK(render::headerName("_Net") == "model_Net");
  CHECK(render::headerName("__net") == "model_net");
  CHECK(render::headerName("_net") == "model_net");
  // timer_create and pthread_create are functions of the C library.
  CHECK(render::headerName("timer") == "timer_2");
  CHECK(render::headerName("pthread") == "pthread_2");
}

//===- HeaderNamesTest.cpp - Headers of models whose names are anything -----------------===//
//
// A header is included together with others, in C and C++ of any year, and its names come from a model that knows of
// none of these. The names that could break it cannot be listed by hand: the compilers at hand are asked which macros
// their headers have, and each of them is a tensor here. Headers of two models meet in one file.
//
//===--------------------------------------------------------------------------------------===//
#include "Folder.h"
#include "test/unit/render/llvm/TextModel.h"

#include "render/model/CHeader.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace kiln;
using kiln::test::Folder;
using kiln::test::TextModel;

static std::string types() {
  return llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(KILN_TEST_INCLUDE "/kiln/types.h")))
      ->getBuffer()
      .str();
}

static std::string include(llvm::ArrayRef<const char *> headers) {
  std::string text;
  for (const char *header : headers)
    text += "#include \"" + std::string(header) + "\"\n";
  return text;
}

/// Inputs of these names, each one float, and an output.
static TextModel modelOf(llvm::ArrayRef<std::string> inputs, llvm::StringRef output = "y") {
  std::string ports;
  for (const std::string &name : inputs)
    ports += (ports.empty() ? "" : ", ") + ("#host.port<\"" + name + "\", tensor<f32>>");
  return TextModel("host.program @model attributes {inputs = [" + ports + "], outputs = [#host.port<\"" + output.str() +
                   "\", tensor<3xi16>>], weights = [], symbols = []} {\n  host.done\n}");
}

/// Inputs and outputs as they are given, with their types.
static TextModel modelOf(const std::string &inputs, const std::string &outputs, const std::string &symbols,
                         const std::string &arguments) {
  return TextModel("host.program @model attributes {inputs = [" + inputs + "], outputs = [" + outputs +
                   "], weights = [], symbols = [" + symbols + "]} {\n" + arguments + "  host.done\n}");
}

static constexpr const char *kCompilers[] = {"gcc -std=c11",
                                             "gcc -std=gnu17",
                                             "gcc -std=c2x",
                                             "g++ -std=c++20 -xc++",
                                             "clang-22 -std=c11",
                                             "clang-22 -std=gnu17",
                                             "clang-22 -std=c23",
                                             "clang++-22 -std=c++20 -xc++",
                                             "clang++-22 -std=gnu++26 -xc++"};

/// What compilers say of the program `text`, in each C and C++; "" where none says anything.
static std::string complaints(const Folder &folder, const std::string &text) {
  folder.write("text.c", text);
  std::string all;
  for (std::string compiler : kCompilers)
    if (folder.shell(compiler +
                     " -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers -I. text.c "
                     "2> errors.txt") != 0)
      all += "refused by " + compiler + ":\n" + folder.read("errors.txt").substr(0, 600);
  return all;
}

static bool refusedByAll(llvm::StringRef complaints) {
  return complaints.count("refused by ") == std::size(kCompilers);
}

TEST_CASE("every macro and every keyword may be a name") {
  Folder folder;
  folder.write("system.h", R"(
    #include <assert.h>
    #include <ctype.h>
    #include <dirent.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <fenv.h>
    #include <float.h>
    #include <inttypes.h>
    #include <iso646.h>
    #include <limits.h>
    #include <locale.h>
    #include <math.h>
    #include <netdb.h>
    #include <pthread.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <stdbool.h>
    #include <stddef.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <termios.h>
    #include <time.h>
    #include <unistd.h>
    #include <wchar.h>
    #ifndef __cplusplus
    #include <complex.h>
    #include <stdalign.h>
    #include <stdatomic.h>
    #include <stdnoreturn.h>
    #include <threads.h>
    #endif
    )");
  REQUIRE(folder.shell("(for cc in 'gcc -std=gnu17' 'clang-22 -std=gnu23' 'g++ -std=gnu++20 -x c++'; do "
                       "$cc -D_GNU_SOURCE -E -dM system.h; done) | "
                       "sed -nE 's/^#define ([A-Za-z0-9_]+)( .*|)$/\\1/p' | sort -u > names.txt") == 0);
  std::string macros = folder.read("names.txt");
  REQUIRE(macros.find("INT32_MAX\n") != std::string::npos);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(macros).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<std::string> names(lines.begin(), lines.end());
  for (const char *keyword :
       {"_Atomic", "_BitInt", "_Bool", "_Decimal32", "_Generic", "__typeof__", "alignas", "asm", "bool", "char8_t",
        "class", "co_await", "concept", "consteval", "constexpr", "constinit", "contract_assert", "decltype", "int",
        "nullptr", "requires", "restrict", "static_assert", "this", "thread_local", "typeof", "typeof_unqual", "xor",
        // of the header
        "NAME_H", "KILN_OK", "KILN_TYPES_H", "kiln_string", "kiln_tensor", "int64_t", "context", "axis", "name_run",
        "name_run_tensors", "name_run_structs", "name_inputs", "kiln_inputs", "kiln_output0", "NAME_INT_2_ELEMENTS",
        "/*", "*/", "//", "?\?/"})
    names.push_back(keyword);
  TextModel model = modelOf(names);
  folder.write("name.h", render::modelHeader(model.tables(), "name", types()));
  CHECK(complaints(folder, "#define _GNU_SOURCE 1\n" + include({"system.h", "name.h"}) +
                               "int main(void) { return NAME_INT32_MAX_ELEMENTS - 1; }\n") == "");
}

TEST_CASE("names that are made of others are free") {
  Folder folder;
  TextModel model = modelOf(
      R"(#host.port<"past", tensor<?x2xf32, #kiln.dims<["n", "2"]>> alias <0, 0, 8>>, #host.port<"past_room", tensor<f32>>,
                               #host.port<"y_dims", tensor<f32>>, #host.port<"z_room", tensor<f32>>)",
      R"(#host.port<"now", tensor<?x2xf32, #kiln.dims<["n+1", "2"]>> alias <0, 0, 8>>, #host.port<"y", tensor<2xf32>>,
                               #host.port<"z", tensor<2xf32>>, #host.port<"y_2", tensor<2xf32>>)",
      R"(#kiln.symbol<"n", 0 to 100, default 1>)", "^bb0(%n: i64):\n");
  folder.write("made.h", render::modelHeader(model.tables(), "made", types()));
  CHECK(complaints(folder, include({"made.h"})) == "");
  INFO(folder.read("made.h"));
  CHECK(folder.read("made.h").find("const float **y_2, const float **z_2, const float **y_2_2") != std::string::npos);
}

TEST_CASE("what two models' headers have alike is never the wrong one") {
  Folder folder;
  auto write = [&](const char *file, const char *name, llvm::ArrayRef<std::string> inputs, const char *output) {
    TextModel model = modelOf(inputs, output);
    folder.write(file, render::modelHeader(model.tables(), name, types(), llvm::StringRef(file).drop_back(2)));
  };
  // One macro of two models with one value, then of one with another.
  write("a.h", "a", {"b_c", "e_f"}, "b_e");
  write("a_b.h", "a_b", {"c"}, "e_f");
  write("a_e.h", "a_e", {"g"}, "f");
  std::string both = include({"a.h", "a_b.h", "a_e.h", "a.h"});
  CHECK(complaints(folder, both + "int use[A_B_C_ELEMENTS == 1 ? 1 : -1];\n") == "");
  std::string errors = complaints(folder, both + "int use[A_E_F_ELEMENTS];\n");
  CHECK(refusedByAll(errors));
  CHECK(errors.find("A_E_F_ELEMENTS_is_of_two_models") != std::string::npos);

  // Names that differ in case, and names that differ in what C has no letters for.
  write("Net.h", "Net", {"x"}, "y");
  write("net.h", "net", {"z"}, "y");
  CHECK(complaints(folder, include({"Net.h", "net.h"}) + R"(
    int use(kiln_context *context, const float *x, const int16_t **y) {
      return Net_run(context, x, y) || net_run(context, x, y);
    })") == "");
  write("my-net.h", "my-net", {"x"}, "y");
  write("my_net.h", "my_net", {"x"}, "y");
  errors = complaints(folder, include({"my-net.h", "my_net.h"}));
  CHECK(refusedByAll(errors));
  CHECK(errors.find("names in the header of another model begin with my_net_ too; compile one of the two with another "
                    "--name") != std::string::npos);
}

TEST_CASE("inputs and outputs are structs, too") {
  Folder folder;
  TextModel model = modelOf(
      R"(#host.port<"past", tensor<?x2xf32, #kiln.dims<["n", "2"]>> alias <0, 0, 8>>, #host.port<"x", tensor<2xi1>>)",
      R"(#host.port<"now", tensor<?x2xf32, #kiln.dims<["n+1", "2"]>> alias <0, 0, 8>>, #host.port<"y", tensor<2xf32>>,
                               #host.port<"z", tensor<?xi64, #kiln.dims<["n"]>>>)",
      R"(#kiln.symbol<"n", 0 to 100, default 1>)", "^bb0(%n: i64):\n");
  folder.write("net.h", render::modelHeader(model.tables(), "net", types()));
  TextModel none = modelOf("", R"(#host.port<"y", tensor<2xf32>>)", "", "");
  folder.write("none.h", render::modelHeader(none.tables(), "none", types()));
  INFO(folder.read("net.h"));
  CHECK(complaints(folder, include({"net.h", "none.h"}) + R"(
    kiln_status use(kiln_context *context, float *past, const uint8_t *x, float *y, int64_t *z) {
      net_inputs in = {.n = 3, .past = past, .past_room = 16, .x = x};
      struct net_outputs out = {.y = y, .y_room = 2, .z = z, .z_room = 3};
      none_inputs nothing = {0};
      none_outputs some = {0};
      if (net_run_structs(context, &in, &out) || none_run_structs(context, &nothing, &some))
        return KILN_DEVICE_ERROR;
      in.past_room = out.z_dims[0] + (int64_t)some.y[0];
      return net_run_structs_into(context, &in, &out);
    })") == "");
  CHECK(refusedByAll(complaints(folder, include({"net.h"}) + R"(
    kiln_status use(kiln_context *c, net_inputs *in, net_outputs *out) { return net_run_structs(c, out, in); })")));
}

// A compiled model as its user meets it: the program of the model written by hand, run in a shell. People type its
// arguments and scripts read its output, so both are compared as text. Wrong use is status 2, a failure status 1, each
// with one line on standard error; that holds also where standard output cannot be written.
#include "TempFolder.h"
#include "kiln/npy.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

struct Ran {
  int status;
  std::string out, err;
};

class Program : public TempFolder {
public:
  /// Runs the program in the folder.
  Ran operator()(const std::string &arguments, const std::string &environment = "") const {
    std::string command =
        "cd '" + *this / "" + "' && " + environment + " " + KILN_TEST_PROGRAM + " " + arguments + " >out.txt 2>err.txt";
    int status = std::system(command.c_str());
    Ran ran = {WEXITSTATUS(status), read(*this / "out.txt"), read(*this / "err.txt")};
    std::filesystem::remove(*this / "out.txt");
    std::filesystem::remove(*this / "err.txt");
    return ran;
  }

  void save(const std::string &name, std::vector<float> values, std::vector<int64_t> dims,
            kiln_dtype dtype = KILN_FLOAT32) const {
    kiln_tensor tensor = {values.data(), dtype, int32_t(dims.size()), {}, 0};
    std::copy(dims.begin(), dims.end(), tensor.dims);
    REQUIRE(kiln_npy_write((*this / name).c_str(), &tensor, nullptr, 0) == KILN_OK);
  }
};

const std::vector<float> rows = {1, 2, 3, 4, 5, 6};

} // namespace

TEST_CASE("files are inputs in declared order, results are printed") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  run.save("bias.npy", {0, 0, 0}, {3});
  Ran ran = run("x.npy");
  CHECK(ran.status == 0);
  CHECK(ran.out == "y: float32 [2]\n[327. 660.]\n");
  CHECK(ran.err.empty());
  CHECK(run("x.npy bias.npy").out == "y: float32 [2]\n[321. 654.]\n");
  CHECK(run("-- x.npy bias.npy").out == "y: float32 [2]\n[321. 654.]\n");
}

TEST_CASE("inputs go by name too") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  run.save("bias.npy", {0, 0, 0}, {3});
  CHECK(run("--input bias=bias.npy --input=x=x.npy").out == "y: float32 [2]\n[321. 654.]\n");
  CHECK(run("--input bias=bias.npy x.npy").out == "y: float32 [2]\n[321. 654.]\n");
}

TEST_CASE("results go to a folder that is made for them") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  CHECK(run("x.npy --output-dir a/b").status == 0);
  kiln_tensor y;
  REQUIRE(kiln_npy_read((run / "a/b/output_0.npy").c_str(), &y, nullptr, 0) == KILN_OK);
  CHECK(y.dims[0] == 2);
  CHECK(static_cast<float *>(y.data)[1] == 660);
  free(y.data);
}

TEST_CASE("names, dtypes and shapes are listed") {
  CHECK(Program()("--list").out == "input x: float32 [batch, 3]\n"
                                   "input bias: float32 [3], has a default\n"
                                   "output y: float32 [batch]\n"
                                   "symbol batch: 1 to 64, default 2\n");
}

TEST_CASE("help names every option") {
  Ran ran = Program()("--help");
  CHECK(Program()("-h").out == ran.out);
  CHECK(ran.status == 0);
  for (const char *option :
       {"--input NAME=FILE", "--output-dir DIR", "--random[=SEED]", "--bench[=N]", "--threads N", "--list", "--help"})
    CHECK_THAT(ran.out, Catch::Matchers::Contains(option));
  CHECK_THAT(ran.out, !Catch::Matchers::Contains("--weights")); // which are in it
}

TEST_CASE("random inputs depend on the seed alone") {
  Program run;
  std::string one = run("--random").out;
  CHECK_THAT(one, Catch::Matchers::StartsWith("y: float32 [2]\n["));
  CHECK(run("--random=0 --threads 3").out == one);
  CHECK(run("--random=1").out != one);
}

TEST_CASE("a benchmark's last line has a fixed form") {
  Ran ran = Program()("--bench=7");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out,
             Catch::Matchers::Matches("median \\d+\\.\\d{3} us, min \\d+\\.\\d{3} us over 7 runs at batch = 2\n"));
  CHECK_THAT(Program()("--bench").out, Catch::Matchers::EndsWith("over 100 runs at batch = 2\n"));
}

TEST_CASE("DEBUG logs launches to standard error") {
  Ran ran = Program()("--random", "DEBUG=2");
  CHECK_THAT(ran.err, Catch::Matchers::Contains("*** CPU        1 E_3 "));
  CHECK(ran.out == Program()("--random").out);
}

TEST_CASE("wrong use is one line and status 2") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  auto fails = [&](const std::string &arguments) {
    Ran ran = run(arguments);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(fails("") ==
        "affine: input 'x': wanted float32 [batch, 3], given none; give it with --input x=FILE.npy or values as "
        "'[1, 2]', or all with --random\n");
  CHECK(fails("--frob") == "affine: --frob: no such option; see --help\n");
  CHECK(fails("--no-prnt") == "affine: --no-prnt: no such option; did you mean '--no-print'?\n");
  CHECK(fails("--thraeds=2") == "affine: --thraeds=2: no such option; did you mean '--threads'?\n");
  CHECK(fails("-x") == "affine: -x: no such option; see --help\n");
  CHECK(fails("x.npy x.npy x.npy") == "affine: x.npy: one file more than the model has inputs; --list shows them\n");
  CHECK(fails("x.npy --input x=other.npy") ==
        "affine: other.npy: input 'x' has a file already, x.npy; give each once\n");
  CHECK(fails("--input z=x.npy") == "affine: z=x.npy: no input has this name; --list shows the names\n");
  CHECK(fails("--input x.npy") == "affine: x.npy: wanted --input NAME=FILE\n");
  CHECK(fails("--input") == "affine: --input: this option wants a value; see --help\n");
  CHECK(fails("x.npy --weights w") == "affine: --weights w: this program has its weights in it; leave it out\n");
  CHECK(fails("--list=3") == "affine: --list=3: this option takes no value\n");
  CHECK(fails("--threads 0") == "affine: 0: wanted --threads N, from 1 to 1024\n");
  CHECK(fails("--threads=2x") == "affine: 2x: wanted --threads N, from 1 to 1024\n");
  CHECK(fails("--bench=0") == "affine: 0: wanted --bench=N, from 1 to 1000000000 runs\n");
  CHECK(fails("--bench 30") == "affine: --bench 30: write --bench=30, or give an input's value before --bench\n");
  CHECK(fails("--random 3") == "affine: --random 3: write --random=3, or give an input's value before --random\n");
  CHECK(fails("--random=-1") == "affine: -1: wanted --random=SEED, a whole number\n");
}

TEST_CASE("a failure is one line with the file, and status 1") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  run.save("long.npy", rows, {6});
  run.save("int.npy", rows, {2, 3}, KILN_INT32);
  run.save("many.npy", std::vector<float>(65 * 3), {65, 3});
  run.write("text.npy", "hello");
  auto fails = [&](const std::string &arguments) {
    Ran ran = run(arguments);
    CHECK(ran.status == 1);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(fails("none.npy") == "affine: none.npy: cannot be read: No such file or directory; name a .npy file, or give "
                             "values as 3, '[1, 2]' or 2x2xf32=0\n");
  CHECK(fails("text.npy") == "affine: text.npy: is not a .npy file; save the array with numpy.save\n");
  CHECK(fails("long.npy") == "affine: long.npy: input 'x': wanted float32 [batch, 3], given float32 [6]; --list shows "
                             "what the model takes\n");
  CHECK(fails("int.npy") == "affine: int.npy: input 'x': wanted float32 [batch, 3], given int32 [2, 3]; --list shows "
                            "what the model takes\n");
  CHECK(fails("many.npy") ==
        "affine: many.npy: input 'x': axis 0 (batch): wanted a size from 1 to 64, given 65; --list "
        "shows what the model takes\n");
}

TEST_CASE("results that cannot be written") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  run.write("file", "");
  std::filesystem::create_directories(run / "taken/output_0.npy");
  CHECK(run("x.npy --output-dir file").err ==
        "affine: file: cannot be written: Not a directory; give another --output-dir\n");
  CHECK(run("x.npy --output-dir file/below").err ==
        "affine: file/below: cannot be written: Not a directory; give another --output-dir\n");
  CHECK(run("x.npy --output-dir ''").err ==
        "affine: : cannot be written: its name is empty; give another --output-dir\n");
  Ran ran = run("x.npy --output-dir taken");
  CHECK(ran.status == 1);
  CHECK(ran.err == "affine: taken/output_0.npy: cannot be written: Is a directory; give another --output-dir\n");
  CHECK(std::distance(std::filesystem::directory_iterator(run / "taken"), {}) == 1);
}

TEST_CASE("places that cannot be written are told before the run, and nothing is left of the trial") {
  Program run;
  run.save("x.npy", rows, {2, 3});
  run.write("file", "");
  auto fails = [&](const std::string &option) {
    Ran ran = run("x.npy " + option);
    CHECK(ran.status == 1);
    CHECK(ran.out.empty()); // the outputs would be there after the run
    return ran.err;
  };
  CHECK(fails("--output-dir file/below") ==
        "affine: file/below: cannot be written: Not a directory; give another --output-dir\n");
  CHECK(fails("--output-dir /proc/none") ==
        "affine: /proc/none: cannot be written: No such file or directory; give another --output-dir\n");
  CHECK(fails("--profile=none/trace.json") == "affine: none/trace.json: cannot be written: No such file or directory; "
                                              "name another place with --profile=FILE\n");
  CHECK(fails("--profile=/dev/null") ==
        "affine: /dev/null: cannot be written: it is not a regular file; name another place with --profile=FILE\n");
  CHECK(run("x.npy --output-dir new/below --threads 0").status == 2);
  CHECK(fails("none.npy --output-dir new/below").find("none.npy") != std::string::npos);
  CHECK(!std::filesystem::exists(run / "new"));
}

TEST_CASE("a name that moves a terminal's cursor is one plain line in an error") {
  CHECK(
      Program()("\"$(printf '\\033[2Ja\\nb').npy\"").err ==
      "affine: ?[2Ja b.npy: cannot be read: No such file or directory; name a .npy file, or give values as 3, '[1, 2]' "
      "or 2x2xf32=0\n");
}

TEST_CASE("a full standard output is a failure") {
  Program run;
  for (const char *option : {"--random", "--list", "--help"}) {
    std::string command = std::string(KILN_TEST_PROGRAM) + " " + option + " >/dev/full 2>'" + run / "err" + "'";
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
    CHECK(run.read(run / "err") ==
          "affine: standard output: cannot be written: No space left on device; send it elsewhere\n");
  }
}

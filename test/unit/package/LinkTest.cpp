// A program that kiln makes is run elsewhere, where there is neither kiln nor LLVM. So the tests link real programs,
// look at what they depend on, and run them. Two builds in different folders have to be the same bytes. Weights may
// come from a file, whose content is checked, or stay in one that the program is given. A link that fails leaves no
// files.
#include "Folder.h"
#include "SumModel.h"
#include "WriteFile.h"

#include "package/Link.h"
#include "package/OutputFile.h"
#include "package/Safetensors.h"
#include "render/llvm/LlvmEmit.h"
#include "render/model/WeightData.h"
#include "support/ContentHash.h"

using namespace kiln;
using kiln::test::Folder;
using kiln::test::TextModel;

static constexpr char kDense[] = "dense<[10.0, 20.0, 30.0]> : tensor<3xf32>";

static llvm::Error writeObject(TextModel &model, const std::string &path, llvm::StringRef folder = "",
                               render::WeightPlacement placement = render::WeightPlacement::Section) {
  render::ProgramOptions options;
  options.name = "sum";
  options.weights = placement;
  return test::writeFile(path, [&](llvm::raw_ostream &out) {
    return render::emitProgram(render::Version{model.tables(), llvm::cantFail(target::describeCpu(""))}, 2, options,
                               render::LlvmFile::Object, folder, out);
  });
}

static llvm::Error link(llvm::ArrayRef<std::string> objects, const package::LinkOptions &options,
                        const std::string &output) {
  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> program = outputs.add(output);
  if (!program)
    return program.takeError();
  if (llvm::Error error = package::linkExecutable(objects, options, **program))
    return error;
  return outputs.commit();
}

static llvm::Error link(const std::string &object, const std::string &output, bool isStatic = false) {
  package::LinkOptions options;
  options.runtimeFolder = KILN_TEST_RUNTIME;
  options.isStatic = isStatic;
  return link({object}, options, output);
}

TEST_CASE("a program depends on libc and libm, and computes") {
  Folder folder;
  TextModel model = test::sumModel(kDense, "");
  REQUIRE(!writeObject(model, folder.path("sum.o")));
  REQUIRE(!link(folder.path("sum.o"), folder.path("sum")));
  CHECK(folder.files() == 2);
  REQUIRE(folder.shell("./sum > out.txt") == 0);
  CHECK(folder.read("out.txt").find("11.5 22.5 33.5") != std::string::npos);
  REQUIRE(folder.shell(
              "ldd ./sum | grep -v 'linux-vdso\\|libc.so\\|libm.so\\|libpthread.so\\|ld-linux' > ldd.txt; true") == 0);
  CHECK(folder.read("ldd.txt") == "");
  CHECK(folder.read("sum").size() < 110 * 1024);
}

TEST_CASE("a static program depends on nothing") {
  Folder folder;
  TextModel model = test::sumModel(kDense, "");
  REQUIRE(!writeObject(model, folder.path("sum.o")));
  REQUIRE(!link(folder.path("sum.o"), folder.path("sum"), /*isStatic=*/true));
  CHECK(folder.shell("./sum > out.txt && ldd ./sum 2>&1 | grep -q 'statically linked\\|not a dynamic executable'") ==
        0);
  CHECK(folder.read("out.txt").find("11.5 22.5 33.5") != std::string::npos);
}

TEST_CASE("two builds in two places are the same bytes") {
  Folder one, two;
  for (const Folder *folder : {&one, &two}) {
    TextModel model = test::sumModel(kDense, "");
    REQUIRE(!writeObject(model, folder->path("sum.o")));
    REQUIRE(!link(folder->path("sum.o"), folder->path("sum")));
  }
  CHECK(one.read("sum.o") == two.read("sum.o"));
  CHECK(one.read("sum") == two.read("sum"));
}

TEST_CASE("a program may be linked from a host object and an archive of kernels") {
  std::string built[2];
  for (std::string &bytes : built) {
    Folder folder;
    TextModel model = test::sumModel(kDense, "");
    REQUIRE(!test::writeFile(folder.path("host.o"), [&](llvm::raw_ostream &host) {
      return test::writeFile(folder.path("kernels.a"), [&](llvm::raw_ostream &kernels) {
        return render::emitParts(render::Version{model.tables(), llvm::cantFail(target::describeCpu(""))}, 2, {}, "",
                                 host, kernels);
      });
    }));
    package::LinkOptions options;
    options.runtimeFolder = KILN_TEST_RUNTIME;
    REQUIRE(!link({folder.path("host.o"), folder.path("kernels.a")}, options, folder.path("sum")));
    REQUIRE(folder.shell("./sum > out.txt") == 0);
    CHECK(folder.read("out.txt").find("11.5 22.5 33.5") != std::string::npos);
    bytes = folder.read("sum");
  }
  CHECK(built[0] == built[1]);
}

TEST_CASE("weights come from a file, and the file's content is checked") {
  Folder folder;
  float data[] = {0, 10, 20, 30};
  folder.write("data.bin", llvm::StringRef(reinterpret_cast<char *>(data), sizeof(data)));
  std::string hash = contentHash(llvm::StringRef(reinterpret_cast<char *>(data + 1), 12));
  std::string reference = "#graph.file<\"data.bin\", 4, 12, \"" + hash + "\">";
  TextModel model = test::sumModel(reference, folder.path(""));
  REQUIRE(!writeObject(model, folder.path("sum.o"), folder.path("")));
  REQUIRE(!link(folder.path("sum.o"), folder.path("sum")));
  REQUIRE(folder.shell("./sum > out.txt") == 0);
  CHECK(folder.read("out.txt").find("11.5 22.5 33.5") != std::string::npos);

  data[2] = 21;
  folder.write("data.bin", llvm::StringRef(reinterpret_cast<char *>(data), sizeof(data)));
  std::string path = folder.path("data.bin");
  CHECK(llvm::toString(writeObject(model, folder.path("other.o"), folder.path(""))) ==
        path + ": weight 'v': its bytes have changed since the model was imported; import the model again");
  folder.write("data.bin", "short");
  CHECK(llvm::toString(writeObject(model, folder.path("other.o"), folder.path(""))) ==
        path + ": weight 'v': the file ends before byte 16");
  REQUIRE(folder.shell("rm data.bin") == 0);
  CHECK(llvm::toString(writeObject(model, folder.path("other.o"), folder.path(""))) ==
        path + ": weight 'v': cannot be read: No such file or directory; it has to lie in the model's folder");
  CHECK(folder.read("other.o") == "(no file)");
}

TEST_CASE("weights may stay in a safetensors file") {
  Folder folder;
  TextModel model = test::sumModel(kDense, "");
  REQUIRE(!writeObject(model, folder.path("sum.o"), "", render::WeightPlacement::Absent));
  REQUIRE(!link(folder.path("sum.o"), folder.path("sum")));
  std::vector<package::SafetensorsEntry> entries;
  render::ModelTables tables = model.tables();
  entries.reserve(tables.weights.size());
  for (const render::WeightEntry &weight : tables.weights)
    entries.push_back({weight.name, static_cast<kiln_dtype>(weight.dtype), weight.dims, weight.bytes,
                       [&](llvm::raw_ostream &out) { return render::writeWeight(weight, "", out); }});
  REQUIRE(!test::writeFile(folder.path("w.safetensors"), [&](llvm::raw_pwrite_stream &out) {
    return package::writeSafetensors(entries, out).takeError();
  }));
  REQUIRE(folder.shell("./sum --weights w.safetensors > out.txt") == 0);
  CHECK(folder.read("out.txt").find("11.5 22.5 33.5") != std::string::npos);
  CHECK(folder.shell("./sum > /dev/null 2>&1") != 0);
}

TEST_CASE("a link that fails names the linker's complaint and leaves no file") {
  Folder folder;
  folder.write("bad.o", "no object at all");
  std::string message = llvm::toString(link(folder.path("bad.o"), folder.path("bad")));
  CHECK(message.find(folder.path("bad") + ": cannot link: ") == 0);
  CHECK(message.find("bad.o") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(folder.files() == 1);

  package::LinkOptions options;
  options.runtimeFolder = KILN_TEST_RUNTIME;
  options.compiler = "no-such-compiler";
  CHECK(llvm::toString(link({folder.path("bad.o")}, options, folder.path("bad")))
            .find("no C compiler 'no-such-compiler' is in PATH; ") != std::string::npos);
}

TEST_CASE("an installation without the runtime is named") {
  Folder folder;
  CHECK(llvm::toString(package::findRuntime(folder.path("bin/kiln")).takeError()) ==
        folder.path("lib/kiln") + ": the runtime's libraries are not there; build or install kiln as a whole");
}

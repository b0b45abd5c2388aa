// What the runtime does when the machine fails it. A use of the runtime is run again and again: its first allocation
// fails, its second, and so on; then its first call that opens, reads, writes, maps, links or renames a file. Each time
// either the use succeeds, with the right result, or it says in one line what failed. In any case it gives back all
// memory, every file and every map, and files appear whole or not at all.
//
// The linker sends the runtime's calls through the functions below (--wrap); what libc calls inside is out of reach.
#include "TempFolder.h"
#include "affine.h"
#include "kiln/cli.h"
#include "kiln/npy.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>

namespace {

enum class Kind { None, Memory, Files };

struct Injection {
  Kind kind = Kind::None;
  int64_t at = 0;         ///< the call that fails, from 1
  bool isLasting = false; ///< and all after it
  int64_t calls = 0;
};
Injection injection;
std::atomic<int64_t> held; ///< blocks of memory, open files and maps
bool isCounting = false;   ///< whether the runtime runs

bool fails(Kind kind, int error) {
  if (!isCounting || injection.kind != kind)
    return false;
  int64_t call = ++injection.calls;
  if (injection.isLasting ? call < injection.at : call != injection.at)
    return false;
  errno = error;
  return true;
}

/// Notes that something is held from now on.
template <typename T> T hold(T made, bool isGood) {
  held += isGood;
  return made;
}

} // namespace

#define WRAP(RESULT, NAME, ...)                                                                                        \
  RESULT __real_##NAME(__VA_ARGS__);                                                                                   \
  RESULT __wrap_##NAME(__VA_ARGS__)

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
WRAP(void *, malloc, size_t bytes) {
  void *memory = fails(Kind::Memory, ENOMEM) ? nullptr : __real_malloc(bytes);
  return hold(memory, memory);
}
WRAP(void *, calloc, size_t count, size_t bytes) {
  void *memory = fails(Kind::Memory, ENOMEM) ? nullptr : __real_calloc(count, bytes);
  return hold(memory, memory);
}
WRAP(void *, aligned_alloc, size_t alignment, size_t bytes) {
  void *memory = fails(Kind::Memory, ENOMEM) ? nullptr : __real_aligned_alloc(alignment, bytes);
  return hold(memory, memory);
}
WRAP(void *, realloc, void *old, size_t bytes) {
  void *memory = fails(Kind::Memory, ENOMEM) ? nullptr : __real_realloc(old, bytes);
  return hold(memory, memory && !old);
}
WRAP(void, free, void *memory) {
  held -= memory != nullptr;
  __real_free(memory);
}
WRAP(FILE *, fopen, const char *path, const char *mode) {
  FILE *file = fails(Kind::Files, EIO) ? nullptr : __real_fopen(path, mode);
  return hold(file, file);
}
WRAP(FILE *, fdopen, int descriptor, const char *mode) { // takes the descriptor over
  return fails(Kind::Files, ENOMEM) ? nullptr : __real_fdopen(descriptor, mode);
}
WRAP(int, fclose, FILE *file) { // closes it even where it fails
  held--;
  int result = __real_fclose(file);
  return fails(Kind::Files, EIO) ? EOF : result;
}
WRAP(size_t, fread, void *data, size_t size, size_t count, FILE *file) {
  return fails(Kind::Files, EIO) ? 0 : __real_fread(data, size, count, file);
}
WRAP(size_t, fwrite, const void *data, size_t size, size_t count, FILE *file) {
  if (!isCounting || fileno(file) <= 2 || !fails(Kind::Files, ENOSPC))
    return __real_fwrite(data, size, count, file);
  file->_flags |= 0x20; // glibc's _IO_ERR_SEEN: what fails leaves its mark, for which ferror asks
  return 0;
}
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
  mode_t mode = makes ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  int descriptor = fails(Kind::Files, EMFILE) ? -1 : __real_open(path, flags, mode);
  return hold(descriptor, descriptor >= 0);
}
WRAP(int, close, int descriptor) {
  held--;
  return __real_close(descriptor);
}
WRAP(ssize_t, write, int descriptor, const void *data, size_t bytes) {
  return fails(Kind::Files, ENOSPC) ? -1 : __real_write(descriptor, data, bytes);
}
WRAP(int, fsync, int descriptor) { return fails(Kind::Files, EIO) ? -1 : __real_fsync(descriptor); }
WRAP(int, fstat, int descriptor, struct stat *status) {
  return fails(Kind::Files, EIO) ? -1 : __real_fstat(descriptor, status);
}
WRAP(int, mkdir, const char *path, mode_t mode) { return fails(Kind::Files, EROFS) ? -1 : __real_mkdir(path, mode); }
WRAP(int, linkat, int fromFolder, const char *from, int toFolder, const char *to, int flags) {
  return fails(Kind::Files, EXDEV) ? -1 : __real_linkat(fromFolder, from, toFolder, to, flags);
}
WRAP(int, renameat, int fromFolder, const char *from, int toFolder, const char *to) {
  return fails(Kind::Files, EXDEV) ? -1 : __real_renameat(fromFolder, from, toFolder, to);
}
WRAP(void *, mmap, void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  void *map = fails(Kind::Files, ENODEV) ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, descriptor, offset);
  return hold(map, map != MAP_FAILED);
}
WRAP(int, munmap, void *map, size_t bytes) {
  held--;
  return __real_munmap(map, bytes);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

/// How a use of the runtime ended. Where it succeeded `result` is what it made, else one line.
struct Outcome {
  bool isGood;
  std::string text;
};

/// Runs `use` once for each call that can fail, in each of the two ways.
void inject(Kind kind, const std::function<Outcome()> &use, const std::function<void(bool)> &look = [](bool) {}) {
  auto once = [&](Injection wanted) {
    injection = wanted;
    int64_t before = held;
    isCounting = true;
    Outcome outcome = use();
    isCounting = false;
    INFO("of " << before << " held before, now " << held);
    CHECK(held == before);
    return outcome;
  };
  Outcome want = once({kind, INT64_MAX});
  REQUIRE(want.isGood);
  int64_t calls = injection.calls;
  CHECK(calls > 0);
  int64_t failures = 0;
  for (int64_t at = 1; at <= calls; at++)
    for (bool isLasting : {false, true}) {
      Outcome outcome = once({kind, at, isLasting});
      INFO("call " << at << " of " << calls << (isLasting ? " and all after it fail: " : " fails: ") << outcome.text);
      failures += !outcome.isGood;
      if (outcome.isGood)
        CHECK(outcome.text == want.text);
      else
        CHECK((outcome.text.size() > 5 && outcome.text.find('\n') == std::string::npos));
      look(outcome.isGood);
    }
  CHECK(failures > 0);
}

/// Two sizes, with threads, memory that must be copied and results in either kind of memory.
Outcome runs(const kiln_model &model, const char *weights) {
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 2;
  options.weights_path = weights;
  kiln_context *context;
  char error[300];
  if (kiln_context_create(&model, &options, &context, error, sizeof error))
    return {false, error};
  alignas(64) float memory[64 * 3 + 1] = {};
  float y[64];
  std::string text;
  bool isGood = true;
  for (int64_t batch : {2, 64}) {
    kiln_tensor inputs[] = {{memory + 1, KILN_FLOAT32, 2, {batch, 3}, 0}, {}};
    kiln_tensor outputs[] = {{batch == 2 ? nullptr : y, KILN_FLOAT32, 0, {}, sizeof y}};
    isGood = isGood && kiln_run(context, inputs, 2, outputs, 1) == KILN_OK;
    if (isGood)
      text += std::to_string(static_cast<float *>(outputs[0].data)[batch - 1]) + " ";
  }
  if (!isGood)
    text = kiln_context_error(context);
  kiln_context_destroy(context);
  return {isGood, text};
}

std::string bytesOf(const kiln_tensor &tensor) {
  return {static_cast<char *>(tensor.data), static_cast<char *>(tensor.data) + 24};
}

float rows[] = {1, 2, 3, 4, 5, 6};
const kiln_tensor x = {rows, KILN_FLOAT32, 2, {2, 3}, 0};

Outcome reads(const std::string &path) {
  kiln_tensor tensor;
  char error[300];
  if (kiln_npy_read(path.c_str(), &tensor, error, sizeof error)) {
    CHECK(tensor.data == nullptr);
    return {false, error};
  }
  std::string bytes = bytesOf(tensor);
  free(tensor.data);
  return {true, bytes};
}

/// The program, as a shell starts it.
Outcome program(const TempFolder &folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"affine", folder / "x.npy", "--weights", folder / "w"});
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  std::fflush(stdout);
  int descriptors[] = {dup(1), dup(2)};
  int files[] = {creat((folder / "text").c_str(), 0600), creat((folder / "error").c_str(), 0600)};
  dup2(files[0], 1);
  dup2(files[1], 2);
  int status = kiln_cli_main(&affine_model_without_weights, int(argv.size()), argv.data());
  std::fflush(stdout);
  dup2(descriptors[0], 1);
  dup2(descriptors[1], 2);
  isCounting = false;
  for (int each : {descriptors[0], descriptors[1], files[0], files[1]})
    __real_close(each);
  std::string error = TempFolder::read(folder / "error");
  if (status == 0)
    return {true, TempFolder::read(folder / "text") + error};
  CHECK((error.substr(0, 8) == "affine: " && error.back() == '\n'));
  return {false, error.substr(0, error.size() - 1)};
}

std::string weightFile() {
  const std::string header = R"({"layer.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})";
  const float weight[] = {1, 10, 100};
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header +
         std::string(reinterpret_cast<const char *>(weight), sizeof weight);
}

} // namespace

TEST_CASE("a context, its runs and its end") {
  inject(Kind::Memory, [] { return runs(affine_model, nullptr); });
}

TEST_CASE("a run of the same sizes allocates nothing") {
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 2;
  kiln_context *context;
  REQUIRE(kiln_context_create(&affine_model, &options, &context, nullptr, 0) == KILN_OK);
  alignas(64) float memory[5 * 3 + 1] = {};
  kiln_tensor inputs[] = {{memory + 1, KILN_FLOAT32, 2, {5, 3}, 0}, {}}, y = {};
  REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  injection = {Kind::Memory, INT64_MAX};
  isCounting = true;
  CHECK(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
  isCounting = false;
  CHECK(injection.calls == 0);
  kiln_context_destroy(context);
}

TEST_CASE("weights from a file") {
  TempFolder folder;
  std::string path = folder.write("w", weightFile());
  for (Kind kind : {Kind::Memory, Kind::Files})
    inject(kind, [&] { return runs(affine_model_without_weights, path.c_str()); });
}

TEST_CASE("reading an array") {
  TempFolder folder;
  REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &x, nullptr, 0) == KILN_OK);
  std::string fortran = TempFolder::read(folder / "x.npy");
  fortran.replace(fortran.find("False"), 5, "True ");
  folder.write("f.npy", fortran);
  for (Kind kind : {Kind::Memory, Kind::Files})
    for (const char *name : {"x.npy", "f.npy"})
      inject(kind, [&] {
        Outcome outcome = reads(folder / name);
        if (!outcome.isGood && kind == Kind::Files)
          CHECK_THAT(outcome.text, Catch::Contains("cannot be read: Input/output error"));
        return outcome;
      });
}

TEST_CASE("writing an array: what was there, or all of the new") {
  TempFolder folder;
  REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &x, nullptr, 0) == KILN_OK);
  const std::string whole = TempFolder::read(folder / "x.npy");
  for (Kind kind : {Kind::Memory, Kind::Files})
    inject(
        kind,
        [&] {
          folder.write("x.npy", "old");
          char error[300];
          bool isGood = kiln_npy_write((folder / "x.npy").c_str(), &x, error, sizeof error) == KILN_OK;
          return isGood ? Outcome{true, "written"} : Outcome{false, error};
        },
        [&](bool isGood) {
          CHECK(TempFolder::read(folder / "x.npy") == (isGood ? whole : "old"));
          CHECK(folder.fileCount() == 1);
        });
}

TEST_CASE("a program from its arguments to its files") {
  TempFolder folder;
  REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &x, nullptr, 0) == KILN_OK);
  folder.write("w", weightFile());
  for (Kind kind : {Kind::Memory, Kind::Files})
    inject(
        kind, [&] { return program(folder, {"--output-dir", folder / "out"}); },
        [&](bool isGood) {
          std::filesystem::path out = folder / "out";
          bool isThere = std::filesystem::exists(out / "output_0.npy");
          CHECK(isThere >= isGood);
          if (isThere)
            CHECK(std::filesystem::file_size(out / "output_0.npy") == 128 + 8);
          if (std::filesystem::exists(out))
            CHECK(std::distance(std::filesystem::directory_iterator(out), {}) == isThere);
          std::filesystem::remove_all(out);
        });
}

TEST_CASE("a program's profile, whole or not at all") {
  TempFolder folder;
  REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &x, nullptr, 0) == KILN_OK);
  folder.write("w", weightFile());
  for (Kind kind : {Kind::Memory, Kind::Files})
    inject(
        kind,
        [&] {
          std::filesystem::remove(folder / "trace");
          return program(folder, {"--threads", "1", "--profile=" + (folder / "trace")});
        },
        [&](bool isGood) {
          bool isThere = std::filesystem::exists(folder / "trace");
          CHECK(isThere == isGood);
          if (isThere)
            CHECK_THAT(TempFolder::read(folder / "trace"), Catch::EndsWith("}]}\n"));
          CHECK(folder.fileCount() == 4 + isThere); // with x.npy, w, text and error
        });
}

namespace {

/// The caller's memory: counts what it gave and what is not back.
struct Counter {
  int64_t given = 0, out = 0;
  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto *counter = static_cast<Counter *>(user);
    counter->given++;
    counter->out++;
    return __real_aligned_alloc(alignment, bytes);
  }
  static void release(void *user, void *memory) {
    static_cast<Counter *>(user)->out--;
    __real_free(memory);
  }
};

/// How often the C library is asked for memory while `use` runs.
int64_t callsOf(const std::function<void()> &use) {
  injection = {};
  injection.kind = Kind::Memory;
  injection.at = INT64_MAX;
  isCounting = true;
  use();
  isCounting = false;
  int64_t calls = injection.calls;
  injection = {};
  return calls;
}

} // namespace

TEST_CASE("a context's memory comes from the caller's functions") {
  alignas(64) float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  kiln_tensor inputs[2] = {{rows, KILN_FLOAT32, 2, {2, 3}, 0}, {}}, y = {};
  Counter counter;
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 3;
  options.memory = {Counter::allocate, Counter::release, &counter};
  CHECK(callsOf([&] {
          kiln_context *context = nullptr;
          REQUIRE(kiln_context_create(&affine_model, &options, &context, nullptr, 0) == KILN_OK);
          REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
          int64_t before = counter.given;
          REQUIRE(kiln_run(context, inputs, 2, &y, 1) == KILN_OK);
          CHECK(counter.given == before);
          CHECK(counter.out > 0);
          kiln_context_destroy(context);
        }) == 0);
  CHECK(counter.out == 0);

  options.memory.release = nullptr;
  kiln_context *context = nullptr;
  char error[100];
  CHECK(kiln_context_create(&affine_model, &options, &context, error, sizeof error) == KILN_INVALID_ARGUMENT);
  CHECK(std::string(error) == "kiln_options.memory has no release; set both functions");
}

TEST_CASE("what a call of the library works in is kept, and where there is none the cause is said") {
  kiln_model model = {};
  model.abi = KILN_ABI_VERSION;
  model.name = "call";
  model.devices = affine_model.devices;
  model.device_count = affine_model.device_count;
  model.run = [](kiln_context *context, const int64_t *) {
    static const double matrix[4] = {2, 1, 1, 3};
    static double result;
    static const kiln_call_info info = {kiln_call_determinant, "det", 1, 1, 0};
    const kiln_slice buffers[2] = {{&result, 0}, {const_cast<double *>(matrix), 0}};
    const int64_t bytes[2] = {sizeof result, sizeof matrix}, sizes[3] = {1, 2, KILN_FLOAT64};
    kiln_status status = kiln_rt_call(context, &info, buffers, bytes, sizes);
    CHECK((status || result == 5));
    return status;
  };
  kiln_context *context = nullptr;
  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  auto run = [&] { return kiln_run(context, nullptr, 0, nullptr, 0); };
  auto runs = [&] { CHECK(run() == KILN_OK); };
  CHECK(callsOf(runs) > 0);
  CHECK(callsOf(runs) == 0);
  kiln_context_destroy(context);

  REQUIRE(kiln_context_create(&model, nullptr, &context, nullptr, 0) == KILN_OK);
  injection = {};
  injection.kind = Kind::Memory;
  injection.at = 1;
  injection.isLasting = true;
  isCounting = true;
  kiln_status status = run();
  isCounting = false;
  injection = {};
  CHECK(status == KILN_OUT_OF_MEMORY);
  CHECK(std::string(kiln_context_error(context)) == "node 'det': no memory for a matrix");
  kiln_context_destroy(context);
}

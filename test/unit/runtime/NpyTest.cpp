// A compiled program reads its inputs and writes its outputs as .npy files, which other programs wrote and will read.
// So there are files of every version, order and dtype as NumPy writes them, and written files are compared byte for
// byte. Files that are cut off at any place or have any byte of the header changed must be read or refused, and a write
// that fails leaves no file.
#include "kiln/npy.h"
#include "TempFolder.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace {

/// A version 1 file with this dictionary, which is padded, and these data.
std::string npy(std::string dictionary, const std::string &data, char version = 1) {
  dictionary.resize((dictionary.size() + 12 + 64) / 64 * 64 - (version == 1 ? 10 : 12), ' ');
  dictionary.back() = '\n';
  std::string length = {char(dictionary.size()), char(dictionary.size() >> 8)};
  if (version > 1)
    length += std::string(2, '\0');
  return std::string("\x93NUMPY") + version + '\0' + length + dictionary + data;
}

std::string npy(const char *descr, const char *shape, const std::string &data, const char *fortran = "False") {
  return npy(std::string("{'descr': '") + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }",
             data);
}

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

struct Parsed {
  kiln_tensor tensor = {};
  kiln_status status;
  char error[200] = "";

  explicit Parsed(const std::string &bytes) {
    status = kiln_npy_parse(bytes.data(), bytes.size(), &tensor, error, sizeof error);
  }
  ~Parsed() { free(tensor.data); }
  template <typename T> std::vector<T> values(size_t count) const {
    REQUIRE(status == KILN_OK);
    const T *data = static_cast<const T *>(tensor.data);
    return {data, data + count};
  }
};

std::string errorOf(const std::string &bytes) {
  Parsed parsed(bytes);
  CHECK(parsed.status != KILN_OK);
  CHECK(parsed.tensor.data == nullptr);
  return parsed.error;
}

} // namespace

TEST_CASE("a file of NumPy's reads") {
  Parsed x(npy("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6})));
  CHECK(x.values<float>(6) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(x.tensor.dtype == KILN_FLOAT32);
  CHECK(x.tensor.rank == 2);
  CHECK(x.tensor.dims[0] == 2);
  CHECK(x.tensor.dims[1] == 3);
  CHECK(reinterpret_cast<uintptr_t>(x.tensor.data) % 64 == 0);
}

TEST_CASE("versions 2 and 3 read too") {
  for (char version : {2, 3})
    CHECK(Parsed(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }", bytesOf<int16_t>({7}), version))
              .values<int16_t>(1)[0] == 7);
}

TEST_CASE("scalars, one axis and empty arrays read") {
  CHECK(Parsed(npy("<f8", "()", bytesOf<double>({1.5}))).tensor.rank == 0);
  CHECK(Parsed(npy("<f8", "(1,)", bytesOf<double>({1.5}))).tensor.rank == 1);
  Parsed empty(npy("<f8", "(0, 3)", ""));
  CHECK(empty.status == KILN_OK);
  CHECK(empty.tensor.data != nullptr);
}

TEST_CASE("the other byte order is swapped") {
  CHECK(Parsed(npy(">i4", "(2,)", std::string("\0\0\0\1\0\0\1\0", 8))).values<int32_t>(2) ==
        std::vector<int32_t>{1, 256});
}

TEST_CASE("Fortran's order becomes C's") {
  CHECK(Parsed(npy("|i1", "(2, 3)", bytesOf<int8_t>({1, 4, 2, 5, 3, 6}), "True")).values<int8_t>(6) ==
        std::vector<int8_t>{1, 2, 3, 4, 5, 6});
  CHECK(Parsed(npy("|i1", "(2, 2, 2)", bytesOf<int8_t>({1, 5, 3, 7, 2, 6, 4, 8}), "True")).values<int8_t>(8) ==
        std::vector<int8_t>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("keys come in any order, in either quotes") {
  CHECK(Parsed(npy("{\"shape\":(1 , ),\"fortran_order\":False,\"descr\":\"|u1\"}", "\x09")).values<uint8_t>(1)[0] == 9);
}

TEST_CASE("a bool is 0 or 1") {
  CHECK(Parsed(npy("|b1", "(3,)", std::string("\0\1\2", 3))).values<uint8_t>(3) == std::vector<uint8_t>{0, 1, 1});
}

TEST_CASE("every dtype and rank goes to a file and back") {
  TempFolder folder;
  alignas(8) char bytes[64 * 8] = {1, 0, 1, 1};
  for (int dtype = KILN_BOOL; dtype <= KILN_FLOAT64; dtype++)
    for (int rank = 0; rank <= KILN_MAX_RANK; rank++) {
      kiln_tensor tensor = {bytes, kiln_dtype(dtype), rank, {2, 1, 2, 1, 2, 1, 2, 1}, 0}, again;
      char error[100] = "";
      INFO(error);
      REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &tensor, error, sizeof error) == KILN_OK);
      REQUIRE(kiln_npy_read((folder / "x.npy").c_str(), &again, error, sizeof error) == KILN_OK);
      CHECK(again.dtype == tensor.dtype);
      CHECK(again.rank == rank);
      CHECK(std::equal(again.dims, again.dims + rank, tensor.dims));
      CHECK(std::memcmp(again.data, bytes, kiln_dtype_size(tensor.dtype) << (rank + 1) / 2) == 0);
      free(again.data);
    }
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("what is written is what NumPy writes") {
  TempFolder folder;
  float data[] = {1, 2};
  kiln_tensor tensor = {data, KILN_FLOAT32, 1, {2}, 0};
  REQUIRE(kiln_npy_write((folder / "x.npy").c_str(), &tensor, nullptr, 0) == KILN_OK);
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(folder.read(folder / "x.npy") == std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text +
                                             std::string(127 - 10 - text.size(), ' ') + "\n" + bytesOf<float>({1, 2}));
}

TEST_CASE("a truncated file is an error wherever it ends, from memory and from disk") {
  TempFolder folder;
  std::string whole = npy("<f4", "(2, 2)", bytesOf<float>({1, 2, 3, 4}));
  for (size_t length = 0; length < whole.size(); length++) {
    std::string part = whole.substr(0, length);
    std::string error = errorOf(part);
    CHECK_FALSE(error.empty());
    kiln_tensor tensor;
    char again[200];
    CHECK(kiln_npy_read(folder.write("x.npy", part).c_str(), &tensor, again, sizeof again) == KILN_IO_ERROR);
    CHECK(error == again);
  }
  CHECK(errorOf(whole.substr(0, whole.size() - 1)) == "the data end after 15 of 16 bytes; save the array again");
  CHECK(errorOf(whole.substr(0, 40)) == "the file ends within its header; save the array again");
}

TEST_CASE("a header with any byte changed is read or refused, never trusted") {
  std::string whole = npy("<f4", "(2, 2)", bytesOf<float>({1, 2, 3, 4}));
  for (size_t i = 0; i < whole.size() - 16; i++)
    for (char byte : {'\0', ' ', '9', '}', '(', ',', '\'', '\xff'}) {
      std::string changed = whole;
      changed[i] = byte;
      Parsed parsed(changed);
      CHECK((parsed.status == KILN_OK) == (parsed.tensor.data != nullptr));
    }
}

TEST_CASE("what is not such a file, and what kiln has no type for") {
  CHECK(errorOf("hello world") == "is not a .npy file; save the array with numpy.save");
  CHECK(errorOf(npy("<c8", "(1,)", "12345678")) ==
        "the array's dtype '<c8' is unknown; convert it with numpy.ndarray.astype");
  CHECK(errorOf(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")) ==
        "the .npy header is corrupt, or its dtype is a record; save one array of numbers");
  CHECK(errorOf(npy("|i1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "1")) ==
        "the array has 9 axes where a tensor has 8 at most; reshape it");
  CHECK(errorOf(npy("<f8", "(4611686018427387904, 4)", "")) == "the array's shape is too large; save the array again");
  CHECK(errorOf(npy("<f8", "(99999999999999999999,)", "")) ==
        "the .npy header is corrupt, or its dtype is a record; save one array of numbers");
  CHECK(errorOf(npy("<f8", "(-1,)", "")) ==
        "the .npy header is corrupt, or its dtype is a record; save one array of numbers");
  CHECK(errorOf(npy("<f8", "(1000000000000,)", "12345678")) ==
        "the data end after 8 of 8000000000000 bytes; save the array again");
}

TEST_CASE("files that cannot be read") {
  TempFolder folder;
  kiln_tensor tensor;
  char error[100];
  CHECK(kiln_npy_read((folder / "none.npy").c_str(), &tensor, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "cannot be read: No such file or directory; name a .npy file");
  CHECK(kiln_npy_read((folder / "").c_str(), &tensor, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "is a folder; name a .npy file");
}

TEST_CASE("a pipe reads, and one that lies about its size ends in an error") {
  TempFolder folder;
  std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::vector<float> values(100000, 2.5f);
  for (bool whole : {true, false}) {
    std::string bytes = npy("<f4", whole ? "(100000,)" : "(1000000000000,)", bytesOf(values));
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
    kiln_tensor tensor;
    char error[100];
    kiln_status status = kiln_npy_read(path.c_str(), &tensor, error, sizeof error);
    writer.join();
    CHECK(status == (whole ? KILN_OK : KILN_IO_ERROR));
    if (whole)
      CHECK(static_cast<float *>(tensor.data)[99999] == 2.5f);
    else
      CHECK(std::string(error) == "the data end after 400000 of 4000000000000 bytes; save the array again");
    free(tensor.data);
  }
}

TEST_CASE("a failed write leaves nothing behind") {
  TempFolder folder;
  std::filesystem::create_directory(folder / "taken.npy");
  float data[] = {1};
  kiln_tensor tensor = {data, KILN_FLOAT32, 1, {1}, 0};
  char error[100];
  CHECK(kiln_npy_write((folder / "none/x.npy").c_str(), &tensor, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "No such file or directory");
  CHECK(kiln_npy_write((folder / "taken.npy").c_str(), &tensor, error, sizeof error) == KILN_IO_ERROR);
  CHECK(std::string(error) == "Is a directory");
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("a write follows no link that was planted") {
  TempFolder folder;
  std::string path = folder / "x.npy", guess = path + "." + std::to_string(getpid()) + ".tmp";
  std::string victim = folder.write("victim", "precious");
  std::filesystem::create_symlink(victim, guess);
  std::filesystem::create_symlink(victim, path);
  float data[] = {1};
  kiln_tensor tensor = {data, KILN_FLOAT32, 1, {1}, 0};
  REQUIRE(kiln_npy_write(path.c_str(), &tensor, nullptr, 0) == KILN_OK);
  CHECK(TempFolder::read(victim) == "precious");
  CHECK_FALSE(std::filesystem::is_symlink(path));
  CHECK(TempFolder::read(path).substr(1, 5) == "NUMPY");
}

TEST_CASE("what is written has the rights that the user's mask gives") {
  TempFolder folder;
  float data[] = {1};
  kiln_tensor tensor = {data, KILN_FLOAT32, 1, {1}, 0};
  mode_t mask = umask(0027);
  kiln_status status = kiln_npy_write((folder / "x.npy").c_str(), &tensor, nullptr, 0);
  umask(mask);
  REQUIRE(status == KILN_OK);
  CHECK(std::filesystem::status(folder / "x.npy").permissions() == std::filesystem::perms(0640));
}

TEST_CASE("a narrow dtype is a raw byte in a file, where its name is lost") {
  Parsed raw(npy("<V1", "(2,)", "\x38\x7f"));
  CHECK(raw.values<uint8_t>(2) == std::vector<uint8_t>{0x38, 0x7f});
  CHECK(raw.tensor.dtype == KILN_UINT8);
  // ml_dtypes uses that name for float8_e5m2.
  Parsed named(npy("<f1", "(1,)", "\x3c"));
  CHECK(named.values<uint8_t>(1) == std::vector<uint8_t>{0x3c});
  CHECK(named.tensor.dtype == KILN_FLOAT8_E5M2);
}

/// The file of a list.
static std::string written(kiln_dtype dtype, void *elements, int64_t count) {
  TempFolder folder;
  kiln_tensor tensor = {};
  tensor.data = elements;
  tensor.dtype = dtype;
  tensor.rank = 1;
  tensor.dims[0] = count;
  char error[200];
  std::string path = folder / "x.npy";
  REQUIRE(kiln_npy_write(path.c_str(), &tensor, error, sizeof error) == KILN_OK);
  return TempFolder::read(path);
}

TEST_CASE("a narrow dtype is written as ml_dtypes' arrays are") {
  uint8_t codes[] = {1, 15};
  CHECK(written(KILN_INT4, codes, 2) == npy("<V1", "(2,)", "\x01\x0f"));
}

/// UCS-4 of these characters.
static std::string wide(const std::u32string &text) { return bytesOf(std::vector<char32_t>(text.begin(), text.end())); }

TEST_CASE("strings of NumPy's are UTF-8, their zeros cut off") {
  Parsed x(npy("<U3", "(2,)", wide(U"a\u00e9\U0001f600") + wide(std::u32string(U"b\0\0", 3))));
  CHECK(x.tensor.dtype == KILN_STRING);
  auto strings = x.values<const char *>(2);
  CHECK(strings[0] == std::string("a\xc3\xa9\xf0\x9f\x98\x80"));
  CHECK(strings[1] == std::string("b"));
  Parsed bytes(npy("|S3", "(2,)", std::string("ab\0\xc3\xa9\0", 6)));
  strings = bytes.values<const char *>(2);
  CHECK(strings[0] == std::string("ab"));
  CHECK(strings[1] == std::string("\xc3\xa9"));
  Parsed big(npy(">U1", "(1,)", std::string("\0\0\0x", 4)));
  CHECK(big.values<const char *>(1)[0] == std::string("x"));
  Parsed columns(npy("|S1", "(2, 2)", "abcd", "True"));
  CHECK(columns.values<const char *>(4)[1] == std::string("c"));
  CHECK_THAT(errorOf(npy("<U0", "(2,)", "")), Catch::Contains("dtype '<U0' is unknown"));
  CHECK_THAT(errorOf(npy("<U2000000000", "(2000000000,)", "")), Catch::Contains("too large"));
}

TEST_CASE("strings are written as NumPy's are, as wide as the longest") {
  const char *strings[] = {"a\xc3\xa9", nullptr, "\xff"};
  std::u32string wanted(U"a\u00e9\0\0\ufffd\0", 6);
  CHECK(written(KILN_STRING, static_cast<void *>(strings), 3) == npy("<U2", "(3,)", wide(wanted)));
}

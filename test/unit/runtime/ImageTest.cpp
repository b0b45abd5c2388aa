// Decoding of one small picture in every kind; of what is left of it when it is cut short, changed or asks for too
// much; and where allocations fail. Libraries decode most kinds, and such libraries are known for what a bad file can
// make them do. The linker sends allocations through the functions below (--wrap), the libraries' too, which also count
// what is not given back.
#include "kiln/call.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

int64_t allocationsLeft = -1; ///< until one fails; below 0: none does
int64_t blocks = 0;           ///< what is allocated and not freed

bool fails() { return allocationsLeft >= 0 && allocationsLeft-- == 0; }
void *hold(void *memory) {
  blocks += memory != nullptr;
  return memory;
}

} // namespace

#define WRAP(RESULT, NAME, ...)                                                                                        \
  RESULT __real_##NAME(__VA_ARGS__);                                                                                   \
  RESULT __wrap_##NAME(__VA_ARGS__)

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
WRAP(void *, malloc, size_t bytes) { return hold(fails() ? nullptr : __real_malloc(bytes)); }
WRAP(void *, calloc, size_t count, size_t bytes) { return hold(fails() ? nullptr : __real_calloc(count, bytes)); }
WRAP(void *, aligned_alloc, size_t alignment, size_t bytes) {
  return hold(fails() ? nullptr : __real_aligned_alloc(alignment, bytes));
}
WRAP(void *, realloc, void *old, size_t bytes) {
  void *memory = fails() ? nullptr : __real_realloc(old, bytes);
  return old ? memory : hold(memory);
}
WRAP(void, free, void *memory) {
  blocks -= memory != nullptr;
  __real_free(memory);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

using Bytes = std::vector<unsigned char>;

/// Memory of a call.
struct Scratch : kiln_scratch {
  Scratch() : kiln_scratch{take, take} {}
  std::vector<std::unique_ptr<char[]>> memory;
  static void *take(kiln_scratch *scratch, int64_t bytes) {
    if (fails())
      return nullptr;
    return static_cast<Scratch *>(scratch)->memory.emplace_back(new char[size_t(bytes)]).get();
  }
};

struct Decoded {
  std::string cause; ///< "": it is decoded
  int64_t sizes[2] = {0, 0};
  Bytes pixels;
};

Decoded decode(const Bytes &data, kiln_pixel format = KILN_PIXEL_RGB) {
  Decoded decoded;
  Scratch scratch;
  // A copy of its own, so that a sanitizer sees reads past its end.
  std::unique_ptr<unsigned char[]> copy(new unsigned char[data.size()]);
  std::copy(data.begin(), data.end(), copy.get());
  void *measured[] = {decoded.sizes, copy.get()};
  int64_t count = int64_t(data.size());
  if (const char *cause = kiln_call_image_size(measured, &count, &scratch))
    return decoded.cause = cause, decoded;
  int64_t pixels = decoded.sizes[0] * decoded.sizes[1];
  if (pixels > 1 << 16)
    return decoded.cause = "large", decoded;
  decoded.pixels.resize(size_t(pixels * (format == KILN_PIXEL_GRAYSCALE ? 1 : 3)));
  void *buffers[] = {decoded.pixels.data(), copy.get()};
  int64_t numbers[] = {count, decoded.sizes[0], decoded.sizes[1], format};
  if (const char *cause = kiln_call_image_decode(buffers, numbers, &scratch))
    decoded.cause = cause;
  return decoded;
}

Bytes stored(const std::string &kind) {
  std::ifstream file(KILN_TEST_IMAGES "/picture." + kind, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Bytes text(const std::string &bytes) { return Bytes(bytes.begin(), bytes.end()); }

constexpr const char *kKinds[] = {"bmp", "jp2", "jpg", "png", "ppm", "tif", "webp"};
constexpr int kWidth = 5, kHeight = 3;

} // namespace

TEST_CASE("every kind has the picture's pixels") {
  for (std::string kind : kKinds) {
    INFO(kind);
    Decoded rgb = decode(stored(kind)), bgr = decode(stored(kind), KILN_PIXEL_BGR);
    Decoded gray = decode(stored(kind), KILN_PIXEL_GRAYSCALE);
    REQUIRE(rgb.cause.empty());
    REQUIRE((rgb.sizes[0] == kHeight && rgb.sizes[1] == kWidth));
    double most = kind == "jpg" ? 3 : 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        int wanted[3] = {50 * x, 100 * y, 255 - 10 * (x + y)};
        size_t at = size_t(y * kWidth + x);
        for (int i = 0; i < 3; ++i) {
          CHECK(double(rgb.pixels[3 * at + i]) == Approx(wanted[i]).margin(most));
          CHECK(bgr.pixels[3 * at + 2 - i] == rgb.pixels[3 * at + i]);
        }
        CHECK(double(gray.pixels[at]) ==
              Approx(0.299 * wanted[0] + 0.587 * wanted[1] + 0.114 * wanted[2]).margin(most + 0.51));
      }
  }
}

TEST_CASE("maps of bits, grays and words") {
  CHECK(decode(text("P1\n# bits\n3 1\n101"), KILN_PIXEL_GRAYSCALE).pixels == Bytes{0, 255, 0});
  CHECK(decode(text("P2 2 1 4 0 2"), KILN_PIXEL_GRAYSCALE).pixels == Bytes{0, 128});
  CHECK(decode(text("P3 1 1 9 9 0 3")).pixels == Bytes{255, 0, 85});
  CHECK(decode(text("P4 9 1\n\x80\x7f"), KILN_PIXEL_GRAYSCALE).pixels ==
        Bytes{0, 255, 255, 255, 255, 255, 255, 255, 255});
  CHECK(decode(text("P5 1 1 1000\n\x03\xe8"), KILN_PIXEL_GRAYSCALE).pixels == Bytes{255});
}

TEST_CASE("a bitmap from the top, of places in a palette") {
  Bytes data = text(std::string("BM", 2));
  auto add = [&](uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i)
      data.push_back(number >> (8 * i) & 255);
  };
  for (uint32_t number : {0u, 0u, 62u, 40u, 2u, uint32_t(-2)})
    add(number, 4);
  add(1, 2);
  add(1, 2);
  for (int i = 0; i < 6; ++i)
    add(0, 4);
  add(0x00102030, 4);
  add(0x00ffffff, 4);
  add(0x40, 4);
  add(0x80, 4);
  CHECK(decode(data).pixels == Bytes{0x10, 0x20, 0x30, 255, 255, 255, 255, 255, 255, 0x10, 0x20, 0x30});
}

TEST_CASE("what is not an image says so") {
  CHECK(decode({}).cause == "its data is not an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP");
  CHECK(decode(text("GIF89a")).cause == "its data is not an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP");
  CHECK(decode(text("P6 70000 1 255\n")).cause ==
        "a PNM image: its sizes are not within 1 and 65535, or it has more than 2^28 pixels");
  CHECK(decode(text("P6 65535 65535 255\n")).cause ==
        "a PNM image: its sizes are not within 1 and 65535, or it has more than 2^28 pixels");
  CHECK(decode(text("P6 600 600 255\n")).cause == "a PNM image: its data ends too early");
  CHECK(decode(text("P2 2 1 4 0 x")).cause == "a PNM image: a sample is not a number");
}

TEST_CASE("data that is cut short is refused, or what is missing was not needed") {
  for (std::string kind : kKinds) {
    Bytes data = stored(kind);
    Bytes wanted = decode(data).pixels;
    for (size_t length = 0; length < data.size(); ++length) {
      INFO(kind << " of " << length << " bytes");
      Decoded decoded = decode(Bytes(data.begin(), data.begin() + length));
      CHECK((!decoded.cause.empty() || decoded.pixels == wanted));
    }
  }
}

TEST_CASE("data with another byte anywhere is decoded or refused") {
  for (std::string kind : kKinds) {
    Bytes data = stored(kind);
    int64_t before = blocks;
    for (size_t at = 0; at < data.size(); ++at)
      for (int other : {0, 1, 127, 128, 255}) {
        Bytes changed = data;
        changed[at] = (unsigned char)other;
        decode(changed);
      }
    CHECK(blocks == before);
  }
}

TEST_CASE("where an allocation fails, a kind says so and keeps nothing") {
  for (std::string kind : kKinds) {
    Bytes data = stored(kind);
    bool isDone = false;
    for (int64_t at = 0; !isDone && at < 2000; ++at) {
      INFO(kind << ", allocation " << at);
      int64_t before = blocks;
      allocationsLeft = at;
      Decoded decoded = decode(data);
      isDone = allocationsLeft >= 0;
      allocationsLeft = -1;
      CHECK(blocks == before);
      CHECK((isDone || !decoded.cause.empty() || decoded.pixels == decode(data).pixels));
    }
    CHECK(isDone);
  }
}

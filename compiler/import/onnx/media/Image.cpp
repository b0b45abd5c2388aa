//===- Image.cpp - Pixels of encoded images -----------------------------------===//
//
// The host decodes (kiln/call.h), in two calls: the first reads the image's size from its data, and the second writes
// the pixels to a tensor of that size.
//
//===----------------------------------------------------------------------===//
#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

static Value imageDecoder(Node &n, TensorBuilder &b) {
  Value data = n.input(0);
  std::string format = n.string("pixel_format", "RGB");
  if (!data)
    return {};
  mlir::Type byte = b.builder().getIntegerType(8, /*isSigned=*/false);
  if (b.rank(data) != 1 || b.element(data) != byte)
    return b.fail("its input is " + describe(b.shape(data)) + " of another kind than an image's data",
                  "give it a list of uint8");
  static constexpr llvm::StringLiteral kFormats[] = {"RGB", "BGR",
                                                     "Grayscale"}; // in the order of the runtime's kiln_pixel
  int64_t pixel = llvm::find(kFormats, format) - kFormats;
  if (pixel == std::size(kFormats))
    return b.fail("attribute 'pixel_format' is '" + format + "'", "it is RGB, BGR or Grayscale");
  Expr bytes = b.dim(data, 0);
  Value sizes = callHost(b, "image_size", {tensorType({2}, b.int64())}, {data}, {bytes})[0];
  auto size = [&](llvm::StringRef what, int64_t place) {
    Value number = sizes ? b.reshape(b.narrow(sizes, 0, place, place + 1), {}) : Value();
    return n.importer().bind((n.scope().prefix() + n.proto().output(0) + what).str(), number, b,
                             {.min = 1, .max = 65535, .value = 224});
  };
  Expr height = size(".height", 0), width = size(".width", 1);
  return callHost(b, "image_decode", {tensorType({height, width, Expr(pixel == 2 ? 1 : 3)}, byte)}, {data},
                  {bytes, height, width, pixel})[0];
}

void kiln::import::onnx::addImages(Registry &r) { r.add("ImageDecoder", 20, imageDecoder); }

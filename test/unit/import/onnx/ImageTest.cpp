#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <string>

using namespace kiln::test;
using Catch::Contains;

static OnnxModel decoder(const char *format, int dtype = ::onnx::TensorProto::UINT8) {
  OnnxModel model;
  model.input("x", {"n"}, dtype).output("y");
  setString(model.node("ImageDecoder", {"x"}, {"y"}), "pixel_format", format);
  return model;
}

static HostTensor data(const std::string &text) {
  return HostTensor::of<char>(kiln::DType::U8, {int64_t(text.size())}, llvm::ArrayRef<char>(text.data(), text.size()));
}

TEST_CASE("an image has the sizes that its data says") {
  HostTensor x = data("P6 2 1 255\n"
                      "\1\2\3\4\5\6");
  HostTensor rgb = decoder("RGB").run({x})[0], bgr = decoder("BGR").run({x})[0],
             gray = decoder("Grayscale").run({x})[0];
  CHECK(rgb.dims == kiln::interp::Dims{1, 2, 3});
  CHECK(rgb.bytes == std::vector<char>{1, 2, 3, 4, 5, 6});
  CHECK(bgr.bytes == std::vector<char>{3, 2, 1, 6, 5, 4});
  CHECK(gray.dims == kiln::interp::Dims{1, 2, 1});
  CHECK(gray.bytes == std::vector<char>{2, 5});
}

TEST_CASE("a pixel format that is none, and data that is none") {
  CHECK_THAT(decoder("CMYK").import(), Contains("attribute 'pixel_format' is 'CMYK'; it is RGB, BGR or Grayscale"));
  CHECK_THAT(decoder("RGB", ::onnx::TensorProto::INT8).import(), Contains("give it a list of uint8"));
}

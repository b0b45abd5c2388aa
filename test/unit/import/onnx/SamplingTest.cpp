#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Floats = std::vector<float>;

static Floats rounded(Floats values) {
  for (float &value : values)
    value = std::round(value * 1000) / 1000;
  return values;
}

/// GridSample of the image 1 2 / 3 4 at one place.
static float at(float x, float y, const char *mode, const char *padding, int alignCorners) {
  OnnxModel model(22);
  model.input("x", {1, 1, 2, 2}).input("grid", {1, 1, 1, 2}).output("y");
  ::onnx::NodeProto &node = model.node("GridSample", {"x", "grid"}, {"y"});
  setString(node, "mode", mode);
  setString(node, "padding_mode", padding);
  setInt(node, "align_corners", alignCorners);
  return rounded(model.runFloats({floatTensor({1, 1, 2, 2}, {1, 2, 3, 4}), floatTensor({1, 1, 1, 2}, {x, y})}))[0];
}

TEST_CASE("GridSample interpolates between the nearest elements") {
  CHECK(at(0, 0, "linear", "zeros", 1) == 2.5f);
  CHECK(at(1, -1, "linear", "zeros", 1) == 2);
  CHECK(at(1, -1, "nearest", "zeros", 1) == 2);
  CHECK(at(-0.5f, -0.5f, "linear", "zeros", 0) == 1);
  CHECK(at(0, 0, "cubic", "border", 1) == 2.5f);
}

TEST_CASE("GridSample outside the image") {
  CHECK(at(1, -1, "linear", "zeros", 0) == 0.5f); // a corner: one of four neighbours is inside
  CHECK(at(1, -1, "linear", "border", 0) == 2);
  CHECK(at(3, -1, "linear", "border", 1) == 2);
  CHECK(at(3, -1, "linear", "zeros", 1) == 0);
  CHECK(at(3, -1, "linear", "reflection", 1) == 1);
  CHECK(at(2, -1, "linear", "reflection", 1) == 1.5f);
}

/// One place in each of two images, 1 2 / 3 4 times 1 to `channels` and the same times 100.
TEST_CASE("GridSample of many channels copies them side by side, and reads each place once") {
  for (int64_t channels : {15, 16}) {
    OnnxModel model(22);
    model.input("x", {2, channels, 2, 2}).input("grid", {2, 1, 1, 2}).output("y");
    model.node("GridSample", {"x", "grid"}, {"y"});
    Floats x, wanted;
    for (float image : {1.f, 100.f})
      for (int64_t channel = 1; channel <= channels; ++channel) {
        for (float value : {1, 2, 3, 4})
          x.push_back(value * float(channel) * image);
        wanted.push_back((image == 1 ? 2.5f : 50) * float(channel)); // a quarter of 200 is inside
      }
    HostTensor grid = floatTensor({2, 1, 1, 2}, {0, 0, 1, -1});
    CHECK(model.runFloats({floatTensor({2, channels, 2, 2}, x), grid}) == wanted);
    bool readsRows = model.import().find("tensor<8x16xf32>") != std::string::npos;
    CHECK(readsRows == (channels == 16));
  }
}

TEST_CASE("AffineGrid moves and turns places, x first") {
  OnnxModel model(20);
  model.input("theta", {1, 2, 3}).ints("size", {1, 1, 2, 2}).output("y");
  ::onnx::NodeProto &node = model.node("AffineGrid", {"theta", "size"}, {"y"});
  HostTensor theta = floatTensor({1, 2, 3}, {2, 0, 1, 0, 3, 0});
  CHECK(model.runFloats({theta}) == Floats{0, -1.5f, 2, -1.5f, 0, 1.5f, 2, 1.5f});
  setInt(node, "align_corners", 1);
  CHECK(model.runFloats({theta}) == Floats{-1, -3, 3, -3, -1, 3, 3, 3});
}

/// RoiAlign of 0 1 2 3 / 4 5 6 7 / … to one element.
static float align(Floats region, const char *mode, int ratio) {
  OnnxModel model(22);
  Floats image(16);
  for (int i = 0; i < 16; ++i)
    image[i] = float(i);
  model.input("x", {1, 1, 4, 4}).input("rois", {1, 4}).ints("batch", {0}).output("y");
  ::onnx::NodeProto &node = model.node("RoiAlign", {"x", "rois", "batch"}, {"y"});
  setString(node, "mode", mode);
  setString(node, "coordinate_transformation_mode", "output_half_pixel");
  setInt(node, "sampling_ratio", ratio);
  return rounded(model.runFloats({floatTensor({1, 1, 4, 4}, image), floatTensor({1, 4}, region)}))[0];
}

TEST_CASE("RoiAlign takes the mean of its samples, and as many as a region asks for") {
  CHECK(align({0, 0, 2, 2}, "avg", 1) == 5);
  CHECK(align({0, 0, 2, 2}, "avg", 2) == 5);
  CHECK(align({0, 0, 2, 2}, "avg", 0) == 5);
  CHECK(align({2, 2, 8, 8}, "avg", 1) == 0); // its middle lies outside
  CHECK(align({2, 2, 6, 6}, "avg", 2) == 3.75f);
}

TEST_CASE("RoiAlign's max is that of the weighted neighbours") {
  CHECK(align({0, 0, 2, 2}, "max", 1) == 5);
  CHECK(align({0, 0, 1, 1}, "max", 1) == 1.25f);
}

/// MaxRoiPool of -8 -7 -6 -5 / -4 -3 … to two bins next to each other.
static Floats pool(Floats region, float scale = 1) {
  OnnxModel model(20);
  Floats image(16);
  for (int i = 0; i < 16; ++i)
    image[i] = float(i - 8);
  model.input("x", {1, 1, 4, 4}).input("rois", {1, 5}).output("y");
  ::onnx::NodeProto &node = model.node("MaxRoiPool", {"x", "rois"}, {"y"});
  setInts(node, "pooled_shape", {1, 2});
  setFloat(node, "spatial_scale", scale);
  return model.runFloats({floatTensor({1, 1, 4, 4}, image), floatTensor({1, 5}, region)});
}

TEST_CASE("MaxRoiPool takes the largest element of each bin, 0 without one") {
  CHECK(pool({0, 0, 0, 3, 1}) == Floats{-3, -1});
  CHECK(pool({0, 0, 0, 2, 0}) == Floats{-7, -6}); // the middle column is in both
  CHECK(pool({0, 0, 0, 6, 2}, 0.5f) == Floats{-3, -1});
  CHECK(pool({0, 2, 0, 5, 0}) == Floats{-5, 0});        // the second lies outside
  CHECK(pool({0, 0.5f, 0, 1.5f, 0}) == Floats{-7, -6}); // halves go up
  CHECK(pool({0, 3, 3, 1, 1}) == Floats{7, 7});         // one element where the corners are the wrong way round
}

TEST_CASE("DeformConv without offsets is a convolution, and offsets move its taps") {
  OnnxModel model(22);
  model.input("x", {1, 1, 3, 3}).input("offset", {1, 8, 2, 2}).floats("w", {1, 1, 2, 2}, {1, 1, 1, 1}).output("y");
  model.node("DeformConv", {"x", "w", "offset"}, {"y"});
  HostTensor x = floatTensor({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  Floats offset(32);
  CHECK(model.runFloats({x, floatTensor({1, 8, 2, 2}, offset)}) == Floats{8, 12, 20, 24});
  offset[4] = 0.5f; // of the first tap of the first place, along the columns
  offset[28] = -1;  // of the last tap, along the columns
  CHECK(model.runFloats({x, floatTensor({1, 8, 2, 2}, offset)}) == Floats{7.5f, 12, 20, 24});
}

TEST_CASE("Col2Im adds what lies on one pixel") {
  OnnxModel model(18);
  model.input("x", {1, 4, 4}).ints("image", {3, 3}).input("block", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("Col2Im", {"x", "image", "block"}, {"y"});
  Floats x{1, 1, 1, 1, 10, 10, 10, 10, 100, 100, 100, 100, 1000, 1000, 1000, 1000};
  CHECK(model.runFloats({floatTensor({1, 4, 4}, x), intTensor({2}, {2, 2})}) ==
        Floats{1, 11, 10, 101, 1111, 1010, 100, 1100, 1000});
}

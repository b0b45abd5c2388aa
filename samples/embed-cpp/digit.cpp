// Reads an image of 28 by 28 floats from standard input and prints the digit that samples/mnist sees in it.
#include "mnist.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

/// The model with the state of its runs. One object belongs to one thread at a time.
class Mnist {
public:
  using Image = std::array<float, MNIST_INPUT3_ELEMENTS>;
  using Scores = std::array<float, MNIST_PLUS214_OUTPUT_0_ELEMENTS>;

  explicit Mnist(int threads) {
    kiln_options options = {};
    options.size = sizeof options;
    options.threads = threads;
    char error[256];
    kiln_context *made;
    if (mnist_create(&options, &made, error, sizeof error))
      throw std::runtime_error(error);
    context_.reset(made);
  }

  Scores operator()(const Image &image) {
    Scores scores;
    if (mnist_run_into(context_.get(), image.data(), scores.data(), scores.size()))
      throw std::runtime_error(mnist_error(context_.get()));
    return scores;
  }

private:
  struct Destroy {
    void operator()(kiln_context *context) const { mnist_destroy(context); }
  };
  std::unique_ptr<kiln_context, Destroy> context_;
};

} // namespace

int main() try {
  Mnist::Image image;
  if (!std::cin.read(reinterpret_cast<char *>(image.data()), sizeof image))
    throw std::runtime_error("wanted " + std::to_string(image.size()) + " floats on standard input");
  Mnist::Scores scores = Mnist(/*threads=*/1)(image);
  std::cout << std::max_element(scores.begin(), scores.end()) - scores.begin() << "\n";
} catch (const std::exception &error) {
  std::cerr << "digit: " << error.what() << "\n";
  return 1;
}

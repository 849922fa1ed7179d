// The time of cuDNN for a two-dimensional convolution on this machine's GPU, channels last, with the fastest
// algorithm. Usage: bench_cudnn H W CI CO KERNEL STRIDE PADDING f32|f16 (f16: sums are f32, results f16).
// Prints {"seconds", "error"}; ends with 4 where there is no GPU or no cuDNN, and says which.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "device/float16.h"
#include "tunesmith/support/error.h"
#include "vendor.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::cuda;

// As in cudnn_graph_v9.h and cudnn_ops_v9.h.
constexpr int kF32 = 0, kF16 = 2, kChannelsLast = 1, kCrossCorrelation = 1, kTensorCores = 1,
              kMultiplyAdds = 3;
constexpr int kAlgorithms = 8;
constexpr double kTolerance = 2e-3;

/// As in cudnn_cnn_v9.h.
struct AlgorithmTime {
  int algorithm, status;
  float milliseconds;
  size_t memory;
  int determinism, math;
  int reserved[3];
};

struct Dnn {
  int (*create)(void** handle) = nullptr;
  int (*create_tensor)(void** descriptor) = nullptr;
  int (*set_tensor)(void* descriptor, int format, int type, int n, int c, int h, int w) = nullptr;
  int (*create_filter)(void** descriptor) = nullptr;
  int (*set_filter)(void* descriptor, int type, int format, int k, int c, int h, int w) = nullptr;
  int (*create_convolution)(void** descriptor) = nullptr;
  int (*set_convolution)(void* descriptor, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                         int dilation_w, int mode, int compute) = nullptr;
  int (*set_math)(void* convolution, int math) = nullptr;
  int (*find)(void* handle, void* x, void* w, void* convolution, void* y, int requested, int* returned,
              AlgorithmTime* times) = nullptr;
  int (*forward)(void* handle, const void* alpha, void* x, const void* at_x, void* w, const void* at_w,
                 void* convolution, int algorithm, void* workspace, size_t workspace_bytes, const void* beta,
                 void* y, void* at_y) = nullptr;
};

Dnn find_dnn() {
  void* const library = load_vendor_library("TUNESMITH_CUDNN", {"libcudnn.so.9"});
  Dnn dnn;
  if (find_function(library, "cudnnCreate", dnn.create) &&
      find_function(library, "cudnnCreateTensorDescriptor", dnn.create_tensor) &&
      find_function(library, "cudnnSetTensor4dDescriptor", dnn.set_tensor) &&
      find_function(library, "cudnnCreateFilterDescriptor", dnn.create_filter) &&
      find_function(library, "cudnnSetFilter4dDescriptor", dnn.set_filter) &&
      find_function(library, "cudnnCreateConvolutionDescriptor", dnn.create_convolution) &&
      find_function(library, "cudnnSetConvolution2dDescriptor", dnn.set_convolution) &&
      find_function(library, "cudnnSetConvolutionMathType", dnn.set_math) &&
      find_function(library, "cudnnFindConvolutionForwardAlgorithm", dnn.find) &&
      find_function(library, "cudnnConvolutionForward", dnn.forward))
    return dnn;
  throw EnvironmentError("what was found is no cuDNN 9");
}

void check(int status, const char* what) {
  if (status != 0) throw EnvironmentError(fmt::format("{}: cuDNN's error {}", what, status));
}

struct Shape {
  int h, w, ci, co, kernel, stride, padding;
  int height() const { return (h + 2 * padding - kernel) / stride + 1; }
  int width() const { return (w + 2 * padding - kernel) / stride + 1; }
};

/// One element of the result; each row of the filter belongs to one output channel.
double right_value(const Shape& shape, const std::vector<float>& x, const std::vector<float>& w, int y_at,
                   int x_at, int channel) {
  double sum = 0;
  for (int i = 0; i < shape.kernel; ++i) {
    for (int j = 0; j < shape.kernel; ++j) {
      const int row = y_at * shape.stride + i - shape.padding,
                column = x_at * shape.stride + j - shape.padding;
      if (row < 0 || row >= shape.h || column < 0 || column >= shape.w) continue;
      const size_t from = (size_t(row) * size_t(shape.w) + size_t(column)) * size_t(shape.ci);
      const size_t by =
          ((size_t(channel) * size_t(shape.kernel) + size_t(i)) * size_t(shape.kernel) + size_t(j)) *
          size_t(shape.ci);
      for (size_t c = 0; c < size_t(shape.ci); ++c) sum += double(x[from + c]) * double(w[by + c]);
    }
  }
  return sum;
}

/// A convolution in cuDNN, with its fastest algorithm.
struct Convolution {
  void *handle = nullptr, *image = nullptr, *filter = nullptr, *result = nullptr, *operation = nullptr;
  AlgorithmTime best{};
};

Convolution find_convolution(const Dnn& dnn, const Shape& shape, bool half) {
  Convolution made;
  check(dnn.create(&made.handle), "cudnnCreate");
  const int type = half ? kF16 : kF32;
  check(dnn.create_tensor(&made.image), "cudnnCreateTensorDescriptor");
  check(dnn.set_tensor(made.image, kChannelsLast, type, 1, shape.ci, shape.h, shape.w), "the image");
  check(dnn.create_filter(&made.filter), "cudnnCreateFilterDescriptor");
  check(dnn.set_filter(made.filter, type, kChannelsLast, shape.co, shape.ci, shape.kernel, shape.kernel),
        "the filter");
  check(dnn.create_tensor(&made.result), "cudnnCreateTensorDescriptor");
  check(dnn.set_tensor(made.result, kChannelsLast, type, 1, shape.co, shape.height(), shape.width()),
        "the result");
  check(dnn.create_convolution(&made.operation), "cudnnCreateConvolutionDescriptor");
  check(dnn.set_convolution(made.operation, shape.padding, shape.padding, shape.stride, shape.stride, 1, 1,
                            kCrossCorrelation, kF32),
        "the convolution");
  // Otherwise cuDNN may compute products of f32 in tf32.
  check(dnn.set_math(made.operation, half ? kTensorCores : kMultiplyAdds), "cudnnSetConvolutionMathType");

  int found = 0;
  std::array<AlgorithmTime, kAlgorithms> algorithms{};
  check(dnn.find(made.handle, made.image, made.filter, made.operation, made.result, kAlgorithms, &found,
                 algorithms.data()),
        "cudnnFindConvolutionForwardAlgorithm");
  if (found == 0 || algorithms[0].status != 0)
    throw EnvironmentError("cuDNN has no algorithm for this convolution");
  made.best = algorithms[0];  // the fastest comes first
  check(dnn.set_math(made.operation, made.best.math), "cudnnSetConvolutionMathType");
  return made;
}

int run(const Shape& shape, bool half) {
  const Driver* const driver = Driver::find();
  if (driver == nullptr) throw EnvironmentError(Driver::why_absent());
  const Dnn dnn = find_dnn();
  const Device device(*driver);
  device.use();
  const Convolution convolution = find_convolution(dnn, shape, half);
  RandomStream random(1);
  const std::vector<float> x = exact_numbers(size_t(shape.h) * size_t(shape.w) * size_t(shape.ci), random),
                           w = exact_numbers(size_t(shape.co) * size_t(shape.kernel) * size_t(shape.kernel) *
                                                 size_t(shape.ci),
                                             random);
  const size_t elements = size_t(shape.height()) * size_t(shape.width()) * size_t(shape.co);
  const DeviceMemory at_x = on_device(device, x, half), at_w = on_device(device, w, half),
                     at_y = on_device(device, std::vector<float>(elements), half),
                     workspace = device.allocate(std::max<size_t>(convolution.best.memory, 16));
  const float one = 1, zero = 0;
  const double seconds = shortest_seconds(device, [&] {
    check(dnn.forward(convolution.handle, &one, convolution.image, pointer(at_x), convolution.filter,
                      pointer(at_w), convolution.operation, convolution.best.algorithm, pointer(workspace),
                      convolution.best.memory, &zero, convolution.result, pointer(at_y)),
          "cudnnConvolutionForward");
  });

  std::vector<uint16_t> halves(elements);
  std::vector<float> y(elements);
  if (half) {
    device.to_host(halves.data(), at_y.get(), elements * 2);
    std::ranges::transform(halves, y.begin(), tunesmith_emulation::f16_to_f32);
  } else {
    device.to_host(y.data(), at_y.get(), elements * 4);
  }
  double error = 0;
  const double terms = double(shape.kernel) * shape.kernel * shape.ci;
  for (int sample = 0; sample < 1000; ++sample) {
    const int row = int(random.uniform() * shape.height()), column = int(random.uniform() * shape.width()),
              channel = int(random.uniform() * shape.co);
    const size_t at =
        (size_t(row) * size_t(shape.width()) + size_t(column)) * size_t(shape.co) + size_t(channel);
    error = std::max(error, std::abs(y[at] - right_value(shape, x, w, row, column, channel)) / terms);
  }
  fmt::print("{{\"seconds\": {:.9g}, \"error\": {:.3g}}}\n", seconds, error);
  return error <= kTolerance ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string type = count == 9 ? arguments[8] : "";
  if (type != "f32" && type != "f16") {
    fmt::print(stderr, "usage: bench_cudnn H W CI CO KERNEL STRIDE PADDING f32|f16\n");
    return 2;
  }
  const auto number = [&](int i) { return std::atoi(arguments[i]); };
  try {
    return run({number(1), number(2), number(3), number(4), number(5), number(6), number(7)}, type == "f16");
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "bench_cudnn: {}\n", error.what());
    return 4;
  }
}

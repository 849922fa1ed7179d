// The time of cuBLAS for a product of matrices on this machine's GPU.
// Usage: bench_cublas M N K f32|f16        f16: sums and results are f32
// Prints {"seconds", "error"}; ends with 4 where there is no GPU or no cuBLAS, and says which.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "vendor.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::cuda;

// As in cublas_api.h.
constexpr int kNotTransposed = 0, kF32 = 0, kF16 = 2, kComputeF32 = 68, kDefaultAlgorithm = -1;
constexpr double kTolerance = 1e-3;

struct Blas {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*gemm)(void* handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
              const void* a, int type_a, int lda, const void* b, int type_b, int ldb, const void* beta,
              void* c, int type_c, int ldc, int compute, int algorithm) = nullptr;
};

Blas find_blas() {
  void* const library = load_vendor_library("TUNESMITH_CUBLAS", {"libcublas.so.13", "libcublas.so.12"});
  Blas blas;
  if (find_function(library, "cublasCreate_v2", blas.create) &&
      find_function(library, "cublasDestroy_v2", blas.destroy) &&
      find_function(library, "cublasGemmEx", blas.gemm))
    return blas;
  throw EnvironmentError("what was found is no cuBLAS 12 or 13");
}

void check(int status, const char* what) {
  if (status != 0) throw EnvironmentError(fmt::format("{}: cuBLAS' error {}", what, status));
}

int run(int m, int n, int k, bool half) {
  const Driver* const driver = Driver::find();
  if (driver == nullptr) throw EnvironmentError(Driver::why_absent());
  const Blas blas = find_blas();
  const Device device(*driver);
  device.use();
  void* handle = nullptr;
  check(blas.create(&handle), "cublasCreate");
  RandomStream random(1);
  const std::vector<float> a = exact_numbers(size_t(m) * size_t(k), random),
                           b = exact_numbers(size_t(k) * size_t(n), random);
  std::vector<float> c(size_t(m) * size_t(n));
  const DeviceMemory at_a = on_device(device, a, half), at_b = on_device(device, b, half),
                     at_c = on_device(device, c, false);
  const float one = 1, zero = 0;
  const int type = half ? kF16 : kF32;
  // Row by row, C = A B is column by column the product of B and A.
  const double seconds = shortest_seconds(device, [&] {
    check(blas.gemm(handle, kNotTransposed, kNotTransposed, n, m, k, &one, pointer(at_b), type, n,
                    pointer(at_a), type, k, &zero, pointer(at_c), kF32, n, kComputeF32, kDefaultAlgorithm),
          "cublasGemmEx");
  });
  device.to_host(c.data(), at_c.get(), c.size() * 4);
  double error = 0;
  for (int sample = 0; sample < 1000; ++sample) {
    const auto i = size_t(random.uniform() * m), j = size_t(random.uniform() * n);
    double sum = 0;
    for (size_t r = 0; r < size_t(k); ++r) sum += double(a[i * size_t(k) + r]) * double(b[r * size_t(n) + j]);
    error = std::max(error, std::abs(c[i * size_t(n) + j] - sum) / k);
  }
  blas.destroy(handle);
  fmt::print("{{\"seconds\": {:.9g}, \"error\": {:.3g}}}\n", seconds, error);
  return error <= kTolerance ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string type = count == 5 ? arguments[4] : "";
  if (type != "f32" && type != "f16") {
    fmt::print(stderr, "usage: bench_cublas M N K f32|f16\n");
    return 2;
  }
  try {
    return run(std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3]), type == "f16");
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "bench_cublas: {}\n", error.what());
    return 4;
  }
}

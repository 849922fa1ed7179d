// Quotients of integers are exact also where a target divides lanes by multiplying them with a reciprocal.
#include <numeric>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/trace/schedule.h"
#include "unit/operators_onnx/run_operator.h"

namespace tunesmith {
namespace {

using operators_onnx::counted;
using operators_onnx::given;

constexpr int64_t kCount = 1024;
constexpr int64_t kFirst = -512;
constexpr int64_t kMaxDivisor = 200;

/// Vectorized quotients of kFirst, kFirst + 1, ... by a number that is an input.
std::vector<int64_t> vectorized(const std::string& op, int64_t version, int64_t fmod) {
  operators_onnx::Use use{op, version, {counted({kCount}, kFirst, 1, kI32), given({1}, {1}, kI32)}};
  if (fmod != 0) use.attributes = {{"fmod", fmod}};
  network::Network network = operators_onnx::network_of(use);
  network::run_passes(network, {operators_onnx::find_operator, {}});
  const network::NodeWorkload made = network::workload_of(network, std::array<size_t, 1>{0});
  Schedule schedule(made.workload.program);
  const std::vector<LoopRV> loops =
      schedule.get_loops(schedule.get_block(made.workload.program.blocks().front()->name));
  schedule.vectorize(schedule.split(loops.front(), {std::nullopt, 16}).back());
  const auto target = testing::make_target();
  const LoweredProgram lowered = lower(schedule.program(), target->lower_options());
  std::vector<int32_t> dividends(kCount), divisors(2 * kMaxDivisor + 1), quotients(divisors.size() * kCount);
  std::iota(dividends.begin(), dividends.end(), static_cast<int32_t>(kFirst));
  std::iota(divisors.begin(), divisors.end(), static_cast<int32_t>(-kMaxDivisor));
  std::erase(divisors, 0);
  std::vector<std::vector<void*>> calls;
  for (int32_t& divisor : divisors)
    calls.push_back({dividends.data(), &divisor, quotients.data() + calls.size() * kCount});
  testing::run_compiled_each(*target, lowered, calls);
  return {quotients.begin(), quotients.begin() + static_cast<std::ptrdiff_t>(calls.size() * kCount)};
}

template <typename Operation>
std::vector<int64_t> exact(Operation operation) {
  std::vector<int64_t> result;
  for (int64_t divisor = -kMaxDivisor; divisor <= kMaxDivisor; ++divisor) {
    for (int64_t i = 0; divisor != 0 && i < kCount; ++i) result.push_back(operation(kFirst + i, divisor));
  }
  return result;
}

TEST(IntegerQuotients, AreExactInVectors) {
  EXPECT_EQ(vectorized("Div", 14, 0), exact([](int64_t a, int64_t b) { return a / b; }));
  EXPECT_EQ(vectorized("Mod", 13, 1), exact([](int64_t a, int64_t b) { return a % b; }));
  EXPECT_EQ(vectorized("Mod", 13, 0), exact([](int64_t a, int64_t b) {
              const int64_t remainder = a % b;
              return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
            }));
}

}  // namespace
}  // namespace tunesmith

#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// A computation of those of A, B and D that it names.
Program scaled(const std::string& compute, const std::string& type = "f32") {
  std::string inputs;
  for (const auto& [name, shape] : {std::pair("A", "n, m"), std::pair("B", "m"), std::pair("D", "n")}) {
    if (compute.find(fmt::format("{}[", name)) != std::string::npos)
      inputs +=
          fmt::format("{}{}: {{shape: [{}], dtype: {}}}", inputs.empty() ? "" : ", ", name, shape, type);
  }
  return make_program("{n: 4, m: 6}", "{" + inputs + "}", compute);
}

TEST(FactorOut, FactorsDivisorsAndExchangedAxes) {
  for (const char* output :
       {"O[i<n] = sum(j<m) A[i, j] / D[i] * B[j]", "O[i<n] = sum(j<m) D[i] * (A[i, j] * 0.5)",
        "O[i<n] = sum(j<m) A[i, j] / (B[j] + 3) / (D[i] + 3)",
        "O[u<2, i<n] = sum(j<m) D[i] / (A[i, j] + 3)"}) {
    const Program before = scaled(output);
    Schedule schedule(before);
    const BlockRV factored = schedule.factor_out(schedule.get_block("O"));
    EXPECT_EQ(schedule.block(factored).name, "O_factored");
    expect_sound(before, schedule, 1e-4);
  }
}

TEST(FactorOut, ProductsOfIntegersWrapAround) {
  const Program before = scaled("O[i<n] = sum(j<m) A[i, j] * D[i]", "i32");
  Schedule schedule(before);
  schedule.factor_out(schedule.get_block("O"));
  expect_sound(before, schedule);
}

TEST(FactorOut, Refusals) {
  const auto refused = [](const Program& program, const char* reason) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block("O");
    expect_refused(schedule, "factor_out", reason, [&] { schedule.factor_out(block); });
  };
  refused(scaled("O[i<n, j<m] = A[i, j] * D[i]"), "the block is not a sum");
  refused(scaled("O[i<n] = max(j<m) A[i, j] * D[i]"), "the block is not a sum");
  refused(scaled("O[i<n] = sum(j<m) A[i, j] * B[j]"), "the steps of the sum share no factor");
  refused(scaled("O[i<n] = sum(j<m) (A[i, j] + D[i])"), "the steps of the sum share no factor");
  // A quotient of integers is rounded in each step.
  refused(scaled("O[i<n] = sum(j<m) A[i, j] // 3", "i32"), "the steps of the sum share no factor");

  Schedule schedule(scaled("T[i<n] = D[i] + 1\n  O[i<n] = sum(j<m) A[i, j] * T[i]"));
  const BlockRV block = schedule.get_block("O");
  schedule.compute_at(schedule.get_block("T"), schedule.get_loops(block)[0]);
  expect_refused(schedule, "factor_out", "a shared factor is written in the loop nest of the sum",
                 [&] { schedule.factor_out(block); });
}

}  // namespace
}  // namespace tunesmith::test

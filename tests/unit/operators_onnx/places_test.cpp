// Writes and reads at indices that are data, recurrences, attention.
#include <cmath>

#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

using testing::HasSubstr;

/// The same indices as constants and as data.
std::vector<Given> as_all(const Ints& shape, const std::vector<double>& values) {
  return {known(shape, values), given(shape, values, kI64)};
}

TEST(OnnxScatter, TheLastUpdateOfAPlaceStays) {
  const Given x = counted({4, 2});
  for (const Given& indices : as_all({3, 1}, {2, -4, 2}))
    expect_tensor(run({"ScatterND", 18, {x, indices, counted({3, 2}, 10)}}), {4, 2},
                  {12, 13, 2, 3, 14, 15, 6, 7});
  for (const Given& indices : as_all({2, 2}, {3, 1, 0, 0}))
    expect_tensor(run({"ScatterND", 18, {x, indices, counted({2}, 10)}}), {4, 2}, {11, 1, 2, 3, 4, 5, 6, 10});
}

TEST(OnnxScatter, ARangeOfPlacesIsRead) {
  const Given x = counted({5, 3});
  // Rows 1 and 3, columns 0 to 1.
  expect_tensor(run({"ScatterND", 18, {x, known({2, 2, 2}, {1, 0, 1, 1, 3, 0, 3, 1}), counted({2, 2}, 20)}}),
                {5, 3}, {0, 1, 2, 20, 21, 5, 6, 7, 8, 22, 23, 11, 12, 13, 14});
  // The diagonal is not a range of rows and columns.
  expect_tensor(
      run({"ScatterND", 18, {counted({3, 3}), known({3, 2}, {0, 0, 1, 1, 2, 2}), counted({3}, 20)}}), {3, 3},
      {20, 1, 2, 3, 21, 5, 6, 7, 22});
  EXPECT_THAT(refusal_of({"ScatterND", 18, {x, known({1, 1}, {5}), counted({1, 3})}}),
              HasSubstr("the index 5 is out of range"));
  EXPECT_THAT(refusal_of({"ScatterND", 18, {x, known({1, 1}, {0}), counted({1, 2})}}),
              HasSubstr("expected [1, 3]"));
}

TEST(OnnxScatter, UpdatesOfOnePlaceAreReduced) {
  const Given x = counted({3}, 1);
  for (const Given& indices : as_all({3, 1}, {1, 1, -1})) {
    const auto reduced = [&](const char* name) {
      return values_of(run({"ScatterND", 18, {x, indices, given({3}, {5, -4, 3})}, {{"reduction", name}}}));
    };
    EXPECT_EQ(reduced("add"), (std::vector<double>{1, 3, 6}));
    EXPECT_EQ(reduced("mul"), (std::vector<double>{1, -40, 9}));
    EXPECT_EQ(reduced("max"), (std::vector<double>{1, 5, 3}));
    EXPECT_EQ(reduced("min"), (std::vector<double>{1, -4, 3}));
  }
  const Given many = counted({1 << 13, 2}),
              places = given({1 << 13, 1}, std::vector<double>(1 << 13, 0), kI64);
  EXPECT_THAT(refusal_of({"ScatterND", 18, {many, places, many}, {}}),
              HasSubstr("at most 16777216 comparisons"));
}

TEST(OnnxScatter, ElementsAlongAnAxis) {
  expect_tensor(run({"ScatterElements",
                     18,
                     {counted({3, 3}), given({2, 2}, {1, -1, 0, 1}, kI64), counted({2, 2}, 10)}}),
                {3, 3}, {12, 1, 2, 10, 13, 5, 6, 11, 8});
  expect_tensor(run({"ScatterElements",
                     18,
                     {counted({1, 3}), given({1, 2}, {1, 1}, kI32), given({1, 2}, {5, 6})},
                     {{"axis", int64_t{1}}, {"reduction", "add"}}}),
                {1, 3}, {0, 12, 2});
}

TEST(OnnxScatter, ACacheIsWrittenFromAnIndexOn) {
  const Given cache = counted({2, 4, 1}), update = counted({2, 2, 1}, 20);
  expect_tensor(run({"TensorScatter", 24, {cache, update, given({2}, {0, 2}, kI64)}}), {2, 4, 1},
                {20, 21, 2, 3, 4, 5, 22, 23});
  expect_tensor(run({"TensorScatter", 24, {cache, update, given({2}, {3, 1}, kI64)}, {{"mode", "circular"}}}),
                {2, 4, 1}, {21, 1, 2, 20, 4, 22, 23, 7});
}

TEST(OnnxRecurrent, StepsAreWrittenOut) {
  // One hidden element: h = tanh(2 x + 3 h + 0.5).
  const Given x = given({3, 1, 1}, {0.125, -0.25, 0.5}), w = given({1, 1, 1}, {2}), r = given({1, 1, 1}, {3}),
              bias = given({1, 2}, {0.25, 0.25});
  const double first = std::tanh(0.25 + 0.5), second = std::tanh(-0.5 + 3 * first + 0.5),
               third = std::tanh(1.0 + 3 * second + 0.5);
  const auto made = run_all({"RNN", 14, {x, w, r, bias}, {{"hidden_size", int64_t{1}}}, 2});
  expect_tensor(made[0], {3, 1, 1, 1}, {first, second, third});
  expect_tensor(made[1], {1, 1, 1}, {third});
  // A sequence of two steps keeps its state.
  const auto shorter =
      run_all({"RNN", 14, {x, w, r, bias, given({1}, {2}, kI32)}, {{"hidden_size", int64_t{1}}}, 2});
  expect_tensor(shorter[0], {3, 1, 1, 1}, {first, second, 0});
  expect_tensor(shorter[1], {1, 1, 1}, {second});
}

/// They become nodes of 8 steps each, and one with the rest.
TEST(OnnxRecurrent, LongSequencesAreSeveralNodes) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const int64_t directions = direction == std::string("bidirectional") ? 2 : 1;
    const auto lstm = [&](int64_t steps, int64_t from, const std::optional<Given>& h,
                          const std::optional<Given>& c) {
      Given x = drawn({19, 2, 3}, 1, kF64);
      Tensor part = Tensor::zeros(kF64, {steps, 2, 3});
      for (int64_t i = 0; i < part.elements(); ++i) part.set(i, x.value.get(from * 6 + i));
      return run_all({"LSTM",
                      14,
                      {Given{part}, drawn({directions, 8, 3}, 2, kF64), drawn({directions, 8, 2}, 3, kF64),
                       drawn({directions, 16}, 4, kF64), std::nullopt, h, c, drawn({directions, 6}, 5, kF64)},
                      {{"direction", std::string(direction)}, {"hidden_size", int64_t{2}}},
                      3});
    };
    const Given zero =
        given({directions, 2, 2}, std::vector<double>(static_cast<size_t>(directions) * 4), kF64);
    const auto all = lstm(19, 0, zero, zero);
    ASSERT_EQ(all[0].shape, (Ints{19, directions, 2, 2}));
    // Computes step by step, each direction separately.
    for (int64_t d = 0; d < directions; ++d) {
      const bool is_reverse = d == 1 || direction == std::string("reverse");
      Given h = zero, c = zero;
      for (int64_t i = 0; i < 19; ++i) {
        const int64_t step = is_reverse ? 18 - i : i;
        const auto one = lstm(1, step, h, c);
        for (int64_t k = 0; k < 4; ++k)
          EXPECT_NEAR(all[0].get((step * directions + d) * 4 + k), one[0].get(d * 4 + k), 1e-12)
              << direction << ", step " << step;
        h.value = one[1];
        c.value = one[2];
      }
      for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(all[2].get(d * 4 + k), c.value.get(d * 4 + k), 1e-12);
    }
  }
}

TEST(OnnxRecurrent, ALengthMayEndInAnyNode) {
  const Given w = given({1, 1, 1}, {1}), r = given({1, 1, 1}, {1}), lengths = given({3}, {3, 11, 20}, kI32);
  const Attributes sums{{"hidden_size", int64_t{1}},
                        {"activations", std::vector<std::string>{"Affine"}},
                        {"activation_alpha", std::vector<double>{1}},
                        {"activation_beta", std::vector<double>{0}}};
  const Given ones = given({20, 3, 1}, std::vector<double>(60, 1));
  const auto made = run_all({"RNN", 14, {ones, w, r, std::nullopt, lengths}, sums, 2});
  expect_tensor(made[1], {1, 3, 1}, {3, 11, 20});
  EXPECT_EQ(made[0].get(10 * 3 + 1), 11);
  EXPECT_EQ(made[0].get(11 * 3 + 1), 0);
}

TEST(OnnxAttention, ARowWithoutKeysIsOfZeros) {
  const Given q = counted({1, 1, 2, 1}), k = counted({1, 1, 2, 1}, 1), v = counted({1, 1, 2, 1}, 10);
  const Given mask = given({2, 2}, {0, 0, 0, 1}, kBool);
  expect_tensor(run({"Attention", 23, {q, k, v, mask}}), {1, 1, 2, 1}, {0, 11});
  // Scores of the second query are 1 and 2.
  const double high = std::exp(1.0) / (1 + std::exp(1.0));
  expect_tensor(run({"Attention", 23, {q, k, v}, {{"is_causal", int64_t{1}}}}), {1, 1, 2, 1},
                {10, 10 + high});
  EXPECT_THAT(refusal_of({"Attention", 23, {q, k, v, given({2, 1}, {0, 0}, kBool)}}),
              HasSubstr("a mask of one column"));
}

}  // namespace
}  // namespace tunesmith::operators_onnx

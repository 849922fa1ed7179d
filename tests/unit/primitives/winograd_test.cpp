#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

constexpr double kTolerance = 1e-4;

/// `inputs` are X and W; the block is O.
void expect_same(const std::string& params, const std::string& inputs, const std::string& compute) {
  SCOPED_TRACE(compute + " of " + params);
  const Program before = make_program(params, inputs, compute);
  Schedule schedule(before);
  schedule.winograd(schedule.get_block("O"));
  expect_sound(before, schedule, kTolerance);
}

TEST(Winograd, TwoOutputsOfFourProducts) {
  const Program before = make_program("{n: 6}", "{X: {shape: [8], dtype: f32}, W: {shape: [3], dtype: f32}}",
                                      "O[i<n] = sum(r<3) X[i + r] * W[r]");
  Schedule schedule(before);
  const BlockRV products = schedule.winograd(schedule.get_block("O"));
  EXPECT_EQ(schedule.block(products).name, "O_products");
  EXPECT_EQ(
      body_of(schedule),
      "for ax0 in 0..4:\n"
      "  for ax1 in 0..3:\n"
      "    block O_data(v0: spatial 4 = ax0, v1: spatial 3 = ax1):\n"
      "      X_points[v0, v1] = select(v0 == 0, X[v1*2] - X[v1*2 + 2], select(v0 == 1, X[v1*2 + 1] + "
      "X[v1*2 + 2], select(v0 == 2, X[v1*2 + 2] - X[v1*2 + 1], X[v1*2 + 1] - X[v1*2 + 3])))\n"
      "for ax0 in 0..4:\n"
      "  block O_weights(v0: spatial 4 = ax0):\n"
      "    W_points[v0] = select(v0 == 0, W[0], select(v0 == 1, (W[0] + W[2] + W[1])*0.5, select(v0 == 2, "
      "(W[0] + W[2] - W[1])*0.5, W[2])))\n"
      "for p0 in 0..4:\n"
      "  for tile in 0..3:\n"
      "    block O_products(vp0: spatial 4 = p0, vtile: spatial 3 = tile):\n"
      "      O_points[vp0, vtile] = X_points[vp0, vtile]*W_points[vp0]\n"
      "for i in 0..6:\n"
      "  block O(vi: spatial 6 = i):\n"
      "    O[vi] = select(vi%2 == 0, O_points[0, vi//2] + O_points[1, vi//2] + O_points[2, vi//2], "
      "O_points[1, vi//2] - O_points[2, vi//2] - O_points[3, vi//2])\n");
  expect_sound(before, schedule, kTolerance);
}

TEST(Winograd, ConvolutionsOfEveryForm) {
  for (const int size : {2, 4, 7, 8}) {
    const std::string params = fmt::format("{{n: {}, m: {}, ci: 3, co: 5}}", size, size + 1);
    expect_same(params,
                "{X: {shape: [n + 2, m + 2, ci], dtype: f32}, W: {shape: [3, 3, ci, co], dtype: f32}}",
                "O[y<n, x<m, f<co] = sum(r<3, s<3, c<ci) X[y + r, x + s, c] * W[r, s, c, f]");
    expect_same(params,
                "{X: {shape: [2, ci, n + 2, m + 2], dtype: f64}, W: {shape: [co, ci, 3, 3], dtype: f64}}",
                "O[b<2, f<co, y<n, x<m] = sum(c<ci, r<3, s<3) W[f, c, r, s] * X[b, c, y + r, x + s]");
    expect_same(params, "{X: {shape: [n + 3, ci], dtype: f32}, W: {shape: [3, ci, co], dtype: f32}}",
                "O[y<n, f<co] = sum(r<3, c<ci) X[y + r + 1, c] * W[r, c, f]");
    expect_same(params, "{X: {shape: [n + 2, m + 2, ci], dtype: f32}, W: {shape: [3, 3, ci], dtype: f32}}",
                "O[y<n, x<m, c<ci] = sum(r<3, s<3) X[y + r, x + s, c] * W[r, s, c]");
    expect_same(
        params, "{X: {shape: [4, n + 2, m + 2, ci], dtype: f32}, W: {shape: [3, 3, 3, ci, co], dtype: f32}}",
        "O[z<2, y<n, x<m, f<co] = sum(q<3, r<3, s<3, c<ci) X[z + q, y + r, x + s, c] * W[q, r, s, c, f]");
    expect_same(params,
                "{X: {shape: [n + 2, m + 4, ci], dtype: f32}, W: {shape: [3, 5, ci, co], dtype: f32}}",
                "O[y<n, x<m, f<co] = sum(r<3, s<5, c<ci) X[y + r, x + s, c] * W[r, s, c, f]");
  }
}

TEST(Winograd, ReadsNothingBeyondTheLastOutput) {
  // With an odd number of outputs, the data end at the last output's reads.
  expect_same("{n: 5}", "{X: {shape: [7], dtype: f32}, W: {shape: [3], dtype: f32}}",
              "O[i<n] = sum(r<3) X[i + r] * W[r]");
}

TEST(Winograd, SumsOfSmallIntegersStayExact) {
  const Program before =
      make_program("{n: 6, c: 4}", "{X: {shape: [8, 8, c], dtype: f32}, W: {shape: [3, 3, c], dtype: f32}}",
                   "O[y<n, x<n] = sum(r<3, s<3, k<c) X[y + r, x + s, k] * W[r, s, k]");
  Schedule schedule(before);
  schedule.winograd(schedule.get_block("O"));
  std::vector<Tensor> wanted;
  for (const Buffer& input : before.inputs) {
    wanted.push_back(Tensor::like(*input));
    auto* values = reinterpret_cast<float*>(wanted.back().bytes.data());
    for (size_t i = 0; i < wanted.back().bytes.size() / sizeof(float); ++i)
      values[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  }
  wanted.push_back(Tensor::like(*before.outputs[0]));
  std::vector<Tensor> got = wanted;
  interpret(before, wanted);
  interpret(schedule.program(), got);
  EXPECT_EQ(max_error(wanted.back(), got.back()), 0.0);
}

void expect_refused(const std::string& inputs, const std::string& compute, const std::string& reason) {
  const Program before = make_program("{n: 6}", inputs, compute);
  Schedule schedule(before);
  try {
    schedule.winograd(schedule.get_block("O"));
    ADD_FAILURE() << "not refused: " << compute;
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    EXPECT_EQ(body_of(schedule), body_of(Schedule(before)));
  }
}

TEST(Winograd, WhatIsRefused) {
  const std::string x = "{X: {shape: [20], dtype: f32}, W: {shape: [3], dtype: f32}}";
  const std::string none = "no output axis has a filter of three taps with stride one";
  expect_refused(x, "O[i<n] = sum(r<3) X[i * 2 + r] * W[r]", none);
  expect_refused(x, "O[i<n] = sum(r<3) X[i + r * 2] * W[r]", none);
  expect_refused(x, "O[i<n] = sum(r<2) X[i + r] * W[r]", none);
  expect_refused(x, "O[i<1] = sum(r<3) X[i + r] * W[r]", none);
  expect_refused(x, "O[i<n] = sum(r<3) X[i + r] * W[2 - r]", none);
  expect_refused(x, "O[i<n] = X[i] * W[0]", "the block is not a sum");
  expect_refused(x, "O[i<n] = sum(r<3) (X[i + r] + W[r])",
                 "the block is not a sum of products of two elements");
  expect_refused(x, "O[i<n] = max(r<3) X[i + r] * W[r]",
                 "the block is not a sum of products of two elements");
  expect_refused("{X: {shape: [20], dtype: i32}, W: {shape: [3], dtype: i32}}",
                 "O[i<n] = sum(r<3) X[i + r] * W[r]", "only sums of f32 and f64 have the precision");
}

TEST(Winograd, ATransformedNestIsRefused) {
  const Program before = make_program("{n: 6}", "{X: {shape: [8], dtype: f32}, W: {shape: [3], dtype: f32}}",
                                      "O[i<n] = sum(r<3) X[i + r] * W[r]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  schedule.split(schedule.get_loops(block)[0], {std::nullopt, 2});
  EXPECT_THROW(schedule.winograd(block), ScheduleError);
}

}  // namespace
}  // namespace tunesmith::test

#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

/// The sum over k of a[i][k] * b[k][j], for row-major values.
std::vector<double> multiplied(const std::vector<double>& a, const std::vector<double>& b, size_t rows,
                               size_t terms, size_t columns) {
  std::vector<double> c(rows * columns, 0.0);
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < terms; ++k)
      for (size_t j = 0; j < columns; ++j) c[i * columns + j] += a[i * terms + k] * b[k * columns + j];
  return c;
}

TEST(OnnxProducts, MatMulTakesAllRanks) {
  const Given a = drawn({2, 3}, 1);
  const Given b = drawn({3, 4}, 2);
  const std::vector<double> x = values_of(a.value);
  const std::vector<double> y = values_of(b.value);
  expect_tensor(run({"MatMul", 13, {a, b}}), {2, 4}, multiplied(x, y, 2, 3, 4));
  expect_tensor(run({"MatMul", 13, {drawn({3}, 1), b}}), {4},
                multiplied(values_of(drawn({3}, 1).value), y, 1, 3, 4));
  expect_tensor(run({"MatMul", 13, {a, drawn({3}, 2)}}), {2},
                multiplied(x, values_of(drawn({3}, 2).value), 2, 3, 1));
  expect_tensor(run({"MatMul", 13, {drawn({3}, 1), drawn({3}, 2)}}), {},
                multiplied(values_of(drawn({3}, 1).value), values_of(drawn({3}, 2).value), 1, 3, 1));
  EXPECT_THAT(refusal_of({"MatMul", 13, {a, drawn({4, 2}, 2)}}), testing::HasSubstr("columns of the first"));
}

TEST(OnnxProducts, MatMulBroadcastsBatches) {
  const Given a = drawn({2, 1, 2, 3}, 1);
  const Given b = drawn({5, 3, 2}, 2);
  const Tensor found = run({"MatMul", 13, {a, b}});
  EXPECT_EQ(found.shape, (Ints{2, 5, 2, 2}));
  for (int64_t i = 0; i < found.elements(); ++i) {
    const int64_t outer = i / 20, inner = i / 4 % 5, row = i / 2 % 2, column = i % 2;
    double expected = 0;
    for (int64_t k = 0; k < 3; ++k)
      expected += a.value.get(outer * 6 + row * 3 + k) * b.value.get(inner * 6 + k * 2 + column);
    EXPECT_NEAR(found.get(i), expected, 1e-12) << i;
  }
}

TEST(OnnxProducts, GemmTransposesScalesAndAdds) {
  const Given a = drawn({3, 2}, 1);
  const Given b = drawn({4, 3}, 2);
  const Given c = drawn({4}, 3);
  const Tensor found = run({"Gemm",
                            13,
                            {a, b, c},
                            {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}}});
  EXPECT_EQ(found.shape, (Ints{2, 4}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 3; ++k) sum += a.value.get(k * 2 + i) * b.value.get(j * 3 + k);
      EXPECT_NEAR(found.get(i * 4 + j), 0.5 * sum + 2 * c.value.get(j), 1e-12);
    }
  expect_tensor(run({"Gemm", 13, {given({1, 2}, {1, 2}), given({2, 1}, {3, 4})}}), {1, 1}, {11});
  EXPECT_THAT(refusal_of({"Gemm", 13, {a, b}}), testing::HasSubstr("columns of the first"));
}

struct ConvCase {
  Ints x, w, strides, dilations, pads;
  int64_t groups = 1;
};

double input_at(const Tensor& x, int64_t batch, int64_t channel, int64_t row, int64_t column) {
  const auto& s = x.shape;
  return row < 0 || column < 0 || row >= s[2] || column >= s[3]
             ? 0.0
             : x.get(((batch * s[1] + channel) * s[2] + row) * s[3] + column);
}

/// A convolution with two spatial axes, as specified.
double convolved_at(const Tensor& x, const Tensor& w, const ConvCase& c, const std::array<int64_t, 4>& at) {
  const int64_t group = at[1] / (w.shape[0] / c.groups);
  double sum = 0;
  for (int64_t k = 0; k < w.shape[1]; ++k)
    for (int64_t i = 0; i < w.shape[2]; ++i)
      for (int64_t j = 0; j < w.shape[3]; ++j)
        sum +=
            input_at(x, at[0], group * w.shape[1] + k, at[2] * c.strides[0] + i * c.dilations[0] - c.pads[0],
                     at[3] * c.strides[1] + j * c.dilations[1] - c.pads[1]) *
            w.get(((at[1] * w.shape[1] + k) * w.shape[2] + i) * w.shape[3] + j);
  return sum;
}

TEST(OnnxProducts, ConvTakesStridesDilationsPadsAndGroups) {
  const std::vector<ConvCase> cases{
      {{2, 4, 5, 6}, {6, 4, 3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{1, 4, 7, 6}, {6, 2, 3, 3}, {2, 1}, {1, 2}, {1, 2, 0, 3}, 2},
      {{1, 4, 5, 5}, {8, 1, 3, 3}, {1, 2}, {1, 1}, {1, 1, 1, 1}, 4},
      {{1, 4, 5, 5}, {3, 4, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
  };
  for (const ConvCase& c : cases) {
    const Given x = drawn(c.x, 1), w = drawn(c.w, 2), bias = drawn({c.w[0]}, 3);
    const Attributes attributes{
        {"strides", c.strides}, {"dilations", c.dilations}, {"pads", c.pads}, {"group", c.groups}};
    const Tensor found = run({"Conv", 11, {x, w, bias}, attributes});
    const auto extent = [&](size_t i) {
      return (c.x[2 + i] + c.pads[i] + c.pads[2 + i] - (c.w[2 + i] - 1) * c.dilations[i] - 1) / c.strides[i] +
             1;
    };
    ASSERT_EQ(found.shape, (Ints{c.x[0], c.w[0], extent(0), extent(1)}));
    for (int64_t i = 0; i < found.elements(); ++i) {
      const int64_t columns = extent(1), rows = extent(0);
      const std::array<int64_t, 4> at{i / (columns * rows * c.w[0]), i / (columns * rows) % c.w[0],
                                      i / columns % rows, i % columns};
      ASSERT_NEAR(found.get(i), convolved_at(x.value, w.value, c, at) + bias.value.get(at[1]), 1e-12) << i;
    }
  }
}

TEST(OnnxProducts, ConvPadsAutomatically) {
  const Given x = given({1, 1, 4}, {1, 2, 3, 4});
  const Given w = given({1, 1, 2}, {1, 10});
  expect_tensor(run({"Conv", 11, {x, w}, {{"auto_pad", "SAME_UPPER"}}}), {1, 1, 4}, {21, 32, 43, 4});
  expect_tensor(run({"Conv", 11, {x, w}, {{"auto_pad", "SAME_LOWER"}}}), {1, 1, 4}, {10, 21, 32, 43});
  expect_tensor(run({"Conv", 11, {x, w}, {{"auto_pad", "VALID"}}}), {1, 1, 3}, {21, 32, 43});
  expect_tensor(
      run({"Conv", 11, {given({1, 1, 1, 2, 2}, {1, 2, 3, 4}), given({1, 1, 1, 2, 2}, {1, 10, 100, 1000})}}),
      {1, 1, 1, 1, 1}, {4321});
  EXPECT_THAT(refusal_of({"Conv", 11, {x, w}, {{"auto_pad", "SOME"}}}),
              testing::HasSubstr("'auto_pad' is 'SOME'"));
  EXPECT_THAT(refusal_of({"Conv", 11, {x, w}, {{"group", int64_t{3}}}}), testing::HasSubstr("groups"));
}

/// Scatters each input element over the output, which loses `begin` elements on each side.
std::vector<double> scattered(const Tensor& x, const Tensor& w, int64_t stride, int64_t dilation,
                              int64_t begin, int64_t extent) {
  std::vector<double> y(static_cast<size_t>(w.shape[1] * extent), 0.0);
  for (int64_t c = 0; c < x.shape[1]; ++c)
    for (int64_t f = 0; f < w.shape[1]; ++f)
      for (int64_t i = 0; i < x.shape[2]; ++i)
        for (int64_t k = 0; k < w.shape[2]; ++k) {
          const int64_t at = i * stride + k * dilation - begin;
          if (at >= 0 && at < extent)
            y[static_cast<size_t>(f * extent + at)] +=
                x.get(c * x.shape[2] + i) * w.get((c * w.shape[1] + f) * w.shape[2] + k);
        }
  return y;
}

TEST(OnnxProducts, ConvTransposeScatters) {
  const Given x = drawn({1, 2, 4}, 1), w = drawn({2, 3, 3}, 2);
  for (const int64_t stride : {1, 2, 3})
    for (const int64_t dilation : {1, 2})
      for (const int64_t begin : {0, 1}) {
        const int64_t extent = stride * 3 + 1 + 2 * dilation - begin;
        const Attributes attributes{
            {"strides", Ints{stride}}, {"dilations", Ints{dilation}}, {"pads", Ints{begin, 0}}};
        expect_tensor(run({"ConvTranspose", 11, {x, w}, attributes}), {1, 3, extent},
                      scattered(x.value, w.value, stride, dilation, begin, extent));
      }
  // The odd element is removed at the end; before version 11 at the beginning, except for SAME_UPPER.
  for (const auto& [version, pad, begin] :
       {std::tuple(11, "NOTSET", 1), {11, "SAME_UPPER", 0}, {10, "NOTSET", 0}, {10, "SAME_UPPER", 1}})
    expect_tensor(run({"ConvTranspose",
                       version,
                       {x, w},
                       {{"strides", Ints{2}}, {"output_shape", Ints{8}}, {"auto_pad", pad}}}),
                  {1, 3, 8}, scattered(x.value, w.value, 2, 1, begin, 8));
  const Tensor more = run({"ConvTranspose", 11, {x, w}, {{"strides", Ints{2}}, {"output_padding", Ints{1}}}});
  expect_tensor(more, {1, 3, 10}, scattered(x.value, w.value, 2, 1, 0, 10));
}

TEST(OnnxProducts, ConvTransposeTakesGroupsAndBias) {
  const Given x = given({1, 2, 1}, {2, 3}), w = given({2, 1, 2}, {1, 10, 100, 1000});
  expect_tensor(run({"ConvTranspose", 11, {x, w, given({2}, {0.5, 0.25})}, {{"group", int64_t{2}}}}),
                {1, 2, 2}, {2.5, 20.5, 300.25, 3000.25});
}

}  // namespace
}  // namespace tunesmith::operators_onnx

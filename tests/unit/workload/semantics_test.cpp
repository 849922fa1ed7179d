// Compares the library's operators with loops written out here.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

/// Row-major numbers.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> data;

  explicit Array(std::vector<int64_t> extents) : shape(std::move(extents)) {
    data.resize(
        static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())));
  }
  template <typename... Index>
  double& operator()(Index... index) {
    const std::array<int64_t, sizeof...(Index)> at{static_cast<int64_t>(index)...};
    EXPECT_EQ(at.size(), shape.size());
    int64_t position = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      EXPECT_TRUE(at[i] >= 0 && at[i] < shape[i]);
      position = position * shape[i] + at[i];
    }
    return data[static_cast<size_t>(position)];
  }
};

/// A workload interpreted once on random inputs.
struct Execution {
  explicit Execution(const std::string& text) : Execution(WorkloadLibrary().load(text)) {}
  explicit Execution(const Workload& workload) {
    const Program& program = workload.program;
    std::vector<Tensor> arguments;
    for (const auto* list : {&program.inputs, &program.outputs}) {
      for (const Buffer& buffer : *list) arguments.push_back(Tensor::like(*buffer));
    }
    for (size_t i = 0; i < program.inputs.size(); ++i) arguments[i].fill_random(i + 1);
    interpret(program, arguments);
    size_t next = 0;
    for (const auto* list : {&program.inputs, &program.outputs}) {
      for (const Buffer& buffer : *list) {
        Array array(buffer->shape);
        for (size_t i = 0; i < array.data.size(); ++i)
          array.data[i] = arguments[next].get(static_cast<int64_t>(i));
        arrays.emplace(buffer->name, std::move(array));
        ++next;
      }
    }
  }
  Array& operator[](const std::string& name) { return arrays.at(name); }

  std::map<std::string, Array> arrays;
};

void expect_near(const Array& actual, const Array& expected, double tolerance = 2e-5) {
  ASSERT_EQ(actual.shape, expected.shape);
  for (size_t i = 0; i < expected.data.size(); ++i) {
    ASSERT_NEAR(actual.data[i], expected.data[i], tolerance * (1.0 + std::fabs(expected.data[i])))
        << "element " << i;
  }
}

struct Window {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  int64_t out(int64_t in, int64_t kernel) const {
    return (in + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

/// Convolution over D, H, W of X[D, H, W, CI] with W[KD, KH, KW, CI/groups, CO]; a dimension of kernel 1 and
/// extent 1 is not padded.
Array convolve(Array x, Array w, const Window& window) {
  std::array<int64_t, 3> in{}, kernel{}, out{}, padding{};
  for (size_t d = 0; d < 3; ++d) {
    in[d] = x.shape[d];
    kernel[d] = w.shape[d];
    const bool flat = in[d] == 1 && kernel[d] == 1;
    padding[d] = flat ? 0 : window.padding;
    out[d] = flat ? 1 : window.out(in[d], kernel[d]);
  }
  const int64_t ci = w.shape[3];
  const int64_t co = w.shape[4];
  Array o({out[0], out[1], out[2], co});
  for (int64_t z = 0; z < out[0]; ++z)
    for (int64_t y = 0; y < out[1]; ++y)
      for (int64_t p = 0; p < out[2]; ++p)
        for (int64_t f = 0; f < co; ++f)
          for (int64_t kz = 0; kz < kernel[0]; ++kz)
            for (int64_t ky = 0; ky < kernel[1]; ++ky)
              for (int64_t kx = 0; kx < kernel[2]; ++kx) {
                const int64_t sz = z * window.stride + kz * window.dilation - padding[0];
                const int64_t sy = y * window.stride + ky * window.dilation - padding[1];
                const int64_t sx = p * window.stride + kx * window.dilation - padding[2];
                if (sz < 0 || sz >= in[0] || sy < 0 || sy >= in[1] || sx < 0 || sx >= in[2]) continue;
                const int64_t group = f * window.groups / co;
                for (int64_t c = 0; c < ci; ++c)
                  o(z, y, p, f) += x(sz, sy, sx, group * ci + c) * w(kz, ky, kx, c, f);
              }
  return o;
}

Array reshaped(Array array, std::vector<int64_t> shape) {
  array.shape = std::move(shape);
  return array;
}

TEST(WorkloadSemantics, Gmm) {
  for (const char* text :
       {"gmm:b=2,n=3,m=5,k=7", "gmm:n=3,m=5,k=7,dtype=u8,b_dtype=i8", "gmm:n=3,m=5,k=7,dtype=bf16"}) {
    SCOPED_TRACE(text);
    Execution run(text);
    Array& a = run["A"];
    Array expected(run["C"].shape);
    for (int64_t z = 0; z < a.shape[0]; ++z)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 5; ++j)
          for (int64_t k = 0; k < 7; ++k) expected(z, i, j) += a(z, i, k) * run["B"](z, k, j);
    expect_near(run["C"], expected);
  }
}

TEST(WorkloadSemantics, Conv2d) {
  struct Case {
    const char* text;
    Window window;
  };
  for (const auto& [text, window] :
       {Case{"conv2d:h=7,w=5,ci=3,co=4,kernel=3,stride=1,padding=1", {1, 1, 1, 1}},
        Case{"conv2d:h=9,w=8,ci=2,co=3,kernel=3,stride=2,padding=2,dilation=2", {2, 2, 2, 1}},
        Case{"conv2d:h=6,w=7,ci=4,co=6,kernel=2,stride=3,padding=0,groups=2", {3, 0, 1, 2}},
        Case{"conv2d:h=5,w=5,ci=6,co=3,kernel=1,stride=1,padding=0,groups=3", {1, 0, 1, 3}},
        Case{"conv2d:h=5,w=4,ci=4,co=4,kernel=3,stride=1,padding=1,groups=4,dtype=u8,w_dtype=i8",
             {1, 1, 1, 4}}}) {
    SCOPED_TRACE(text);
    Execution run(text);
    Array& x = run["X"];
    Array& w = run["W"];
    const Array o = convolve(reshaped(x, {1, x.shape[1], x.shape[2], x.shape[3]}),
                             reshaped(w, {1, w.shape[0], w.shape[1], w.shape[2], w.shape[3]}), window);
    expect_near(run["O"], o);
  }
}

TEST(WorkloadSemantics, Conv1d) {
  Execution run("conv1d:l=11,ci=4,co=6,kernel=3,stride=2,padding=1,dilation=2,groups=2");
  Array& w = run["W"];
  const Array o = convolve(reshaped(run["X"], {1, 1, 11, 4}), reshaped(w, {1, 1, 3, 2, 6}), {2, 1, 2, 2});
  expect_near(run["O"], reshaped(o, run["O"].shape));
}

TEST(WorkloadSemantics, Conv3d) {
  Execution run("conv3d:d=4,h=5,w=6,ci=2,co=3,kernel=3,stride=2,padding=1");
  expect_near(run["O"],
              reshaped(convolve(reshaped(run["X"], {4, 5, 6, 2}), run["W"], {2, 1, 1, 1}), run["O"].shape));
}

TEST(WorkloadSemantics, DepthwiseConv2d) {
  Execution run("depthwise_conv2d:h=7,w=6,c=5,kernel=3,stride=2,padding=1");
  const Array o =
      convolve(reshaped(run["X"], {1, 7, 6, 5}), reshaped(run["W"], {1, 3, 3, 1, 5}), {2, 1, 1, 5});
  expect_near(run["O"], reshaped(o, run["O"].shape));
}

TEST(WorkloadSemantics, TransposedConv2d) {
  struct Case {
    int64_t kernel, stride, padding;
  };
  for (const auto& [kernel, stride, padding] :
       {Case{4, 2, 1}, Case{3, 2, 1}, Case{3, 1, 1}, Case{2, 3, 0}, Case{5, 2, 2}}) {
    const std::string text = "transposed_conv2d:h=3,w=4,ci=2,co=3,kernel=" + std::to_string(kernel) +
                             ",stride=" + std::to_string(stride) + ",padding=" + std::to_string(padding);
    SCOPED_TRACE(text);
    Execution run(text);
    const int64_t oh = 2 * stride - 2 * padding + kernel;
    const int64_t ow = 3 * stride - 2 * padding + kernel;
    Array o({1, oh, ow, 3});
    for (int64_t y = 0; y < 3; ++y)
      for (int64_t x = 0; x < 4; ++x)
        for (int64_t ky = 0; ky < kernel; ++ky)
          for (int64_t kx = 0; kx < kernel; ++kx) {
            const int64_t ty = y * stride + ky - padding;
            const int64_t tx = x * stride + kx - padding;
            if (ty < 0 || ty >= oh || tx < 0 || tx >= ow) continue;
            for (int64_t c = 0; c < 2; ++c)
              for (int64_t f = 0; f < 3; ++f)
                o(0, ty, tx, f) += run["X"](0, y, x, c) * run["W"](ky, kx, c, f);
          }
    expect_near(run["O"], o);
  }
}

TEST(WorkloadSemantics, CapsuleConv2d) {
  Execution run("capsule_conv2d:h=5,w=4,ci=2,co=3,kernel=3,stride=2,padding=1");
  Array o(run["O"].shape);
  for (int64_t y = 0; y < o.shape[1]; ++y)
    for (int64_t x = 0; x < o.shape[2]; ++x)
      for (int64_t ky = 0; ky < 3; ++ky)
        for (int64_t kx = 0; kx < 3; ++kx) {
          const int64_t sy = 2 * y + ky - 1;
          const int64_t sx = 2 * x + kx - 1;
          if (sy < 0 || sy >= 5 || sx < 0 || sx >= 4) continue;
          for (int64_t i = 0; i < 4; ++i)
            for (int64_t j = 0; j < 4; ++j)
              for (int64_t r = 0; r < 4; ++r)
                for (int64_t c = 0; c < 2; ++c)
                  for (int64_t f = 0; f < 3; ++f)
                    o(0, y, x, i, j, f) += run["X"](0, sy, sx, i, r, c) * run["W"](ky, kx, r, j, c, f);
        }
  expect_near(run["O"], o);
}

TEST(WorkloadSemantics, ConvBiasBnRelu) {
  Execution run("conv_bias_bn_relu:h=6,w=5,ci=3,co=4,kernel=3,stride=1,padding=1");
  Array o = convolve(reshaped(run["X"], {1, 6, 5, 3}), reshaped(run["W"], {1, 3, 3, 3, 4}), {1, 1, 1, 1});
  for (int64_t y = 0; y < 6; ++y)
    for (int64_t x = 0; x < 5; ++x)
      for (int64_t f = 0; f < 4; ++f) {
        o(0, y, x, f) = std::max(0.0, (o(0, y, x, f) + run["Bias"](f)) * run["Scale"](f) + run["Offset"](f));
      }
  expect_near(run["O"], o);
}

TEST(WorkloadSemantics, Softmax) {
  Execution run("softmax:m=5,n=11");
  Array o({5, 11});
  for (int64_t i = 0; i < 5; ++i) {
    double total = 0.0;
    for (int64_t j = 0; j < 11; ++j) total += std::exp(run["X"](i, j));
    for (int64_t j = 0; j < 11; ++j) o(i, j) = std::exp(run["X"](i, j)) / total;
  }
  expect_near(run["O"], o);
}

TEST(WorkloadSemantics, Norm) {
  Execution run("norm:b=2,m=3,n=5");
  Array o({2});
  for (int64_t z = 0; z < 2; ++z) {
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j) o(z) += run["A"](z, i, j) * run["A"](z, i, j);
    o(z) = std::sqrt(o(z));
  }
  expect_near(run["D"], o);
}

TEST(WorkloadSemantics, LayerNorm) {
  Execution run("layer_norm:m=3,n=7");
  Array o({3, 7});
  for (int64_t i = 0; i < 3; ++i) {
    double mean = 0.0;
    double variance = 0.0;
    for (int64_t j = 0; j < 7; ++j) mean += run["X"](i, j) / 7;
    for (int64_t j = 0; j < 7; ++j) variance += std::pow(run["X"](i, j) - mean, 2) / 7;
    for (int64_t j = 0; j < 7; ++j) {
      o(i, j) = (run["X"](i, j) - mean) / std::sqrt(variance + 1e-5) * run["Scale"](j) + run["Offset"](j);
    }
  }
  expect_near(run["O"], o);
}

TEST(WorkloadSemantics, Pooling) {
  for (const std::string& dtype : {std::string("f32"), std::string("i8")}) {
    Execution largest("max_pool2d:h=7,w=6,c=3,kernel=3,stride=2,padding=1,dtype=" + dtype);
    Array most({1, 4, 3, 3});
    Execution average("avg_pool2d:h=7,w=6,c=3,kernel=3,stride=2,padding=1");
    Array mean({1, 4, 3, 3});
    for (int64_t y = 0; y < 4; ++y)
      for (int64_t x = 0; x < 3; ++x)
        for (int64_t f = 0; f < 3; ++f) {
          double best = -INFINITY;
          for (int64_t sy = std::max<int64_t>(0, 2 * y - 1); sy <= std::min<int64_t>(6, 2 * y + 1); ++sy)
            for (int64_t sx = std::max<int64_t>(0, 2 * x - 1); sx <= std::min<int64_t>(5, 2 * x + 1); ++sx) {
              best = std::max(best, largest["X"](0, sy, sx, f));
              mean(0, y, x, f) += average["X"](0, sy, sx, f) / 9;
            }
          most(0, y, x, f) = best;
        }
    expect_near(largest["O"], most);
    expect_near(average["O"], mean);
  }
}

TEST(WorkloadSemantics, DenseBiasGelu) {
  Execution run("dense_bias_gelu:n=3,m=5,k=7");
  Execution plain("dense_bias:n=3,m=5,k=7");
  Array o({3, 5});
  Array d({3, 5});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      double t = run["Bias"](j);
      d(i, j) = plain["Bias"](j);
      for (int64_t k = 0; k < 7; ++k) {
        t += run["X"](i, k) * run["W"](k, j);
        d(i, j) += plain["X"](i, k) * plain["W"](k, j);
      }
      o(i, j) = 0.5 * t * (1 + std::erf(t / std::sqrt(2.0)));
    }
  expect_near(run["O"], o);
  expect_near(plain["O"], d);
}

TEST(WorkloadSemantics, AttentionScores) {
  Execution run("attention_scores:b=2,seq=3,heads=2,dim=5");
  Array s({2, 2, 3, 3});
  for (int64_t z = 0; z < 2; ++z)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 3; ++j)
          for (int64_t r = 0; r < 5; ++r) s(z, h, i, j) += run["Q"](z, i, h, r) * run["K"](z, j, h, r);
  expect_near(run["S"], s);
}

TEST(WorkloadSemantics, ElementwiseAndReductions) {
  Execution chain("elementwise_chain:n=3,m=5");
  Execution relu("relu:n=3,m=5");
  Execution rows("reduce_sum_2d:m=3,n=5");
  Execution whole("reduce_sum_1d:n=17");
  Array chained({3, 5}), positive({3, 5}), sums({3}), sum({1});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      const double u = std::tanh(chain["X"](i, j) + chain["Y"](i, j)) * chain["Z"](j) - chain["X"](i, j);
      chained(i, j) = std::sqrt(std::fabs(u < 0 ? 0.1 * u : u) + 1);
      positive(i, j) = std::max(0.0, relu["X"](i, j));
      sums(i) += rows["X"](i, j);
    }
  for (int64_t i = 0; i < 17; ++i) sum(0) += whole["X"](i);
  expect_near(chain["O"], chained);
  expect_near(relu["O"], positive);
  expect_near(rows["S"], sums);
  expect_near(whole["S"], sum);
}

TEST(WorkloadSemantics, StagesSplitOffComputeTheSame) {
  Execution run(WorkloadDefinition::parse(
                    "name: w\ninputs: {X: {shape: [3, 5], dtype: f32}}\n"
                    "compute: O[i<3, j<5] = exp(X[i, j] - max(k<5) X[i, k]) / (sum(k<5) X[i, k] * X[i, k])\n"
                    "outputs: [O]\n",
                    "w.yaml")
                    .instantiate());
  Array o({3, 5});
  for (int64_t i = 0; i < 3; ++i) {
    double most = -INFINITY;
    double squares = 0.0;
    for (int64_t k = 0; k < 5; ++k) {
      most = std::max(most, run["X"](i, k));
      squares += run["X"](i, k) * run["X"](i, k);
    }
    for (int64_t j = 0; j < 5; ++j) o(i, j) = std::exp(run["X"](i, j) - most) / squares;
  }
  expect_near(run["O"], o);
}

// The whole library runs without reads of unwritten elements, at shapes that nothing divides.
TEST(WorkloadSemantics, EveryBuiltInRunsAtASmallShape) {
  const WorkloadLibrary library;
  for (const std::string& name : library.list()) {
    std::vector<ParamText> given;
    for (const WorkloadParam& param : library.definition(name).params()) {
      const std::string& p = param.name;
      if (p == "c" || p == "ci" || p == "co" || p == "heads" || p == "dim") given.emplace_back(p, "3");
      if (p == "n" || p == "m" || p == "k" || p == "h" || p == "w" || p == "l" || p == "d" || p == "seq")
        given.emplace_back(p, "5");
    }
    const Execution run(library.definition(name).instantiate(given));
    for (const auto& [buffer, array] : run.arrays) {
      EXPECT_TRUE(
          std::all_of(array.data.begin(), array.data.end(), [](double x) { return std::isfinite(x); }))
          << name << " " << buffer;
    }
  }
}

/// Strides determine the places of elements, not their values.
TEST(Strides, ChangeThePlaceAlone) {
  const auto workload = [](const std::string& strides) {
    return WorkloadDefinition::parse(
               "name: t\nparams: {n: 3, row: 8}\ninputs:\n  X: {shape: [n, 1, 5], dtype: f32}\ncompute: |\n"
               "  S[i<n] = sum(j<5) X[i, 0, j]\n  Y[i<n, j<5] = X[i, 0, j] - S[i]\noutputs: [Y]\n" +
                   strides,
               "w.yaml")
        .instantiate();
  };
  const Workload dense = workload(""), strided = workload("strides: {X: [row, 6, 1], Y: [row - 1, 1]}\n");
  EXPECT_EQ(workload("strides: {X: [5, 99, 1], Y: [5, 1]}\n").hash, dense.hash) << "they have no gaps";
  EXPECT_EQ(workload("strides: {X: [8, 5, 1], Y: [7, 1]}\n").hash, strided.hash) << "a single index";
  EXPECT_NE(strided.hash, dense.hash);
  EXPECT_NE(workload("strides: {X: [row, 6, 1]}\n").hash, strided.hash);
  EXPECT_EQ(strided.bytes_min, dense.bytes_min);
  EXPECT_EQ(strided.program.inputs[0]->strides, (std::vector<int64_t>{8, 5, 1}));
  EXPECT_EQ(strided.program.outputs[0]->bytes(), 4 * 19);
  Execution with(strided), without(dense);
  EXPECT_EQ(with.arrays.at("Y").data, without.arrays.at("Y").data);
}

}  // namespace
}  // namespace tunesmith

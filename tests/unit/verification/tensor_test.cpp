#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/verification/tensor.h>

namespace tunesmith {
namespace {

constexpr double kInfiniteValue = std::numeric_limits<double>::infinity();

TEST(Tensor, EveryF16SurvivesGetAndSet) {
  Tensor original = Tensor::zeros(kF16, {65536});
  for (int i = 0; i < 65536; ++i) {
    original.bytes[static_cast<size_t>(2 * i)] = static_cast<std::byte>(i & 0xff);
    original.bytes[static_cast<size_t>(2 * i + 1)] = static_cast<std::byte>(i >> 8);
  }
  Tensor copy = Tensor::zeros(kF16, {65536});
  for (int i = 0; i < 65536; ++i) {
    const double value = original.get(i);
    copy.set(i, value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(copy.get(i)));
      continue;
    }
    EXPECT_EQ(original.bytes[static_cast<size_t>(2 * i)], copy.bytes[static_cast<size_t>(2 * i)]) << i;
    EXPECT_EQ(original.bytes[static_cast<size_t>(2 * i + 1)], copy.bytes[static_cast<size_t>(2 * i + 1)])
        << i;
  }
  original.set(0, 1.0);
  EXPECT_EQ(original.bytes[1], std::byte{0x3c});
  original.set(0, -2.5);
  EXPECT_EQ(original.bytes[1], std::byte{0xc1});
}

TEST(Tensor, BF16IsTheUpperHalfOfF32) {
  Tensor tensor = Tensor::zeros(kBF16, {1});
  tensor.set(0, 1.0);
  EXPECT_EQ(tensor.bytes[0], std::byte{0x80});
  EXPECT_EQ(tensor.bytes[1], std::byte{0x3f});
  tensor.set(0, 257);  // halfway between 256 and 258
  EXPECT_EQ(tensor.get(0), 256);
  tensor.set(0, -kInfiniteValue);
  EXPECT_EQ(tensor.get(0), -kInfiniteValue);
}

TEST(Tensor, IntegersSaturateFromFloatsAndWrapFromIntegers) {
  Tensor i8 = Tensor::zeros(kI8, {1});
  i8.set(0, 300.7);
  EXPECT_EQ(i8.get_int(0), 127);
  i8.set_int(0, 300);
  EXPECT_EQ(i8.get_int(0), 44);
  Tensor u8 = Tensor::zeros(kU8, {1});
  u8.set_int(0, -1);
  EXPECT_EQ(u8.get_int(0), 255);
  Tensor i64 = Tensor::zeros(kI64, {1});
  const int64_t large = (int64_t{1} << 60) + 1;
  i64.set_int(0, large);
  EXPECT_EQ(i64.get_int(0), large);
  Tensor boolean = Tensor::zeros(kBool, {1});
  boolean.set(0, 0.25);
  EXPECT_EQ(boolean.get(0), 1);
}

TEST(Tensor, RandomContentsAreGivenByTheSeed) {
  for (const std::string& name : DType::names()) {
    Tensor a = Tensor::zeros(*DType::parse(name), {16, 16});
    Tensor b = a, c = a;
    a.fill_random(7);
    b.fill_random(7);
    c.fill_random(8);
    EXPECT_EQ(a, b) << name;
    EXPECT_NE(a, c) << name;
    int differs = 0;
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < i; ++j) differs += a.get(i * 16 + j) != a.get(j * 16 + i);
    }
    EXPECT_GT(differs, 30) << name;
  }
}

TEST(Tensor, MaxErrorTellsNumbersFromNaN) {
  Tensor a = Tensor::zeros(kF32, {3}), b = a;
  b.set(1, -0.5);
  EXPECT_EQ(max_error(a, b), 0.5);
  a.set(2, std::nan(""));
  EXPECT_EQ(max_error(a, b), kInfiniteValue);
  b.set(2, std::nan(""));
  EXPECT_EQ(max_error(a, b), 0.5);
  a.set(0, kInfiniteValue);
  b.set(0, kInfiniteValue);
  EXPECT_EQ(max_error(a, b), 0.5);
  EXPECT_EQ(max_error(a, Tensor::zeros(kF32, {1, 3})), kInfiniteValue);
  EXPECT_EQ(max_error(a, Tensor::zeros(kF64, {3})), kInfiniteValue);
}

TEST(Tensor, LiesInABufferWithGaps) {
  const Buffer buffer = make_buffer("b", kI16, {2, 2, 3}, kScopeGlobal, false, {20, 5, 1});
  Tensor tensor = Tensor::like(*buffer);
  tensor.fill_random(3);
  std::vector<int16_t> memory(28, 77);
  store_in(*buffer, tensor, reinterpret_cast<std::byte*>(memory.data()));
  for (int64_t i = 0; i < 28; ++i) {
    const bool element = (i % 20) % 5 < 3 && i % 20 < 10;
    EXPECT_EQ(memory[static_cast<size_t>(i)],
              element ? tensor.get_int(i / 20 * 6 + i % 20 / 5 * 3 + i % 5) : 77)
        << i;
  }
  EXPECT_EQ(load_from(*buffer, reinterpret_cast<const std::byte*>(memory.data())), tensor);
  std::vector<int64_t> begins;
  visit_runs(*buffer, [&](const ElementRun& run) { begins.push_back(run.begin); });
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 5, 20, 25}));
  begins.clear();
  visit_runs(*make_buffer("d", kF32, {4, 3}), [&](const ElementRun& run) { begins.push_back(run.count); });
  EXPECT_EQ(begins, (std::vector<int64_t>{12}));
}

}  // namespace
}  // namespace tunesmith

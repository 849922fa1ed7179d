#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "unit/verification/run_program.h"

namespace tunesmith {
namespace {

using test::make_program;
using test::store;
using test::values_of;

/// f(x) for each element of an input of type `from`, as an output of type `to`.
template <typename F>
std::vector<double> map(DType from, DType to, const std::vector<double>& x, const F& f) {
  const auto n = static_cast<int64_t>(x.size());
  const Buffer in = make_buffer("X", from, {n}), out = make_buffer("Y", to, {n});
  const Var i("i");
  const Program program = make_program({in}, {out}, test::loop(i, n, store(out, {i}, f(load(in, {i})))));
  std::vector<Tensor> arguments{Tensor::like(*in), Tensor::like(*out)};
  for (int64_t k = 0; k < n; ++k) arguments[0].set(k, x[static_cast<size_t>(k)]);
  interpret(program, arguments);
  return values_of(arguments[1]);
}

using Values = std::vector<double>;

TEST(Evaluate, NarrowFloatsRoundAfterEveryOperation) {
  // 2048 + 1 is a tie that goes to 2048; twice over it stays there, where f32 would reach 2050.
  const auto add_twice = [](const Expr& x) { return x + float_imm(1, x.dtype()) + float_imm(1, x.dtype()); };
  EXPECT_EQ(map(kF16, kF16, {2048, 2050}, add_twice), (Values{2048, 2052}));
  EXPECT_EQ(map(kBF16, kBF16, {256}, add_twice), (Values{256}));
  EXPECT_EQ(map(kF32, kF32, {16777216}, add_twice), (Values{16777216}));
  EXPECT_EQ(map(kF64, kF64, {16777216}, add_twice), (Values{16777218}));
  EXPECT_EQ(map(kF16, kF16, {60000}, [](const Expr& x) { return x + x; }),
            (Values{std::numeric_limits<double>::infinity()}));
}

TEST(Evaluate, FloatOperatorsMatchTheHost) {
  const Values x{0.1F, -3.7F, 1e-20F, 12345.678F};
  const auto expected = [&](auto f) {
    Values y;
    for (const double v : x) y.push_back(f(static_cast<float>(v)));
    return y;
  };
  EXPECT_EQ(map(kF32, kF32, x, [](const Expr& e) { return e * e - div(float_imm(1, kF32), e); }),
            expected([](float v) { return v * v - 1.0F / v; }));
  EXPECT_EQ(map(kF32, kF32, x, [](const Expr& e) { return call(MathOp::Sqrt, {call(MathOp::Abs, {e})}); }),
            expected([](float v) { return std::sqrt(std::abs(v)); }));
}

TEST(Evaluate, FunctionsAreRoundedToTheirType) {
  const struct {
    MathOp op;
    double (*f)(double);
  } cases[] = {
      {MathOp::Exp, [](double v) { return std::exp(v); }},
      {MathOp::Log, [](double v) { return std::log(v); }},
      {MathOp::Tanh, [](double v) { return std::tanh(v); }},
      {MathOp::Erf, [](double v) { return std::erf(v); }},
      {MathOp::Rsqrt, [](double v) { return 1 / std::sqrt(v); }},
      {MathOp::Sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
      {MathOp::Sin, [](double v) { return std::sin(v); }},
      {MathOp::Cos, [](double v) { return std::cos(v); }},
      {MathOp::Floor, [](double v) { return std::floor(v); }},
      {MathOp::Ceil, [](double v) { return std::ceil(v); }},
      {MathOp::RoundEven, [](double v) { return std::nearbyint(v); }},
  };
  for (const auto& [op, f] : cases) {
    for (const DType type : {kF16, kBF16, kF32, kF64}) {
      const double x = round_to(type, 1.37);
      EXPECT_EQ(map(type, type, {x}, [tried = op](const Expr& e) { return call(tried, {e}); }),
                (Values{round_to(type, f(x))}))
          << math_op_name(op) << " " << type.str();
    }
  }
  EXPECT_EQ(map(kF32, kF32, {3}, [](const Expr& e) { return call(MathOp::Pow, {e, float_imm(2, kF32)}); }),
            (Values{9}));
}

TEST(Evaluate, RoundsToTheEvenOneOfTwoIntegers) {
  const auto round = [](const Expr& e) { return call(MathOp::RoundEven, {e}); };
  for (const DType type : {kF16, kBF16, kF32, kF64}) {
    EXPECT_EQ(map(type, type, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.75, 1024}, round),
              (Values{-2, -2, 0, 0, 2, 2, 1, 1024}))
        << type.str();
  }
  // 0.5 cannot be added to the first without rounding, nor to the second.
  EXPECT_EQ(map(kF32, kF32, {0x1.fffffep-2, 8388609}, round), (Values{0, 8388609}));
}

TEST(Evaluate, RoundsToElevenBitsTiesAwayFromZero) {
  const auto round = [](const Expr& e) { return call(MathOp::RoundTf32, {e}); };
  const double step = 0x1p-10;
  for (const DType type : {kF32, kF64}) {
    EXPECT_EQ(
        map(type, type, {1 + step / 2, -1 - step / 2, 1 + step * 0.499, 1 + 1.5 * step, 2 - step / 4}, round),
        (Values{1 + step, -1 - step, 1, 1 + 2 * step, 2}))
        << type.str();
    EXPECT_EQ(map(type, type, {0, 3, -1024, 0x1p100}, round), (Values{0, 3, -1024, 0x1p100})) << type.str();
  }
  EXPECT_EQ(map(kF32, kF32, {3.4028e38}, round), (Values{std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(std::isnan(map(kF32, kF32, {std::numeric_limits<double>::quiet_NaN()}, round)[0]));
  EXPECT_EQ(map(kF16, kF16, {1.0009765625}, round), (Values{1.0009765625}));
}

TEST(Evaluate, IntegersWrapInTheirType) {
  const auto double_it = [](const Expr& x) { return x + x; };
  EXPECT_EQ(map(kI8, kI8, {100, -100}, double_it), (Values{-56, 56}));
  EXPECT_EQ(map(kU8, kU8, {200}, double_it), (Values{144}));
  EXPECT_EQ(map(kI32, kI32, {2147483647}, double_it), (Values{-2}));
  EXPECT_EQ(map(kI8, kI8, {-128}, [](const Expr& x) { return call(MathOp::Abs, {x}); }), (Values{-128}));
}

TEST(Evaluate, UnsignedIntegersOf64BitsAreAsLargeAsTheyAre) {
  const auto with = [](auto op, int64_t other) {
    return [=](const Expr& x) { return op(x, int_imm(other, x.dtype())); };
  };
  const double high = 0x1p63;
  EXPECT_EQ(map(kU64, kU64, {high, 5}, with([](const Expr& a, const Expr& b) { return max(a, b); }, 7)),
            (Values{high, 7}));
  EXPECT_EQ(map(kU64, kU64, {high, 5}, with([](const Expr& a, const Expr& b) { return min(a, b); }, 7)),
            (Values{7, 5}));
  EXPECT_EQ(map(kU64, kU64, {high, 7}, with(floordiv, 2)), (Values{0x1p62, 3}));
  EXPECT_EQ(map(kU64, kU64, {high, 7}, with(floormod, 3)), (Values{2, 1}));
  EXPECT_EQ(map(kU64, kBool, {high, 5}, with(lt, 7)), (Values{0, 1}));
  EXPECT_EQ(map(kU64, kF32, {high}, [](const Expr& x) { return cast(kF32, x); }), (Values{high}));
  EXPECT_EQ(map(kF64, kU64, {high, -1, 1e30}, [](const Expr& x) { return cast(kU64, x); }),
            (Values{high, 0, 0x1p64}));
  EXPECT_EQ(map(kU64, kU64, {high}, [](const Expr& x) { return call(MathOp::Abs, {x}); }), (Values{high}));
  EXPECT_EQ(map(kI32, kU16, {-1}, [](const Expr& x) { return cast(kU16, x); }), (Values{65535}));
  EXPECT_EQ(map(kU16, kI16, {40000}, [](const Expr& x) { return cast(kI16, x); }), (Values{40000 - 65536}));
}

TEST(Evaluate, ShiftsBeyondTheWidthLeaveNothing) {
  const auto by = [](MathOp op, int64_t places) {
    return [=](const Expr& x) { return call(op, {x, int_imm(places, x.dtype())}); };
  };
  EXPECT_EQ(map(kI8, kI8, {-3, 3}, by(MathOp::ShiftLeft, 6)), (Values{64, -64}));
  EXPECT_EQ(map(kI8, kI8, {-3, 3}, by(MathOp::ShiftRight, 1)), (Values{-2, 1}));
  EXPECT_EQ(map(kU8, kU8, {253}, by(MathOp::ShiftRight, 1)), (Values{126}));
  for (const int64_t places : {8, 100, -1}) {
    EXPECT_EQ(map(kI8, kI8, {-3, 3}, by(MathOp::ShiftLeft, places)), (Values{0, 0})) << places;
    EXPECT_EQ(map(kI8, kI8, {-3, 3}, by(MathOp::ShiftRight, places)), (Values{-1, 0})) << places;
    EXPECT_EQ(map(kU8, kU8, {253}, by(MathOp::ShiftRight, places)), (Values{0})) << places;
  }
}

TEST(Evaluate, DivisionsRoundAsTheyShould) {
  const auto by = [](auto op, int64_t divisor) {
    return [=](const Expr& x) { return op(x, int_imm(divisor, x.dtype())); };
  };
  EXPECT_EQ(map(kI32, kI32, {7, -7}, by(floordiv, 2)), (Values{3, -4}));
  EXPECT_EQ(map(kI32, kI32, {7, -7}, by(floormod, 4)), (Values{3, 1}));
  EXPECT_EQ(map(kI32, kI32, {7, -7}, by(div, 2)), (Values{3, -3}));
}

TEST(Evaluate, Casts) {
  EXPECT_EQ(map(kF32, kI8, {3.9, -3.9, 1000, -1000}, [](const Expr& x) { return cast(kI8, x); }),
            (Values{3, -3, 127, -128}));
  EXPECT_EQ(map(kI32, kU8, {-1, 256}, [](const Expr& x) { return cast(kU8, x); }), (Values{255, 0}));
  EXPECT_EQ(map(kI32, kF16, {2049}, [](const Expr& x) { return cast(kF16, x); }), (Values{2048}));
  EXPECT_EQ(map(kU8, kI32, {255}, [](const Expr& x) { return cast(kI32, x) * int_imm(1000, kI32); }),
            (Values{255000}));
  EXPECT_EQ(map(kF32, kBool, {0, -2}, [](const Expr& x) { return cast(kBool, x); }), (Values{0, 1}));
}

TEST(Evaluate, MinAndMaxAnswerTheSecondForNaN) {
  const double nan = std::nan("");
  EXPECT_EQ(map(kF32, kF32, {1, 3, nan}, [](const Expr& x) { return max(x, float_imm(2, kF32)); }),
            (Values{2, 3, 2}));
  EXPECT_EQ(map(kF32, kF32, {1, 3, nan}, [](const Expr& x) { return min(x, float_imm(2, kF32)); }),
            (Values{1, 2, 2}));
  EXPECT_TRUE(
      std::isnan(map(kF32, kF32, {nan}, [](const Expr& x) { return max(float_imm(2, kF32), x); })[0]));
}

TEST(Evaluate, Conditions) {
  const auto inside = [](const Expr& x) {
    return logical_or(logical_and(le(int_imm(2, kI32), x), lt(x, int_imm(4, kI32))), eq(x, int_imm(9, kI32)));
  };
  EXPECT_EQ(map(kI32, kBool, {1, 2, 3, 4, 9}, inside), (Values{0, 1, 1, 0, 1}));
  EXPECT_EQ(map(kI32, kBool, {1, 2, 3, 4, 9}, [&](const Expr& x) { return logical_not(inside(x)); }),
            (Values{1, 0, 0, 1, 0}));
}

TEST(Evaluate, OnlyTheChosenSideOfASelectIsEvaluated) {
  const Buffer in = make_buffer("X", kF32, {4}), out = make_buffer("Y", kF32, {6});
  const Var i("i");
  const Expr padded = select(logical_and(le(1, i), lt(i, 5)), load(in, {i - 1}), float_imm(-1, kF32));
  const Program program = make_program({in}, {out}, test::loop(i, 6, store(out, {i}, padded)));
  std::vector<Tensor> arguments{Tensor::like(*in), Tensor::like(*out)};
  for (int k = 0; k < 4; ++k) arguments[0].set(k, k);
  interpret(program, arguments);
  EXPECT_EQ(values_of(arguments[1]), (Values{-1, 0, 1, 2, 3, -1}));
}

TEST(Evaluate, VectorsWithMasksRampsAndBroadcasts) {
  const Buffer in = make_buffer("X", kI32, {6}), out = make_buffer("Y", kI32, {16});
  const Expr lanes = ramp(0, 1, 8);
  const Expr loaded = load(in, {lanes}, lt(lanes, 6));  // two lanes would be out of bounds
  auto body = test::seq(store(out, {ramp(0, 2, 8)}, loaded + int_imm(10, kI32)),
                        store(out, {ramp(1, 2, 8)}, load(in, {0}), lt(lanes, 7)));
  const Program program =
      make_program({in}, {out}, test::seq(std::move(body), store(out, {15}, int_imm(-1, kI32))));
  std::vector<Tensor> arguments{Tensor::like(*in), Tensor::like(*out)};
  for (int k = 0; k < 6; ++k) arguments[0].set_int(k, k + 1);
  interpret(program, arguments);
  EXPECT_EQ(values_of(arguments[1]), (Values{11, 1, 12, 1, 13, 1, 14, 1, 15, 1, 16, 1, 10, 1, 10, -1}));
}

}  // namespace
}  // namespace tunesmith

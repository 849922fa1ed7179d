// The nearest integer, as statements write it by floor and ceil, is one instruction.
#include "nearest_integer.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "assembly_text.h"
#include "lowered_program.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

using testing::count_of;

/// As operators_onnx writes it; other numbers are other functions.
Expr nearest(const Expr& x, double quarter = 0.25, double half = 0.5) {
  const auto number = [&](double value) { return constant(value, x.dtype()); };
  const Expr both = call(MathOp::Floor, {x + number(half)}) + call(MathOp::Ceil, {x - number(0.5)});
  return call(MathOp::Floor, {both * number(quarter) + number(0.25)}) +
         call(MathOp::Ceil, {both * number(0.25) - number(0.25)});
}

/// out[i] = the integer nearest to x[i], to which a byte is added.
LoweredProgram rounding(int64_t count, int lanes) {
  const Buffer x = make_buffer("x", kF32, {count}), zero = make_buffer("zero", kU8, {1}),
               out = make_buffer("out", kF32, {count});
  const Var i("i");
  const Expr at = ramp(Expr(i) * lanes, 1, lanes);
  const Expr shift = broadcast(cast(kF32, load(zero, {int_imm(0)})), lanes);
  const Expr sum = nearest(load(x, {at})) + shift;
  return testing::make_lowered(
      {x, zero}, {out},
      testing::make_loop(
          i, count / lanes, LoopKind::Serial,
          testing::make_store(out, at, call(MathOp::Floor, {sum + constant(0.5, sum.dtype())}))));
}

TEST(NearestInteger, IsTheEvenOneOfTwo) {
  std::vector<float> inputs;
  for (int i = -4000; i < 4000; ++i) {
    const float half = static_cast<float>(i) / 2;
    inputs.insert(inputs.end(), {half, std::nextafter(half, -1e9F), std::nextafter(half, 1e9F)});
  }
  RandomStream random(3);
  while (inputs.size() % 64 != 0 || inputs.size() < 30000)
    inputs.push_back(static_cast<float>(static_cast<int64_t>(random.next() % 2000000) - 1000000) / 64);
  for (const char* mcpu : {"native", "x86-64-v3", "x86-64"}) {
    const auto target = testing::make_target({{"mcpu", mcpu}});
    if (!target->probe().here()) continue;
    for (const int lanes : {1, 16}) {
      std::vector<float> x = inputs, got(x.size());
      uint8_t zero = 7;
      testing::run_compiled(*target, rounding(static_cast<int64_t>(x.size()), lanes),
                            {x.data(), &zero, got.data()});
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(got[i], std::nearbyint(x[i]) + 7) << x[i] << ' ' << mcpu << ' ' << lanes;
    }
  }
}

TEST(NearestInteger, IsOneInstruction) {
  const auto target = testing::make_target({{"mcpu", "skylake-avx512"}});
  const std::string code = target->assembly(rounding(64, 16), "kernel");
  EXPECT_EQ(count_of(code, "vrndscaleps"), 1) << code;
}

TEST(NearestInteger, NothingElseIsTakenForIt) {
  const Buffer a = make_buffer("a", kF32, {1}), b = make_buffer("b", kF32, {1}),
               c = make_buffer("c", kI32, {1});
  const Expr x = load(a, {int_imm(0)}), y = load(b, {int_imm(0)}),
             integer = cast(kF32, load(c, {int_imm(0)})), half = constant(0.5, kF32);
  const Expr* found = llvm_target::rounded_to_even(nearest(x));
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(equal(*found, x));
  EXPECT_EQ(llvm_target::rounded_to_even(nearest(x, 0.5)), nullptr);
  EXPECT_EQ(llvm_target::rounded_to_even(nearest(x, 0.25, 0.25)), nullptr);
  const Expr other = call(MathOp::Floor, {x + half}) + call(MathOp::Ceil, {y - half});
  const Expr quarter = constant(0.25, kF32);
  EXPECT_EQ(llvm_target::rounded_to_even(call(MathOp::Floor, {other * quarter + quarter}) +
                                         call(MathOp::Ceil, {other * quarter - quarter})),
            nullptr);
  EXPECT_NE(llvm_target::rounded_integer(call(MathOp::Floor, {nearest(x) + integer + half})), nullptr);
  EXPECT_EQ(llvm_target::rounded_integer(call(MathOp::Floor, {nearest(x) + y + half})), nullptr);
  EXPECT_EQ(llvm_target::rounded_integer(call(MathOp::Floor, {integer + quarter})), nullptr);
}

}  // namespace
}  // namespace tunesmith

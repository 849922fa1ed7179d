// Compares every kind of expression, compiled and interpreted, on scalars and vectors, with buffers that end
// at guard pages.
#include <array>
#include <functional>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

using testing::error_against_interpreter;
using testing::make_loop;
using testing::make_lowered;
using testing::make_store;
using testing::make_target;

constexpr int64_t kElements = 67;  // leaves a masked vector at every width
const std::vector<DType>& types() {
  static const std::vector<DType> all = {kF64, kF32, kF16, kBF16, kI64, kI32, kI16,
                                         kI8,  kU64, kU32, kU16,  kU8,  kBool};
  return all;
}

constexpr std::array<DType, 8> integers() { return {kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8}; }

using Function = std::function<Expr(const Expr& x, const Expr& y)>;

/// A function of two inputs of one type, and its result's type.
struct Expression {
  std::string name;
  DType out;
  Function function;
};

/// out_c[i] = function_c(x[i], y[i]); a tail that does not fill a vector is masked.
LoweredProgram elementwise(DType in, int lanes, const std::vector<Expression>& cases) {
  const Buffer x = make_buffer("x", in, {kElements}), y = make_buffer("y", in, {kElements});
  const Var i("i");
  const Expr at = ramp(Expr(i) * lanes, 1, lanes);
  const Expr mask = lanes == 1 ? Expr() : lt(at, broadcast(kElements, lanes));
  std::vector<Buffer> outputs;
  auto body = std::make_unique<Seq>();
  for (const Expression& each : cases) {
    outputs.push_back(make_buffer(each.name, each.out, {kElements}));
    body->append(
        make_store(outputs.back(), at, each.function(load(x, {at}, mask), load(y, {at}, mask)), mask));
  }
  return make_lowered({x, y}, outputs,
                      make_loop(i, (kElements + lanes - 1) / lanes, LoopKind::Serial, std::move(body)));
}

class Expressions : public ::testing::TestWithParam<std::string> {
 protected:
  Expressions()
      : target(make_target({{"contract", "false"}, {"reciprocal", "false"}, {"mcpu", GetParam()}})) {}
  void SetUp() override {
    if (!target->probe().here()) GTEST_SKIP() << "the processor lacks " << target->probe().missing;
  }

  void check(DType in, const std::vector<Expression>& cases, double tolerance = 0.0) {
    for (const int lanes : {1, 4, 16}) {
      const LoweredProgram lowered = elementwise(in, lanes, cases);
      std::vector<Tensor> expected = test::random_arguments(lowered.program);
      const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
      interpret(lowered.program, expected);
      for (size_t c = 0; c < cases.size(); ++c) {
        EXPECT_LE(max_error(got[c + 2], expected[c + 2]), tolerance)
            << cases[c].name << ", " << in.str() << " -> " << cases[c].out.str() << ", " << lanes << " lanes";
      }
    }
  }

  std::unique_ptr<llvm_target::LlvmTarget> target;
};

Expr not_zero(const Expr& y) { return select(eq(y, int_imm(0, y.dtype())), int_imm(5, y.dtype()), y); }
Expr positive(const Expr& x) { return call(MathOp::Abs, {x}) + constant(0.5, x.dtype()); }

// Everything that this machine has, AVX2 with FMA, and the minimum of x86-64.
INSTANTIATE_TEST_SUITE_P(Processors, Expressions, ::testing::Values("native", "x86-64-v3", "x86-64"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Expressions, Arithmetic) {
  for (const DType type : types()) {
    if (type.is_bool()) continue;
    std::vector<Expression> cases = {
        {"sum", type, [](const Expr& x, const Expr& y) { return x + y; }},
        {"difference", type, [](const Expr& x, const Expr& y) { return x - y; }},
        {"product", type, [](const Expr& x, const Expr& y) { return x * y; }},
        {"multiply_add", type, [](const Expr& x, const Expr& y) { return x * y + x; }},
        {"multiply_subtract", type, [](const Expr& x, const Expr& y) { return x - x * y; }},
        {"minimum", type, [](const Expr& x, const Expr& y) { return min(x, y); }},
        {"maximum", type, [](const Expr& x, const Expr& y) { return max(x, y); }},
        {"negative", type, [](const Expr& x, const Expr&) { return -x; }},
    };
    if (type.is_float())
      cases.push_back({"quotient", type, [](const Expr& x, const Expr& y) { return div(x, y); }});
    check(type, cases);
  }
}

TEST_P(Expressions, Division) {
  for (const DType type : integers()) {
    std::vector<Expression> cases;
    for (const int64_t divisor : {1, 3, 7, 8, 100}) {
      const Expr by = int_imm(divisor, type);
      const std::string name = std::to_string(divisor);
      cases.push_back({"floordiv" + name, type, [=](const Expr& x, const Expr&) { return floordiv(x, by); }});
      cases.push_back({"floormod" + name, type, [=](const Expr& x, const Expr&) { return floormod(x, by); }});
      cases.push_back({"div" + name, type, [=](const Expr& x, const Expr&) { return div(x, by); }});
    }
    cases.push_back(
        {"floordiv_y", type, [](const Expr& x, const Expr& y) { return floordiv(x, not_zero(y)); }});
    cases.push_back(
        {"floormod_y", type, [](const Expr& x, const Expr& y) { return floormod(x, not_zero(y)); }});
    cases.push_back({"by_zero_in_a_select", type, [](const Expr& x, const Expr& y) {
                       const Expr zero = int_imm(0, y.dtype());
                       const Expr divisor = min(max(y, zero), int_imm(1, y.dtype()));
                       return select(eq(divisor, zero), x, div(x, divisor));
                     }});
    check(type, cases);
  }
}

TEST_P(Expressions, BitsOfIntegers) {
  for (const DType type : integers()) {
    std::vector<Expression> cases;
    for (const MathOp op :
         {MathOp::BitAnd, MathOp::BitOr, MathOp::BitXor, MathOp::ShiftLeft, MathOp::ShiftRight}) {
      const std::string name(math_op_name(op));
      // Shift counts are arbitrary: most exceed the width or are negative.
      cases.push_back({name, type, [=](const Expr& x, const Expr& y) { return call(op, {x, y}); }});
      for (const int64_t by : {0, 1, 7, type.bits - 1}) {
        cases.push_back({name + std::to_string(by), type,
                         [=](const Expr& x, const Expr&) { return call(op, {x, int_imm(by, x.dtype())}); }});
      }
      cases.push_back({name + "_few", type, [=](const Expr& x, const Expr& y) {
                         return call(op, {x, floormod(y, int_imm(type.bits + 2, y.dtype()))});
                       }});
    }
    check(type, cases);
  }
}

TEST_P(Expressions, IntegersWrapAround) {
  for (const DType type : integers()) {
    const Expr one = int_imm(1, type);
    const std::vector<Expression> cases = {
        {"next_is_more", kBool, [=](const Expr& x, const Expr&) { return lt(x, x + one); }},
        {"before_is_less", kBool, [=](const Expr& x, const Expr&) { return le(x - one, x); }},
        {"sum_less", kBool, [](const Expr& x, const Expr& y) { return lt(x + y, y + y); }},
        {"sum_equal", kBool, [](const Expr& x, const Expr& y) { return eq(x + x, y + y); }},
        {"sum", type, [](const Expr& x, const Expr& y) { return x + y; }},
        {"difference", type, [](const Expr& x, const Expr& y) { return x - y; }},
        {"product", type, [](const Expr& x, const Expr& y) { return x * y; }},
        {"negative", type, [](const Expr& x, const Expr&) { return -x; }},
        {"abs", type, [](const Expr& x, const Expr&) { return call(MathOp::Abs, {x}); }},
        {"half", type, [=](const Expr& x, const Expr& y) { return floordiv(x + y, one + one); }},
        {"div", type, [](const Expr& x, const Expr& y) { return div(x, not_zero(y)); }},
        {"floordiv", type, [](const Expr& x, const Expr& y) { return floordiv(x, not_zero(y)); }},
        {"floormod", type, [](const Expr& x, const Expr& y) { return floormod(x, not_zero(y)); }},
        {"by_minus_one", type, [=](const Expr& x, const Expr&) { return div(x, -one); }},
        {"maximum", type, [=](const Expr& x, const Expr& y) { return max(x + one, y); }}};
    const int64_t greatest = reduction_identity(ExprKind::Min, type).as<IntImm>()->value;
    const std::vector<int64_t> edges = {greatest, greatest + 1, greatest - 1, 0, 1, -1, 2, -2,
                                        3,        greatest / 2};
    for (const int lanes : {1, 4, 16}) {
      const LoweredProgram lowered = elementwise(type, lanes, cases);
      std::vector<Tensor> expected = test::random_arguments(lowered.program);
      for (int64_t i = 0; i < kElements; ++i) {
        const auto at = static_cast<size_t>(i);
        expected[0].set_int(i, edges[at % edges.size()]);
        expected[1].set_int(i, edges[at / edges.size() % edges.size()]);
      }
      const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
      interpret(lowered.program, expected);
      EXPECT_EQ(expected[2].get_int(0), 0) << "the greatest is not less than the next";
      for (size_t c = 0; c < cases.size(); ++c)
        EXPECT_EQ(got[c + 2], expected[c + 2]) << cases[c].name << ", " << type.str() << ", " << lanes;
    }
  }
}

TEST_P(Expressions, Conditions) {
  for (const DType type : types()) {
    std::vector<Expression> cases = {
        {"equal", kBool, [](const Expr& x, const Expr& y) { return eq(x, y); }},
        {"unequal", kBool, [](const Expr& x, const Expr& y) { return ne(x, y); }}};
    if (type.is_bool()) {
      cases.push_back({"connectives", kBool, [](const Expr& x, const Expr& y) {
                         return logical_or(logical_and(x, y), logical_not(y));
                       }});
    } else {
      cases.push_back({"select", type, [](const Expr& x, const Expr& y) { return select(lt(x, y), x, y); }});
      cases.push_back({"less_equal", kBool, [](const Expr& x, const Expr& y) { return le(x, y); }});
      cases.push_back({"less", kBool, [](const Expr& x, const Expr& y) { return lt(x, y); }});
    }
    check(type, cases);
  }
}

TEST_P(Expressions, Casts) {
  for (const DType from : types()) {
    std::vector<Expression> cases;
    for (const DType to : types()) {
      cases.push_back({"to_" + to.str(), to, [=](const Expr& x, const Expr&) { return cast(to, x); }});
      if (!from.is_float()) continue;
      const auto scaled = [&](double factor) {
        return [=](const Expr& x, const Expr&) { return cast(to, x * constant(factor, x.dtype())); };
      };
      cases.push_back({"small_to_" + to.str(), to, scaled(1e-5)});
      // Beyond the range of every integer type, and not a number.
      cases.push_back({"big_to_" + to.str(), to, scaled(from.bits < 32 ? 1e4 : 1e30)});
      cases.push_back({"nan_to_" + to.str(), to, [=](const Expr& x, const Expr& y) {
                         return cast(to, call(MathOp::Sqrt, {min(x, y) - constant(2.0, x.dtype())}));
                       }});
    }
    check(from, cases);
  }
}

TEST_P(Expressions, Functions) {
  for (const DType type : {kF64, kF32, kF16, kBF16}) {
    std::vector<Expression> cases;
    for (const MathOp op :
         {MathOp::Exp, MathOp::Tanh, MathOp::Erf, MathOp::Sigmoid, MathOp::Abs, MathOp::Floor, MathOp::Ceil,
          MathOp::RoundEven, MathOp::RoundTf32, MathOp::Sin, MathOp::Cos}) {
      cases.push_back(
          {std::string(math_op_name(op)), type, [=](const Expr& x, const Expr&) { return call(op, {x}); }});
    }
    for (const MathOp op : {MathOp::Log, MathOp::Sqrt, MathOp::Rsqrt}) {
      cases.push_back({std::string(math_op_name(op)), type,
                       [=](const Expr& x, const Expr&) { return call(op, {positive(x)}); }});
    }
    cases.push_back(
        {"pow", type, [](const Expr& x, const Expr& y) { return call(MathOp::Pow, {positive(x), y}); }});
    cases.push_back({"square", type, [](const Expr& x, const Expr&) {
                       return call(MathOp::Pow, {x, constant(2.0, x.dtype())});
                     }});
    // Two units in the last place of values up to 3; functions of 16-bit types are one rounding away.
    check(type, cases, 8 * unit_roundoff(type) + 1e-15);
  }
  for (const DType type : integers()) {
    check(type, {{"abs", type, [](const Expr& x, const Expr&) { return call(MathOp::Abs, {x}); }}});
  }
}

TEST_P(Expressions, IndicesAsValues) {
  const Buffer out = make_buffer("out", kI64, {400});
  const Var i("i"), j("j");
  const Expr index = (Expr(i) - 5) * 3 + Expr(j) * 4;
  const std::vector<Expr> values = {floordiv(index, 3),
                                    floormod(index, 3),
                                    floordiv(index, 4),
                                    floormod(index, 4),
                                    floordiv(index, 7) * floormod(index, 5),
                                    min(index, j),
                                    max(index, i),
                                    Expr(i) * Expr(j),
                                    floordiv(i * j, 6),
                                    floordiv(Expr(i) * 8 + j, 8),
                                    floormod(Expr(i) * 8 + j, 8),
                                    floormod(floordiv(index, 2), 3),
                                    select(lt(i, j), i, index),
                                    cast(kIndex, cast(kI8, index * 50))};
  for (size_t v = 0; v < values.size(); ++v) {
    // Unrolled, the inner variable is a constant, and much of the expression folds.
    for (const LoopKind inner : {LoopKind::Serial, LoopKind::Unrolled}) {
      const LoweredProgram lowered =
          make_lowered({}, {out},
                       make_loop(i, 20, LoopKind::Serial,
                                 make_loop(j, 20, inner, make_store(out, Expr(i) * 20 + j, values[v]))));
      EXPECT_EQ(error_against_interpreter(*target, lowered), 0.0) << v << " " << loop_kind_name(inner);
    }
  }
}

TEST_P(Expressions, VectorIndicesAsValues) {
  const Buffer out = make_buffer("out", kI64, {160});
  const Var i("i");
  const Expr lane = ramp(Expr(i) * 8 - 16, 3, 8);
  const auto all = [](int64_t value) { return broadcast(value, 8); };
  const std::vector<Expr> values = {
      floordiv(lane, all(4)),
      floormod(lane, all(4)),
      floordiv(lane, all(5)),
      floormod(lane, all(5)),
      floordiv(ramp(0, 1, 8), all(3)) * all(10) + floormod(ramp(0, 1, 8), all(3)),
      floordiv(lane * all(5) + ramp(3, 1, 8), all(5)),
      min(lane, all(7)),
      lane * lane,
      ramp(i, Expr(i) + 1, 8),
      select(lt(lane, all(11)), lane, all(-1)),
      select(le(all(11), lane), all(1), all(0)),
      select(eq(lane, all(14)), all(1), lane),
      select(lt(lane * all(int64_t{1} << 40), all(0)), all(1), all(2)),
      cast(kIndex, cast(kI32, lane))};
  for (size_t v = 0; v < values.size(); ++v) {
    const LoweredProgram lowered = make_lowered(
        {}, {out}, make_loop(i, 20, LoopKind::Serial, make_store(out, ramp(Expr(i) * 8, 1, 8), values[v])));
    EXPECT_EQ(error_against_interpreter(*target, lowered), 0.0) << v;
  }
}

}  // namespace
}  // namespace tunesmith

// Compares every form of access, compiled and interpreted. Buffers end and begin at guard pages, so that an
// element too many is a fault.
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

using testing::error_against_interpreter;
using testing::make_allocate;
using testing::make_loop;
using testing::make_lowered;
using testing::make_seq;
using testing::make_store;
using testing::make_target;

class Accesses : public ::testing::TestWithParam<std::string> {
 protected:
  Accesses() : target(make_target({{"mcpu", GetParam()}})) {}
  void SetUp() override {
    if (!target->probe().here()) GTEST_SKIP() << "the processor lacks " << target->probe().missing;
  }
  double error(const LoweredProgram& lowered) { return error_against_interpreter(*target, lowered); }
  std::unique_ptr<llvm_target::LlvmTarget> target;
};

INSTANTIATE_TEST_SUITE_P(Processors, Accesses, ::testing::Values("native", "x86-64-v3", "x86-64"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

Expr all(int64_t value, int lanes) { return broadcast(value, lanes); }

TEST_P(Accesses, StridedLoads) {
  for (const DType type : {kF32, kI8, kBF16, kF64}) {
    for (const int lanes : {4, 16}) {
      for (const int64_t stride : {-3, -2, -1, 0, 1, 2, 3, 4, 5, 17}) {
        // The buffer is exactly as long as the accesses reach.
        const int64_t reach = std::abs(stride) * (lanes - 1);
        const Buffer in = make_buffer("in", type, {reach + 3}), out = make_buffer("out", type, {3 * lanes});
        const Var i("i");
        const Expr from = ramp(Expr(i) + (stride < 0 ? reach : 0), stride, lanes);
        EXPECT_EQ(error(make_lowered(
                      {in}, {out},
                      make_loop(i, 3, LoopKind::Serial,
                                make_store(out, ramp(Expr(i) * lanes, 1, lanes), load(in, {from}))))),
                  0.0)
            << type.str() << " x " << lanes << " stride " << stride;
      }
    }
  }
}

TEST_P(Accesses, StridedStores) {
  for (const int64_t stride : {-2, -1, 2, 5}) {
    const int64_t reach = std::abs(stride) * 7;
    const Buffer in = make_buffer("in", kF32, {8}), out = make_buffer("out", kF32, {reach + 1});
    const Expr to = ramp(stride < 0 ? reach : 0, stride, 8);
    EXPECT_EQ(error(make_lowered({in}, {out}, make_store(out, to, load(in, {ramp(0, 1, 8)})))), 0.0)
        << stride;
    const Expr mask = lt(ramp(0, 1, 8), all(5, 8));
    const Buffer half = make_buffer("half", kF32, {std::abs(stride) * 4 + 1});
    const Expr masked_to = ramp(stride < 0 ? 4 * -stride : 0, stride, 8);
    EXPECT_EQ(error(make_lowered({in}, {half}, make_store(half, masked_to, load(in, {ramp(0, 1, 8)}), mask))),
              0.0)
        << stride;
  }
}

TEST_P(Accesses, LanesWithinARow) {
  // Lanes of one vector from several rows, as reshapes give.
  const Buffer in = make_buffer("in", kF32, {4 * 100}), out = make_buffer("out", kF32, {5 * 16});
  const Var i("i");
  const Expr lane = ramp(0, 1, 16);
  const std::vector<Expr> indices = {
      floordiv(lane, all(4, 16)) + broadcast(i, 16),
      floordiv(lane, all(4, 16)) * all(100, 16) + floormod(lane, all(4, 16)) + broadcast(i, 16),
      floormod(lane * all(7, 16), all(16, 16)) + broadcast(i, 16),
      ramp(Expr(i) * 2, i, 16),
      floordiv(ramp(i, 1, 16), all(3, 16)),
  };
  for (size_t n = 0; n < indices.size(); ++n) {
    EXPECT_EQ(
        error(make_lowered({in}, {out},
                           make_loop(i, 5, LoopKind::Serial,
                                     make_store(out, ramp(Expr(i) * 16, 1, 16), load(in, {indices[n]}))))),
        0.0)
        << n;
  }
}

TEST_P(Accesses, Gathers) {
  for (const DType type : {kF32, kF64, kI8, kBool}) {
    const Buffer table = make_buffer("table", type, {2000}), index = make_buffer("index", kI64, {32}),
                 out = make_buffer("out", type, {32});
    const Var i("i");
    const Expr at = ramp(Expr(i) * 8, 1, 8);
    const Expr from = floormod(cast(kIndex, load(index, {at})), all(2000, 8));
    EXPECT_EQ(
        error(make_lowered({table, index}, {out},
                           make_loop(i, 4, LoopKind::Serial, make_store(out, at, load(table, {from}))))),
        0.0);
    const Expr mask = lt(all(900, 8), from);
    const Expr beyond = select(mask, from, all(1 << 30, 8));
    EXPECT_EQ(error(make_lowered(
                  {table, index}, {out},
                  make_loop(i, 4, LoopKind::Serial, make_store(out, at, load(table, {beyond}, mask))))),
              0.0);
  }
}

TEST_P(Accesses, Scatters) {
  const Buffer in = make_buffer("in", kF32, {64}), out = make_buffer("out", kF32, {67 * 15 + 1});
  const Var i("i");
  const Expr lane = ramp(Expr(i) * 16, 1, 16);
  const Expr to = floormod(lane * all(15, 16), all(67 * 15, 16));
  EXPECT_EQ(error(make_lowered({in}, {out},
                               make_loop(i, 4, LoopKind::Serial, make_store(out, to, load(in, {lane}))))),
            0.0);
}

TEST_P(Accesses, MasksKeepAccessesInside) {
  for (const DType type : {kF32, kI8, kF16, kI64}) {
    for (const int64_t elements : {1, 7, 15, 16, 17, 50}) {
      const Buffer in = make_buffer("in", type, {elements}), out = make_buffer("out", type, {elements});
      const Var i("i");
      const Expr at = ramp(Expr(i) * 16, 1, 16);
      const Expr mask = lt(at, all(elements, 16));
      for (const LoopKind kind : {LoopKind::Serial, LoopKind::Unrolled}) {
        EXPECT_EQ(error(make_lowered(
                      {in}, {out},
                      make_loop(i, (elements + 15) / 16, kind,
                                make_store(out, at, load(in, {at}, mask) + load(in, {at}, mask), mask)))),
                  0.0)
            << type.str() << " " << elements << " " << loop_kind_name(kind);
      }
    }
  }
}

TEST_P(Accesses, MaskedLoadsOfPadding) {
  // out[i] = in[i - 3] where that is inside, else 0: the lower bound masks the first lanes.
  const Buffer in = make_buffer("in", kF32, {40}), out = make_buffer("out", kF32, {48});
  const Var i("i");
  const Expr at = ramp(Expr(i) * 16, 1, 16);
  const Expr from = at - all(3, 16);
  const Expr mask = logical_and(le(all(0, 16), from), lt(from, all(40, 16)));
  EXPECT_EQ(error(make_lowered(
                {in}, {out}, make_loop(i, 3, LoopKind::Serial, make_store(out, at, load(in, {from}, mask))))),
            0.0);
}

TEST_P(Accesses, ScalarMasks) {
  const Buffer in = make_buffer("in", kF32, {10}), out = make_buffer("out", kF32, {30});
  const Var i("i");
  const Expr from = Expr(i) - 10;
  const Expr inside = logical_and(le(0, from), lt(from, 10));
  EXPECT_EQ(
      error(make_lowered({in}, {out},
                         make_loop(i, 30, LoopKind::Serial, make_store(out, i, load(in, {from}, inside))))),
      0.0);
  // A store that does not happen must not touch its address.
  const Buffer small = make_buffer("small", kF32, {10});
  EXPECT_EQ(error(make_lowered(
                {out}, {small},
                make_loop(i, 30, LoopKind::Serial, make_store(small, from, load(out, {i}), inside)))),
            0.0);
}

TEST_P(Accesses, UniformMasksOfVectors) {
  // With rows of padding, a vector exists completely or not at all.
  const Buffer in = make_buffer("in", kF32, {4 * 16}), out = make_buffer("out", kF32, {8 * 16});
  const Var i("i");
  const Expr from = ramp((Expr(i) - 2) * 16, 1, 16);
  const Expr inside = broadcast(logical_and(le(2, i), lt(i, 6)), 16);
  const Expr some = logical_and(inside, lt(ramp(0, 1, 16), all(11, 16)));
  const Expr to = ramp(Expr(i) * 16, 1, 16);
  for (const Expr& mask : {inside, some}) {
    EXPECT_EQ(
        error(make_lowered({in}, {out},
                           make_loop(i, 8, LoopKind::Serial, make_store(out, to, load(in, {from}, mask))))),
        0.0);
    const Expr broadcasted = load(in, {broadcast((Expr(i) - 2) * 16, 16)}, mask);
    EXPECT_EQ(
        error(make_lowered({in}, {out}, make_loop(i, 8, LoopKind::Serial, make_store(out, to, broadcasted)))),
        0.0);
    const Expr strided = load(in, {ramp((Expr(i) - 2) * 16 + 15, -1, 16)}, mask);
    EXPECT_EQ(
        error(make_lowered({in}, {out}, make_loop(i, 8, LoopKind::Serial, make_store(out, to, strided)))),
        0.0);
  }
  const Buffer rows = make_buffer("rows", kF32, {4 * 16});
  EXPECT_EQ(
      error(make_lowered({out}, {rows},
                         make_loop(i, 8, LoopKind::Serial, make_store(rows, from, load(out, {to}), some)))),
      0.0);
}

TEST_P(Accesses, RegisterBuffersWithMasks) {
  // An accumulator whose last vector is partly used, and stored under a mask.
  const Buffer in = make_buffer("in", kF32, {9 * 21}), out = make_buffer("out", kF32, {21});
  const Buffer sum = make_buffer("sum", kF32, {21}, kScopeRegister);
  const Var k("k"), v0("v0"), v1("v1"), v2("v2");
  const auto lanes_of = [](const Var& v) { return ramp(Expr(v) * 8, 1, 8); };
  const auto mask_of = [&](const Var& v) { return lt(lanes_of(v), all(21, 8)); };
  StmtPtr zero = make_loop(v0, 3, LoopKind::Unrolled,
                           make_store(sum, lanes_of(v0), float_imm(0.0, kF32.with_lanes(8)), mask_of(v0)));
  StmtPtr add =
      make_loop(k, 9, LoopKind::Serial,
                make_loop(v1, 3, LoopKind::Unrolled,
                          make_store(sum, lanes_of(v1),
                                     load(sum, {lanes_of(v1)}, mask_of(v1)) +
                                         load(in, {ramp(Expr(k) * 21 + Expr(v1) * 8, 1, 8)}, mask_of(v1)),
                                     mask_of(v1))));
  StmtPtr write =
      make_loop(v2, 3, LoopKind::Unrolled,
                make_store(out, lanes_of(v2), load(sum, {lanes_of(v2)}, mask_of(v2)), mask_of(v2)));
  EXPECT_EQ(
      error(make_lowered({in}, {out},
                         make_allocate(sum, make_seq(std::move(zero), std::move(add), std::move(write))))),
      0.0);
}

TEST_P(Accesses, ALocalBufferReadByAVectorThatBeginsBeforeIt) {
  const Buffer in = make_buffer("in", kF32, {9}), out = make_buffer("out", kF32, {8});
  const Buffer pair = make_buffer("pair", kF32, {2}, kScopeLocal);
  const Expr at = ramp(-1, 1, 8);
  const Expr mask = logical_and(le(all(0, 8), at), lt(at, all(2, 8)));
  LoweredProgram lowered =
      make_lowered({in}, {out},
                   make_allocate(pair, make_seq(make_store(pair, at, load(in, {ramp(0, 1, 8)}, mask), mask),
                                                make_store(out, ramp(0, 1, 8), load(pair, {at}, mask)))));
  assign_registers(lowered.program, target->lower_options());
  EXPECT_EQ(error(lowered), 0.0);
}

/// A row of vectors where `row` is below `rows` of the input, else `padding`: `select(c, in[...] if c,
/// padding)`.
LoweredProgram padded_rows(DType type, int64_t vectors, double padding) {
  const int64_t lanes = 64 / type.bytes(), rows = 3, width = vectors * lanes;
  const Buffer in = make_buffer("in", type, {rows * width}), out = make_buffer("out", type, {5 * width});
  const Var row("row"), vector("vector");
  const Expr at = ramp(Expr(row) * width + Expr(vector) * lanes, 1, static_cast<int>(lanes));
  const Expr inside = broadcast(logical_and(le(1, row), lt(row, rows + 1)), static_cast<int>(lanes));
  const Expr other = float_imm(padding, type.with_lanes(static_cast<int>(lanes)));
  return make_lowered(
      {in}, {out},
      make_loop(
          row, 5, LoopKind::Serial,
          make_loop(
              vector, vectors, LoopKind::Unrolled,
              make_store(out, at,
                         select(inside, load(in, {at - broadcast(width, static_cast<int>(lanes))}, inside),
                                other)))));
}

TEST_P(Accesses, PaddedRows) {
  // Wider than vectors that share one choice between memory and zeros.
  for (const DType type : {kF32, kF64, kBF16}) {
    for (const double padding : {0.0, -0.0, 1.5}) {
      EXPECT_EQ(error(padded_rows(type, 40, padding)), 0.0) << type.str() << " padded with " << padding;
    }
  }
}

TEST(PaddedRows, AreChosenOnceForManyVectors) {
  const auto target = make_target({{"vector_bits", "128"}});
  const auto selects = [&](int64_t vectors, double padding) {
    const std::string ir = target->ir(padded_rows(kF32, vectors, padding), "kernel");
    size_t count = 0;
    for (size_t at = ir.find("= select"); at != std::string::npos; at = ir.find("= select", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(selects(16, 0.0), 1U) << "of an address";
  EXPECT_EQ(selects(32, 0.0), 2U);
  EXPECT_EQ(selects(16, 1.5), 17U) << "of the address and of each vector";
}

}  // namespace
}  // namespace tunesmith

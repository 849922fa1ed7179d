// Compares random expressions over scalars and vectors, compiled and interpreted, from a fixed seed.
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

using testing::make_loop;
using testing::make_store;

constexpr int64_t kBufferElements = 96;

/// Draws expressions of `lanes` lanes over two variables and three buffers.
class Generator {
 public:
  Generator(uint64_t index, int lane_count) : random_(2024, index), lanes_(lane_count) {}

  Expr index(int depth) {
    switch (depth == 0 ? random_.below(3) : random_.below(10)) {
      case 0:
        return whole(static_cast<int64_t>(random_.below(40)) - 20);
      case 1:
        return lanes_ == 1 ? Expr(outer_) : ramp(outer_, static_cast<int64_t>(random_.below(5)) - 2, lanes_);
      case 2:
        return lanes_ == 1 ? Expr(inner_) : broadcast(inner_, lanes_);
      case 3:
        return index(depth - 1) + index(depth - 1);
      case 4:
        return index(depth - 1) - index(depth - 1);
      case 5:
        return index(depth - 1) * whole(static_cast<int64_t>(random_.below(9)) - 4);
      case 6:
        return floordiv(index(depth - 1), whole(1 + static_cast<int64_t>(random_.below(9))));
      case 7:
        return floormod(index(depth - 1), whole(1 + static_cast<int64_t>(random_.below(9))));
      case 8:
        return min(index(depth - 1), index(depth - 1));
      default:
        return select(condition(depth - 1), index(depth - 1), index(depth - 1));
    }
  }

  Expr condition(int depth) {
    switch (depth == 0 ? random_.below(2) : random_.below(5)) {
      case 0:
        return lt(index(0), index(0));
      case 1:
        return le(index(0), index(0));
      case 2:
        return logical_and(condition(depth - 1), condition(depth - 1));
      case 3:
        return logical_not(condition(depth - 1));
      default:
        return lt(value(depth - 1), value(depth - 1));
    }
  }

  Expr value(int depth) {
    switch (depth == 0 ? random_.below(2) : random_.below(9)) {
      case 0:
        return load(inputs[0], {inside(index(2), kBufferElements)});
      case 1:
        return cast(kF32.with_lanes(lanes_), index(2));
      case 2:
        return value(depth - 1) + value(depth - 1);
      case 3:
        return value(depth - 1) * value(depth - 1);
      case 4:
        return max(value(depth - 1), value(depth - 1));
      case 5:
        return select(condition(depth - 1), value(depth - 1), value(depth - 1));
      case 6:
        return cast(kF32.with_lanes(lanes_), load(inputs[1], {inside(index(2), kBufferElements)}));
      case 7: {
        // Some indices are out of range; the mask prevents the access.
        const Expr at = index(2);
        return load(inputs[0], {at}, logical_and(le(whole(0), at), lt(at, whole(kBufferElements))));
      }
      default: {
        const Expr at = index(1);
        const Expr mask =
            logical_and(logical_and(le(whole(0), at), lt(at, whole(kBufferElements))), condition(0));
        return load(inputs[0], {at}, mask);
      }
    }
  }

  LoweredProgram program() {
    const Expr to =
        lanes_ == 1 ? Expr(outer_) * 8 + inner_ : ramp((Expr(outer_) * 8 + inner_) * lanes_, 1, lanes_);
    const auto kind = [&] { return random_.below(3) == 0 ? LoopKind::Unrolled : LoopKind::Serial; };
    const LoopKind outer_kind = random_.below(3) == 0 ? LoopKind::Parallel : kind();
    StmtPtr body = make_store(output, to, value(3));
    if (random_.below(3) == 0)
      body = std::make_unique<Store>(output, std::vector<Expr>{to}, value(2), condition(2));
    if (lanes_ == 1 && random_.below(3) == 0)
      body = testing::make_if(condition(2), std::move(body), make_store(output, to, value(1)));
    return testing::make_lowered(
        {inputs[0], inputs[1]}, {output},
        make_loop(outer_, 6, outer_kind, make_loop(inner_, 8, kind(), std::move(body))));
  }

  const std::vector<Buffer> inputs = {make_buffer("x", kF32, {kBufferElements}),
                                      make_buffer("n", kI8, {kBufferElements})};
  const Buffer output = make_buffer("out", kF32, {48 * 16});

 private:
  Expr whole(int64_t number) const { return broadcast(number, lanes_); }
  Expr inside(const Expr& at, int64_t extent) const { return floormod(at, whole(extent)); }

  RandomStream random_;
  int lanes_;
  const Var outer_{"i"}, inner_{"j"};
};

TEST(RandomPrograms, GiveTheInterpretersResult) {
  const auto target = testing::make_target({{"contract", "false"}, {"reciprocal", "false"}});
  for (uint64_t index = 0; index < 400; ++index) {
    constexpr int kLanes[] = {1, 4, 8, 16};
    const LoweredProgram lowered = Generator(index, kLanes[index % 4]).program();
    ASSERT_EQ(testing::error_against_interpreter(*target, lowered, 2), 0.0) << index << "\n"
                                                                            << to_string(lowered.program);
  }
}

}  // namespace
}  // namespace tunesmith

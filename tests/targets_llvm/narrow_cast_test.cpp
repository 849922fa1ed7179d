// Floats become bytes by whole vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(NarrowCast, TakesNoVectorApart) {
  const std::unique_ptr<llvm_target::LlvmTarget> target = make_target();
  for (const DType to : {kU8, kI8, kU16, kI16}) {
    const Buffer x = make_buffer("X", kF32, {64}), o = make_buffer("O", to, {64});
    const Var v("v");
    StmtPtr loop = make_loop(
        v, 4, LoopKind::Serial,
        make_store(o, ramp(v * 16, 1, 16), cast(to.with_lanes(16), load(x, {ramp(v * 16, 1, 16)}))));
    EXPECT_THAT(target->assembly(make_lowered({x}, {o}, std::move(loop)), "kernel"),
                Not(HasSubstr("cvttss2si")))
        << to.str();
  }
}

}  // namespace
}  // namespace tunesmith

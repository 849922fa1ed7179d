#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRow = 256;

/// O[i, j] = X[i, j] + shift over rows, by vectors of `lanes`.
LoweredProgram shifted(LoopKind kind, int lanes, int64_t shift = 0) {
  const Buffer x = make_buffer("X", kF32, {16 * kRow}), o = make_buffer("O", kF32, {16 * kRow + shift});
  const Var i("i"), v("v");
  const Expr at = i * kRow + v * lanes;
  StmtPtr loop =
      make_loop(i, 16, kind,
                make_loop(v, kRow / lanes, LoopKind::Serial,
                          make_store(o, ramp(at + shift, 1, lanes), load(x, {ramp(at, 1, lanes)}))));
  loop->as<Loop>()->annotations["nontemporal"] = int64_t{1};
  return make_lowered({x}, {o}, std::move(loop));
}

class Nontemporal : public ::testing::Test {
 protected:
  std::unique_ptr<llvm_target::LlvmTarget> target_ = make_target();
  const int vector_ = static_cast<int>(target_->device().get("vector_bits")) / 32;
};

TEST_F(Nontemporal, WholeVectorsGoPastTheCacheAndAreDoneBeforeOthersAreTold) {
  for (const LoopKind kind : {LoopKind::Serial, LoopKind::Parallel, LoopKind::Unrolled}) {
    const LoweredProgram lowered = shifted(kind, vector_);
    const std::string text = target_->assembly(lowered, "kernel");
    EXPECT_THAT(text, HasSubstr("movntps"));
    EXPECT_THAT(text, HasSubstr("mfence"));
    EXPECT_EQ(error_against_interpreter(*target_, lowered, 2), 0.0);
  }
}

TEST_F(Nontemporal, BothFormsComputeTheSame) {
  const LoweredProgram lowered = shifted(LoopKind::Parallel, 4 * vector_);
  const auto elements = static_cast<size_t>(16 * kRow);
  std::vector<float> in(elements + 64), out(elements + 64);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  for (size_t shift = 0; shift < 32; ++shift) {
    std::ranges::fill(out, -1.0F);
    run_compiled(*target_, lowered, {in.data() + 3, out.data() + shift}, 2);
    EXPECT_EQ(std::memcmp(in.data() + 3, out.data() + shift, elements * sizeof(float)), 0) << shift;
    EXPECT_EQ(out[shift + elements], -1.0F);
  }
}

TEST_F(Nontemporal, PartsOfVectorsAndOddAddressesAreStoredAsEver) {
  EXPECT_THAT(target_->assembly(shifted(LoopKind::Serial, vector_ / 2), "kernel"), Not(HasSubstr("movnt")));
  const LoweredProgram odd = shifted(LoopKind::Serial, vector_, 1);
  EXPECT_THAT(target_->assembly(odd, "kernel"), Not(HasSubstr("movnt")));
  EXPECT_EQ(error_against_interpreter(*target_, odd), 0.0);
}

TEST_F(Nontemporal, WhatIsReadUnderTheLoopStaysInCache) {
  LoweredProgram lowered = shifted(LoopKind::Serial, vector_);
  const Buffer o = lowered.program.outputs[0];
  for (Store* store : collect<Store>(lowered.program.root()))
    store->value = store->value + load(o, {store->indices[0]});
  EXPECT_THAT(target_->assembly(lowered, "kernel"), Not(HasSubstr("movnt")));
}

TEST_F(Nontemporal, ZeroIsNothing) {
  LoweredProgram lowered = shifted(LoopKind::Serial, vector_);
  for (Loop* loop : collect<Loop>(lowered.program.root())) {
    if (loop->annotations.contains("nontemporal")) loop->annotations["nontemporal"] = int64_t{0};
  }
  EXPECT_THAT(target_->assembly(lowered, "kernel"), Not(HasSubstr("movnt")));
}

}  // namespace
}  // namespace tunesmith

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"

namespace tunesmith {
namespace {

using testing::gmm_tile_program;
using testing::make_target;

TEST(Target, DescribesTheMachine) {
  const auto target = make_target();
  EXPECT_TRUE(target->probe().here());
  const DeviceModel& device = target->device();
  EXPECT_GE(device.get("cores"), 1.0);
  EXPECT_GE(device.get("vector_bits"), 128.0);
  EXPECT_GE(device.get("l1_bytes"), 8192.0);
  EXPECT_GE(device.get("l2_bytes"), device.get("l1_bytes"));
  EXPECT_GE(device.get("l3_bytes"), device.get("l2_bytes"));
  EXPECT_EQ(device.get("vector_bits"), static_cast<double>(target->lower_options().vector_bits));
  EXPECT_LE(device.get("vector_registers_used_by_tile"), device.get("vector_registers"));
  EXPECT_FALSE(device.description.empty());
}

TEST(Target, HasAnIdentityThatOptionsChange) {
  EXPECT_EQ(make_target()->identity(), make_target()->identity());
  EXPECT_EQ(make_target()->fingerprint(), make_target()->fingerprint());
  EXPECT_NE(task_target(*make_target()).find(make_target()->fingerprint()), std::string::npos);
  EXPECT_NE(make_target()->identity(), make_target({{"contract", "false"}})->identity());
  EXPECT_NE(make_target()->identity(), make_target({{"mcpu", "x86-64"}})->identity());
}

TEST(Target, NamesWhatTheProcessorLacks) {
  // No processor has both.
  const auto amd = make_target({{"mcpu", "bdver4"}}), intel = make_target({{"mcpu", "knl"}});
  EXPECT_FALSE(amd->probe().here() && intel->probe().here());
  EXPECT_TRUE(make_target({{"mcpu", "x86-64"}})->probe().here());
}

TEST(Target, RefusesOptionsThatDoNotFit) {
  try {
    make_target({{"mcpu", "sapphirerapid"}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'sapphirerapids'?"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(make_target({{"vector_bits", "96"}}), UserError);
  EXPECT_THROW(make_target({{"mcpu", "x86-64"}, {"vector_bits", "512"}}), UserError);
}

TEST(Target, UsesNarrowerVectorsWhenAsked) {
  const auto target = make_target({{"vector_bits", "128"}});
  EXPECT_EQ(target->lower_options().vector_bits, 128);
  const std::string assembly = target->assembly(gmm_tile_program(16, 16, 8, 4, 8, 4), "kernel");
  EXPECT_EQ(assembly.find("%ymm"), std::string::npos);
  EXPECT_EQ(assembly.find("%zmm"), std::string::npos);
}

TEST(Target, ContractsOnlyWhenAllowed) {
  const LoweredProgram lowered = gmm_tile_program(16, 16, 8, 4, 8, 4);
  EXPECT_EQ(make_target({{"contract", "false"}})->assembly(lowered, "kernel").find("fmadd"),
            std::string::npos);
}

TEST(Target, DividesLanesByOneValueWithItsReciprocalOnlyWhenAllowed) {
  const Buffer x = make_buffer("X", kF32, {512});
  const Buffer y = make_buffer("Y", kF32, {32});
  const Buffer o = make_buffer("O", kF32, {512});
  const Var i("i");
  const Expr lanes = ramp(Expr(i) * 16, 1, 16);
  const LoweredProgram lowered = testing::make_lowered(
      {x, y}, {o},
      testing::make_loop(i, 32, LoopKind::Serial,
                         testing::make_store(o, lanes, div(load(x, {lanes}), broadcast(load(y, {i}), 16)))));
  const auto strict = make_target({{"reciprocal", "false"}});
  EXPECT_EQ(testing::error_against_interpreter(*strict, lowered), 0.0);

  const std::vector<Tensor> arguments = test::random_arguments(lowered.program);
  const Tensor exact = testing::run_guarded(*strict, lowered, arguments).back();
  const Tensor rounded_twice = testing::run_guarded(*make_target(), lowered, arguments).back();
  EXPECT_NE(rounded_twice, exact);
  for (int64_t at = 0; at < exact.elements(); ++at)
    EXPECT_NEAR(rounded_twice.get(at), exact.get(at), 0x1p-22 * std::abs(exact.get(at)));
}

TEST(Target, CodeDoesNotDependOnWhatWasCompiledBefore) {
  const LoweredProgram one = gmm_tile_program(64, 64, 64, 8, 32, 4),
                       other = gmm_tile_program(16, 16, 8, 4, 8, 4);
  const auto target = make_target();
  const std::string first = target->compile(one, "kernel")->object;
  EXPECT_EQ(target->compile(other, "other")->object, make_target()->compile(other, "other")->object);
  EXPECT_EQ(target->compile(one, "kernel")->object, first);
}

TEST(Target, CompilesTheSameCodeOnManyThreads) {
  const auto target = make_target();
  const LoweredProgram lowered = gmm_tile_program(64, 64, 64, 8, 32, 4);
  const std::string expected = target->compile(lowered, "kernel")->object;
  std::vector<std::string> objects(4);
  std::vector<std::thread> threads;
  for (std::string& object : objects) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) object = target->compile(lowered, "kernel")->object;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& object : objects) EXPECT_EQ(object, expected);
}

}  // namespace
}  // namespace tunesmith

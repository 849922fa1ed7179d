// Exceptions and wrong answers of modules, at the only place that calls them.
#include <functional>
#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/composition.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

using testing::ThrowsMessage;

using Apply = std::function<ModuleResult(Schedule)>;

class LocalModule final : public TransformationModule {
 public:
  explicit LocalModule(Apply apply) : apply_(std::move(apply)) {}
  ModuleResult apply(Schedule schedule, const std::string&, ModuleContext&) override {
    return apply_(std::move(schedule));
  }

 private:
  Apply apply_;
};

/// Asks for the extensions "here" and "absent".
class Asker final : public TransformationModule {
 public:
  Asker(bool& here, bool& absent) : here_(here), absent_(absent) {}
  ModuleResult apply(Schedule, const std::string&, ModuleContext& context) override {
    here_ = context.has_extension("here");
    absent_ = context.has_extension("absent");
    return ModuleResult::not_applicable("it only asks");
  }

 private:
  bool& here_;
  bool& absent_;
};

constexpr const char* kText = R"(name: twice
params: {n: 8}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] * 2
outputs: [O]
)";

class ApplyModule : public testing::Test {
 protected:
  tl::expected<ModuleResult, ScheduleError> run(Apply apply, const std::string& block = "O",
                                                ModuleStage stage = ModuleStage::Block) {
    const ComposedModule module{"tiler", std::make_shared<LocalModule>(std::move(apply)), stage};
    return apply_module(module, schedule_, block, {device_, host_execution(), extensions_, workload_.program},
                        claims_);
  }

  Workload workload_ = WorkloadDefinition::parse(kText, "twice.yaml").instantiate();
  Schedule schedule_{workload_.program};
  DeviceModel device_;
  Extensions extensions_;
  Claims claims_;
};

TEST_F(ApplyModule, AnyExceptionIsTheModulesFaultByNameAndPlace) {
  EXPECT_THAT(
      [&] { static_cast<void>(run([](Schedule) -> ModuleResult { throw std::runtime_error("boom"); })); },
      ThrowsMessage<PluginError>("module 'tiler': [P12] apply at block 'O' threw: boom"));
  EXPECT_THAT([&] { static_cast<void>(run([](Schedule) -> ModuleResult { throw 42; }, "")); },
              ThrowsMessage<PluginError>(
                  "module 'tiler': [P12] apply at the program threw something that is no exception"));
}

TEST_F(ApplyModule, ARefusedTransformationIsAnAnswer) {
  const auto result = run([](Schedule schedule) {
    const LoopRV loop = schedule.get_loops(schedule.get_block("O")).front();
    schedule.split(loop, {IntArg{2}, IntArg{2}});  // 4 of 8 iterations
    return ModuleResult::applied(std::move(schedule));
  });
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(refusal_text(result.error()), testing::StartsWith("split: "));
}

TEST_F(ApplyModule, BrokenAnswersEndTheRun) {
  EXPECT_THAT(
      [&] { static_cast<void>(run([](Schedule) { return ModuleResult::broken("no such machine"); })); },
      ThrowsMessage<PluginError>("module 'tiler': at block 'O': no such machine"));
  EXPECT_THAT(
      [&] {
        static_cast<void>(run([](Schedule) { return ModuleResult::applied(std::vector<Schedule>{}); }));
      },
      ThrowsMessage<PluginError>("module 'tiler': at block 'O': answered Applied without a schedule"));
}

TEST_F(ApplyModule, AFinishingModuleAnswersOneSchedule) {
  const auto twice = [](Schedule schedule) {
    std::vector<Schedule> both;
    both.push_back(schedule.clone());
    both.push_back(std::move(schedule));
    return ModuleResult::applied(std::move(both));
  };
  EXPECT_THAT([&] { static_cast<void>(run(twice, "", ModuleStage::Finishing)); },
              ThrowsMessage<PluginError>(
                  "module 'tiler': at the program: a finishing module must return one schedule"));
}

TEST_F(ApplyModule, ABlockRenamedBehindTheTraceIsFound) {
  EXPECT_THAT(
      [&] {
        static_cast<void>(run([](Schedule schedule) {
          schedule.block(schedule.get_block("O")).name = "P";
          return ModuleResult::applied(std::move(schedule));
        }));
      },
      ThrowsMessage<PluginError>(
          "module 'tiler': at block 'O': [P23] replaying its trace gives another program"));
}

TEST_F(ApplyModule, AProgramThatIsNotWellFormedIsFound) {
  EXPECT_THAT(
      [&] {
        static_cast<void>(run([](Schedule schedule) {
          Block& block = schedule.block(schedule.get_block("O"));
          block.bindings.front() = block.bindings.front() + 100;  // outside the iterator's domain
          return ModuleResult::applied(std::move(schedule));
        }));
      },
      ThrowsMessage<PluginError>(testing::StartsWith(
          "module 'tiler': at block 'O': [P23] returned a program that is not well-formed: ")));
}

TEST_F(ApplyModule, WhatIsNotInTheTraceIsFound) {
  EXPECT_THAT(
      [&] {
        static_cast<void>(run([](Schedule schedule) {
          schedule.loop(schedule.get_loops(schedule.get_block("O")).front()).extent = int_imm(4);
          return ModuleResult::applied(std::move(schedule));
        }));
      },
      ThrowsMessage<PluginError>(
          "module 'tiler': at block 'O': [P23] replaying its trace gives another program"));
}

TEST_F(ApplyModule, WhatDropsTheWorkOfTheModulesBeforeIsFound) {
  schedule_.parallel(schedule_.get_loops(schedule_.get_block("O")).front());
  const auto anew = [&](Schedule) { return ModuleResult::applied(Schedule(workload_.program)); };
  for (const ModuleStage stage : {ModuleStage::Block, ModuleStage::Finishing}) {
    EXPECT_THAT(
        [&] { static_cast<void>(run(anew, "O", stage)); },
        ThrowsMessage<PluginError>("module 'tiler': at block 'O': [P23] the schedule it returned does not "
                                   "extend the one it was given: its trace lacks earlier instructions"));
  }
}

TEST_F(ApplyModule, ALogicErrorOfTheModuleIsNoRefusal) {
  const auto dangles = [](Schedule schedule) {
    const LoopRV loop = schedule.get_loops(schedule.get_block("O")).front();
    schedule.split(loop, {std::nullopt, IntArg{2}});
    schedule.parallel(loop);
    return ModuleResult::applied(std::move(schedule));
  };
  EXPECT_THAT(
      [&] { static_cast<void>(run(dangles)); },
      ThrowsMessage<PluginError>(testing::StartsWith(
          "module 'tiler': at block 'O': [P23] invalid call of parallel: the loop no longer exists")));
  const auto negative = [](Schedule schedule) {
    schedule.split(schedule.get_loops(schedule.get_block("O")).front(), {std::nullopt, IntArg{-2}});
    return ModuleResult::applied(std::move(schedule));
  };
  EXPECT_THAT([&] { static_cast<void>(run(negative)); },
              ThrowsMessage<PluginError>(testing::HasSubstr("invalid call of split: a factor is less")));
}

TEST_F(ApplyModule, AUsersErrorNamesTheModule) {
  EXPECT_THAT([&] { static_cast<void>(run([](Schedule) -> ModuleResult { throw UserError("boom"); })); },
              ThrowsMessage<UserError>("module 'tiler': apply at block 'O': boom"));
}

TEST_F(ApplyModule, AModuleIsToldWhichExtensionsAreHere) {
  extensions_ = {{"here", {}}};
  bool here = false;
  bool absent = true;
  const ComposedModule module{"asker", std::make_shared<Asker>(here, absent), ModuleStage::Block};
  static_cast<void>(apply_module(module, schedule_, "O",
                                 {device_, host_execution(), extensions_, workload_.program}, claims_));
  EXPECT_TRUE(here);
  EXPECT_FALSE(absent);
}

TEST_F(ApplyModule, WhatIsNotInTheTraceIsFoundBehindEarlierModules) {
  auto split = run([](Schedule schedule) {
    schedule.split(schedule.get_loops(schedule.get_block("O")).front(), {IntArg{2}, IntArg{4}});
    return ModuleResult::applied(std::move(schedule));
  });
  ASSERT_TRUE(split.has_value());
  const ComposedModule next{"next", std::make_shared<LocalModule>([](Schedule schedule) {
                              schedule.parallel(schedule.get_loops(schedule.get_block("O")).front());
                              schedule.block(schedule.get_block("O")).name = "P";
                              return ModuleResult::applied(std::move(schedule));
                            }),
                            ModuleStage::Block};
  EXPECT_THAT(
      [&] {
        static_cast<void>(apply_module(next, split->schedules().front(), "O",
                                       {device_, host_execution(), extensions_, workload_.program}, claims_));
      },
      ThrowsMessage<PluginError>(
          "module 'next': at block 'O': [P23] replaying its trace gives another program"));
}

TEST_F(ApplyModule, AGoodAnswerPasses) {
  const auto result = run([](Schedule schedule) {
    schedule.parallel(schedule.get_loops(schedule.get_block("O")).front());
    return ModuleResult::applied(std::move(schedule));
  });
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->status(), ModuleResult::Status::Applied);
}

}  // namespace
}  // namespace tunesmith

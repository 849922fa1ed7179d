// Which module consumes whose annotations, by the stages and the order of modules.
#include "space/compose_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/annotation_keys.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ComposedModule module_of(const std::string& id, ModuleStage stage, ModuleDescription description) {
  return {id, nullptr, stage, {id, {"s.yaml", 4, 9}, {}}, {}, std::move(description)};
}

std::vector<std::string> messages(const std::vector<ComposedModule>& modules,
                                  const std::set<std::string>& below = {}) {
  std::vector<std::string> texts;
  for (const UnconsumedAnnotation& hint : find_unconsumed(modules, below)) texts.push_back(hint.str());
  return texts;
}

TEST(ComposeModules, WhatNobodyConsumesIsNamedWithItsMaker) {
  EXPECT_THAT(messages({module_of("maker", ModuleStage::Root, {.makes = {"one", "two"}}),
                        module_of("taker", ModuleStage::Finishing, {.consumes = {"two"}})}),
              ElementsAre("s.yaml:4:9: no module consumes the annotation 'one' of module 'maker'"));
}

TEST(ComposeModules, LoweringAndTargetsConsumeToo) {
  EXPECT_THAT(messages({module_of("maker", ModuleStage::Block, {.makes = {"prefetch"}})}, {"prefetch"}),
              IsEmpty());
  EXPECT_TRUE(std::ranges::any_of(standard_pipeline().steps(), [](const LoweringStep& step) {
    return std::ranges::find(step.consumes, kDoubleBuffer) != step.consumes.end();
  }));
}

TEST(ComposeModules, OnlyWhatComesLaterConsumes) {
  const ComposedModule maker = module_of("maker", ModuleStage::Root, {.makes = {"key"}});
  const auto taker = [](ModuleStage stage) { return module_of("taker", stage, {.consumes = {"key"}}); };
  EXPECT_THAT(messages({taker(ModuleStage::Finishing), maker}), IsEmpty()) << "a later stage";
  EXPECT_THAT(messages({maker, taker(ModuleStage::Root)}), IsEmpty()) << "behind it in the list";
  EXPECT_EQ(messages({taker(ModuleStage::Root), maker}).size(), 1U) << "before it in the list";
  EXPECT_EQ(messages({maker, taker(ModuleStage::Block)}).size(), 1U) << "an earlier stage";
}

}  // namespace
}  // namespace tunesmith

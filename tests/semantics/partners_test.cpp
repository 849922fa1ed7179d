// Modules' descriptions are true, each annotation has a consumer, and partners stand where the built-in
// spaces have them.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/space/check_space.h>
#include <tunesmith/space/space.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SpacesFile builtin() { return SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml"); }

std::vector<std::string> ids(const std::vector<PluginUse>& uses) {
  std::vector<std::string> names;
  for (const PluginUse& use : uses) names.push_back(use.id);
  return names;
}

ModuleDescription description_of(const PluginUse& use, PluginRegistry& registry) {
  const Options options =
      Options::validate(registry.option_specs(PluginKind::Module, use.id), use.options, use.id);
  return registry.create<TransformationModule>(use.id, options)->description();
}

/// A space for CPUs with these lines under `modules`.
SpaceSpec space_of(const std::string& modules, const std::string& rest = "") {
  return SpacesFile::parse("version: 1\nspaces:\n  s:\n    target: {kind: llvm}\n    modules: " + modules +
                               "\n    search: {kind: random}\n    cost_model: {kind: random}\n" + rest,
                           "s.yaml")
      .space("");
}

std::vector<std::string> messages(const SpaceCheck& check) {
  std::vector<std::string> texts;
  for (const SpaceFault& fault : check.faults) texts.push_back(fault.message);
  return texts;
}

class Partners : public testing::Test {
 protected:
  PluginRegistry registry_;
};

TEST_F(Partners, ATargetCarriesOutItsOwnAnnotations) {
  ASSERT_THAT(description_of({"row_chain", {}, {}}, registry_).makes, ElementsAre("nontemporal", "prefetch"));
  EXPECT_THAT(Space(space_of("[row_chain]"), registry_).unconsumed_annotations(), IsEmpty());
}

TEST_F(Partners, OneLineBringsBoth) {
  const Space space(space_of("[parallel_vectorize_unroll, rewrite_reduction_init]"), registry_);
  EXPECT_THAT(ids(space.spec().modules), ElementsAre("parallel_vectorize_unroll", "rewrite_reduction_init",
                                                     "rewrite_parallel_vectorize_unroll"));
  EXPECT_EQ(space.spec().modules.back().brought_by, "parallel_vectorize_unroll");
  EXPECT_THAT(space.unconsumed_annotations(), IsEmpty());
  const Space named(
      space_of("[parallel_vectorize_unroll, rewrite_reduction_init, rewrite_parallel_vectorize_unroll]"),
      registry_);
  EXPECT_EQ(space.rules(), named.rules());
}

TEST_F(Partners, ARemovedOneStaysAway) {
  const SpaceSpec spec = SpacesFile::parse(
                             "version: 1\nspaces:\n  s:\n    extends: cpu-tiling\n"
                             "    modules+: [{remove: rewrite_parallel_vectorize_unroll}]\n",
                             "s.yaml")
                             .space("");
  const Space space(spec, registry_);
  EXPECT_EQ(std::ranges::count(ids(space.spec().modules), "rewrite_parallel_vectorize_unroll"), 0);
  EXPECT_EQ(space.unconsumed_annotations().size(), 3U);
  EXPECT_THAT(
      messages(check_space(spec, registry_)),
      Contains(AllOf(
          HasSubstr("no module consumes the annotation 'unroll_steps' of module 'parallel_vectorize_unroll'"),
          HasSubstr("'rewrite_parallel_vectorize_unroll' consumes it: add it"))));
}

TEST_F(Partners, AMisspeltHintOfAScriptIsNamed) {
  const auto check = [&](const std::string& key) {
    return messages(check_space(
        space_of("[{script: {trace: 'x = get_loops(block)\n\n      annotate(block, \"" + key + "\", 1)'}}]"),
        registry_));
  };
  EXPECT_THAT(check("prefetch"), IsEmpty()) << "the target's";
  EXPECT_THAT(check("double_buffer"), IsEmpty()) << "lowering's";
  EXPECT_THAT(check("prefech"),
              ElementsAre(AllOf(HasSubstr("no module consumes the annotation 'prefech' of module 'script'"),
                                HasSubstr("did you mean 'prefetch'?"))));
}

TEST_F(Partners, TheNullPluginsSpacesHaveThem) {
  for (const char* kind : {"searcher", "cost_model", "task_scheduler", "module", "extension", "target"}) {
    const SpacesFile file =
        SpacesFile::load(std::string(TUNESMITH_SOURCE_DIR "/sdk/templates/") + kind + "/spaces.yaml");
    const SpaceCheck check = check_space(file.space(""), registry_);
    EXPECT_THAT(messages(check), testing::Not(Contains(HasSubstr("no module consumes")))) << kind;
    EXPECT_EQ(std::ranges::count(check.modules, "rewrite_parallel_vectorize_unroll", &CheckedModule::id), 1)
        << kind;
  }
}

TEST_F(Partners, EverythingIsSaidAtOnce) {
  const SpaceCheck check = check_space(
      space_of("[multi_level_tilling, parallel_vectorize_unroll: {max_vectorise: 4, unroll: many}]",
               "    task_scheduler: {kind: gradientt}\n"),
      registry_);
  EXPECT_THAT(messages(check),
              ElementsAre(AllOf(HasSubstr("s.yaml:5:15"), HasSubstr("did you mean 'multi_level_tiling'?")),
                          AllOf(HasSubstr("s.yaml:5:"), HasSubstr("did you mean 'max_vectorize'?")),
                          AllOf(HasSubstr("s.yaml:5:"), HasSubstr("option 'unroll'")),
                          AllOf(HasSubstr("s.yaml:8:28"), HasSubstr("did you mean 'gradient'?"))));
}

class BuiltInModules : public testing::TestWithParam<const char*> {
 protected:
  PluginRegistry registry_;
  const SpaceSpec spec_ = builtin().space(GetParam());
};

TEST_P(BuiltInModules, NothingIsAskedInVain) {
  EXPECT_THAT(messages(check_space(spec_, registry_)), IsEmpty());
}

TEST_P(BuiltInModules, PartnersComeWhereTheSpaceHasThem) {
  std::set<std::string> partners;
  for (const PluginUse& use : spec_.modules) {
    const ModuleDescription description = description_of(use, registry_);
    partners.insert(description.partners.begin(), description.partners.end());
  }
  EXPECT_TRUE(partners.contains("rewrite_parallel_vectorize_unroll"));
  SpaceSpec without = spec_;
  std::erase_if(without.modules, [&](const PluginUse& use) { return partners.contains(use.id); });
  const Space space(spec_, registry_);
  const Space brought(without, registry_);
  EXPECT_EQ(brought.rules(), space.rules());
}

/// Modules add and remove only annotations that their descriptions list.
TEST_P(BuiltInModules, DescribeThemselvesTruly) {
  const Space space(spec_, registry_);
  std::map<std::string, ModuleDescription> said;
  for (const PluginUse& use : spec_.modules) said[use.id] = description_of(use, registry_);
  std::set<std::string> made;
  for (const char* text : {"gmm:n=64,m=64,k=64,dtype=f16", "gmm:n=64,m=64,k=64", "softmax:m=32,n=64"}) {
    const Workload workload = WorkloadLibrary().load(text);
    const SketchSet set = space.generate(workload.program);
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      const Trace& trace = set.sketches[i].trace();
      for (const SketchStep& step : set.steps[i]) {
        for (size_t at = step.begin; at < step.end; ++at) {
          if (trace[at].kind->name() != "annotate") continue;
          const auto& key = std::get<std::string>(trace[at].args.at(1));
          EXPECT_THAT(said[step.module].makes, Contains(key)) << step.module;
          made.insert(key);
        }
      }
    }
  }
  EXPECT_TRUE(made.contains("unroll_steps"));
}

INSTANTIATE_TEST_SUITE_P(Each, BuiltInModules,
                         testing::Values("cpu", "cpu-tiling", "cpu-paper", "cuda", "cuda-paper",
                                         "cuda-tensorcore", "cuda-hopper", "cuda-tensorcore-mma"));

}  // namespace
}  // namespace tunesmith

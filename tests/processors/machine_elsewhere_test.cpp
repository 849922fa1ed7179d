// Spaces composed from a machine's description are those that the machine itself composes.
#include "tunesmith/measuring/machine_elsewhere.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWith = "[\"vnni?\", \"bf16_dot?\", \"amx_dot?\"]";

SpaceSpec spec_for(const std::string& processor, const std::string& with = kWith) {
  return SpacesFile::parse(
             fmt::format("version: 1\nspaces:\n  s:\n    extends: cpu\n    target: {{kind: llvm, mcpu: {}, "
                         "with: {}}}\n",
                         processor, with),
             "elsewhere.yaml")
      .space("s");
}

/// The traces of all sketches, and the hash of a draw of each.
std::vector<std::string> programs_of(const Space& space, const Workload& workload) {
  std::vector<std::string> programs;
  const SketchSet set = space.generate(workload.program);
  for (size_t s = 0; s < set.sketches.size(); ++s) {
    const Trace open = set.sketches[s].trace().with_open_decisions();
    const auto candidate = space.materialise(workload.program, open, RandomStream(7, s));
    programs.push_back(open.str());
    programs.push_back(candidate ? fmt::format("{:016x}", (*candidate)->lowered_hash)
                                 : candidate.error().message);
  }
  return programs;
}

class MachineElsewhere : public ::testing::TestWithParam<const char*> {
 protected:
  /// The space as the machine composes it.
  std::unique_ptr<Space> composed(const char* processor) {
    return std::make_unique<Space>(spec_for(processor), registry_, TargetPresence::NotRequired);
  }
  static WorkerDescription described(const Space& space) {
    const WorkerDescription machine = describe_machine(space, {0, space.task_target().str(), 4, ""});
    return parse_worker(text_of(machine));  // as a queue carries it
  }
  std::unique_ptr<Space> seen_from_here(const WorkerDescription& machine, const std::string& with = kWith) {
    return space_for(machine, spec_for("native", with), registry_, own_);
  }

  PluginRegistry registry_;
  const std::shared_ptr<const Space> own_ =
      std::make_shared<const Space>(spec_for("native"), registry_, TargetPresence::NotRequired);
};

TEST_P(MachineElsewhere, MakesTheProgramsThatTheMachineMakes) {
  const auto there = composed(GetParam());
  const auto here = seen_from_here(described(*there));
  EXPECT_EQ(here->task_target().str(), there->task_target().str());
  EXPECT_EQ(here->device().all(), there->device().all());
  EXPECT_EQ(here->device().description, there->device().description);
  for (const char* name : {"gmm:n=64,m=64,k=64", "gmm:n=64,m=64,k=64,dtype=u8,b_dtype=i8,acc=i32",
                           "gmm:n=20,m=36,k=32,dtype=bf16", "softmax:m=12,n=100"}) {
    SCOPED_TRACE(name);
    const Workload workload = WorkloadLibrary().load(name);
    EXPECT_EQ(programs_of(*here, workload), programs_of(*there, workload));
  }
}

TEST_P(MachineElsewhere, ItsQuantitiesCountAndNotThisMachines) {
  WorkerDescription machine = described(*composed(GetParam()));
  machine.quantities["l2_bytes"] = 12345.0;
  const auto here = seen_from_here(machine);
  EXPECT_EQ(here->device().get("l2_bytes"), 12345.0);
  EXPECT_EQ(here->target().device().get("l2_bytes"), 12345.0);
}

INSTANTIATE_TEST_SUITE_P(Processors, MachineElsewhere,
                         ::testing::Values("haswell", "cascadelake", "sapphirerapids", "cortex-a76"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

using OneMachineElsewhere = MachineElsewhere;

TEST_F(OneMachineElsewhere, OtherPacksAndVersionsAreRefused) {
  const auto refused = [&](const WorkerDescription& machine, const std::string& with) {
    try {
      seen_from_here(machine, with);
    } catch (const EnvironmentError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const WorkerDescription machine = described(*composed("cascadelake"));
  EXPECT_EQ(refused(machine, kWith), "");
  EXPECT_THAT(refused(machine, "[vnni, amx_dot]"), HasSubstr("'amx_dot' cannot be used on the machine"));
  EXPECT_THAT(refused(machine, "[]"), HasSubstr("the same version and packs on both"));
  WorkerDescription other = machine;
  other.target.replace(other.target.find("vnni:") + 5, 4, "0000");
  EXPECT_THAT(refused(other, kWith), HasSubstr("the same version and packs on both"));
  other = machine;
  other.target.replace(other.target.find("lowering=") + 9, 1, "0");
  EXPECT_THAT(refused(other, kWith), HasSubstr("the same version and packs on both"));
}

TEST_F(OneMachineElsewhere, NothingIsCompiledForItHere) {
  const auto here = seen_from_here(described(*composed("haswell")));
  const Workload workload = WorkloadLibrary().load("gmm:n=4,m=4,k=4");
  const auto candidate = here->materialise(workload.program, Trace(), RandomStream(0));
  ASSERT_TRUE(candidate);
  try {
    static_cast<void>(here->target().compile((*candidate)->lowered, "kernel"));
    FAIL() << "it is compiled";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("compiled on the machine that runs them"));
  }
}

}  // namespace
}  // namespace tunesmith

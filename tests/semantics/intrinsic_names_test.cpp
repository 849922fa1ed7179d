// Two spaces of one process have different extensions of one name, and each calls its own.
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/intrinsics/tensor_intrinsic.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/space/space.h>
#include <tunesmith/tuning/with_names_of.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {

constexpr const char* kName = "intrinsic_names_copy";

/// An extension's file with an instruction that copies this many elements.
std::string extension_of(int elements) {
  return fmt::format(R"(extension: intrinsic_names
target: llvm
intrinsics:
  - name: {0}
    semantics: {{inputs: {{X: {{shape: [{1}], dtype: f32}}}}, compute: "P[j<{1}] = X[j]", outputs: [P]}}
    implementation: {{arguments: [X], fragment: "ret <{1} x float> %X"}}
)",
                     kName, elements);
}

std::string space_of(int elements, const std::string& extension) {
  return fmt::format(R"(version: 1
spaces:
  s:
    target: {{kind: llvm, with: [{2}]}}
    modules:
      - script:
          match: [C]
          trace: |
            copy = cache_read(block, 1, "global")
            z, k, j = get_loops(copy)
            j0, j1 = split(j, [None, {1}])
            called = tensorize(j1, "{0}")
    search: {{kind: random}}
    cost_model: {{kind: random}}
)",
                     kName, elements, extension);
}

class IntrinsicNames : public testing::Test {
 protected:
  /// The space with the extension whose instruction copies this many elements.
  std::unique_ptr<Space> space(int elements) {
    const auto file = folder_ / fmt::format("copy_{}.yaml", elements);
    std::ofstream(file) << extension_of(elements);
    return std::make_unique<Space>(SpacesFile::parse(space_of(elements, file.string()), "my.yaml").space(""),
                                   registry_);
  }

  /// The only sketch, which calls the space's own instruction.
  Trace sketch(const Space& space) {
    const SketchSet set = space.generate(workload_.program);
    EXPECT_EQ(set.sketches.size(), 1U);
    const Trace trace = set.sketches.front().trace();
    EXPECT_THAT(trace.str(), testing::HasSubstr(kName));
    return trace;
  }

  void expect_calls_its_own(const Space& space, int elements) {
    const Trace trace = sketch(space);
    const auto replayed = replay(workload_.program, trace, RandomStream(0), nullptr, space.intrinsics());
    EXPECT_TRUE(replayed) << replayed.error().what();
    EXPECT_TRUE(with_names_of(workload_.program, workload_.program, trace, space.intrinsics()));
    const auto candidate = space.materialise(workload_.program, trace, RandomStream(0));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto* prepare = (*candidate)->lowered.prepare.get();
    const Program& lowered = prepare == nullptr ? (*candidate)->lowered.program : prepare->program;
    const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
    const std::vector<const Loop*> calls = collect<Loop>(lowered.root(), is_call);
    ASSERT_FALSE(calls.empty());
    EXPECT_EQ(content_hash(*tensor_call(*calls.front()).intrinsic),
              content_hash(*space.intrinsics()->find(kName)));
    EXPECT_EQ(space.intrinsics()->find(kName)->block().iters.front().extent, elements);
  }

  PluginRegistry registry_;
  test::TemporaryFolder folder_;
  Workload workload_ = WorkloadLibrary().load("gmm:n=16,m=8,k=4");
};

TEST_F(IntrinsicNames, AreASpacesOwnInBothOrdersOfLoading) {
  for (const auto& [first, second] : {std::pair{4, 8}, std::pair{8, 4}}) {
    const auto one = space(first);
    const auto other = space(second);
    expect_calls_its_own(*one, first);
    expect_calls_its_own(*other, second);
    expect_calls_its_own(*one, first);
    const auto foreign =
        replay(workload_.program, sketch(*one), RandomStream(0), nullptr, other->intrinsics());
    EXPECT_FALSE(foreign) << "the other copies another number of elements";
  }
}

TEST_F(IntrinsicNames, AreUnknownToASpaceWithoutTheExtension) {
  const auto with = space(4);
  const Trace trace = sketch(*with);
  const Space without(SpacesFile::parse(space_of(4, ""), "my.yaml").space(""), registry_);
  ASSERT_NE(TensorIntrinsics::global().find(kName), nullptr);
  EXPECT_EQ(without.intrinsics()->find(kName), nullptr);
  const SketchSet set = without.generate(workload_.program);
  EXPECT_EQ(set.sketches.front().trace().size(), 0U);
  ASSERT_EQ(set.events.size(), 1U);
  EXPECT_EQ(set.events.front().reason, "tensorize: unknown tensor intrinsic");
  const auto refused = without.materialise(workload_.program, trace, RandomStream(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, FailureCause::IllegalSchedule);
}

TEST_F(IntrinsicNames, AreReadWithoutTheSpace) {
  space(8);
  const auto file = folder_ / "copy_8.yaml";
  const SpacesFile spaces = SpacesFile::parse(space_of(8, file.string()), "my.yaml");
  space(4);
  const auto read = read_extensions(spaces.space(""), registry_);
  EXPECT_EQ(read->find(kName)->block().iters.front().extent, 8);
}

}  // namespace
}  // namespace tunesmith

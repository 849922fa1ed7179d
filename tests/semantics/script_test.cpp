// The module whose text stands in spaces.yaml: how it transforms blocks, when it declines, where its mistakes
// are reported.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

#include "random_arguments.h"
#include "temporary_folder.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// `options` of the script, each line indented by ten.
std::string spaces_of(const std::string& options, const std::string& after = "") {
  return "version: 1\nspaces:\n  s:\n    target: {kind: llvm}\n    modules:\n      - script:\n" + options +
         after + "    search: {kind: random}\n    cost_model: {kind: random}\n";
}

class Script : public testing::Test {
 protected:
  SketchSet sketches_of(const std::string& spaces, const Program& program) {
    space_ = std::make_unique<Space>(SpacesFile::parse(spaces, "my.yaml").space(""), registry_);
    return space_->generate(program);
  }
  /// The message with which the space is refused.
  std::string refusal(const std::string& spaces) {
    try {
      const Space space(SpacesFile::parse(spaces, "my.yaml").space(""), registry_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  PluginRegistry registry_;
  std::unique_ptr<Space> space_;
};

constexpr const char* kTile = R"(          match: [C]
          trace: |
            # The search chooses the tile.
            z, i, j, k = get_loops(block)
            i0, i1 = sample_perfect_tile(i, n=2, max_innermost=16)
            outer, inner = split(i, [i0, i1])
            reorder([outer, k, inner])
)";

TEST_F(Script, DoesItsInstructionsWithDecisionsLeftToTheSearch) {
  const Workload workload = WorkloadLibrary().load("gmm:n=16,m=8,k=4");
  const SketchSet set = sketches_of(spaces_of(kTile), workload.program);
  ASSERT_EQ(set.sketches.size(), 1u);
  const std::vector<SamplingPoint> points = set.sketches[0].sampling_points();
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].domain.parts, 2);
  EXPECT_THAT(to_string(set.sketches[0].program()), HasSubstr("block C"));
  const Trace open = set.sketches[0].trace().with_open_decisions();
  std::vector<Tensor> wanted = test::random_arguments(workload.program);
  std::vector<Tensor> given = wanted;
  interpret(workload.program, wanted);
  std::vector<std::string> programs;
  for (uint64_t draw = 0; draw < 8; ++draw) {
    const auto candidate = space_->materialise(workload.program, open, RandomStream(draw));
    ASSERT_TRUE(candidate) << candidate.error().message;
    std::vector<Tensor> got = given;
    interpret((*candidate)->lowered, got);
    EXPECT_LT(max_error(wanted.back(), got.back()), 1e-5);
    programs.push_back(to_string((*candidate)->lowered.program));
  }
  std::sort(programs.begin(), programs.end());
  EXPECT_GT(std::unique(programs.begin(), programs.end()) - programs.begin(), 1) << "draws differ";
}

TEST_F(Script, TouchesTheBlocksThatMatchAndClaimsThem) {
  const Workload workload = WorkloadLibrary().load("softmax:m=4,n=8");
  const std::string tiles = "      - multi_level_tiling: {structure: SSRSRS}\n";
  const std::string options = "          match: [\"?_sum\", M*]\n          trace: parallel(get)\n";
  // A text on one line works, too.
  const std::string line = "          match: [E]\n          trace: a, b = get_loops(block)\n";
  const SketchSet set = sketches_of(spaces_of(line, tiles), workload.program);
  std::vector<std::string> applied;
  bool claimed = false;
  for (const ModuleEvent& event : set.events) {
    if (event.module == "script" && event.status == ModuleResult::Status::Applied)
      applied.push_back(event.block);
    if (event.module == "script" && event.block != "E") {
      EXPECT_EQ(event.reason, "no pattern of 'match' names the block");
    }
    claimed = claimed || (event.module == "multi_level_tiling" && event.block == "E" &&
                          event.reason.starts_with("claimed by script"));
  }
  EXPECT_THAT(applied, ElementsAre("E"));
  EXPECT_TRUE(claimed);
  const SketchSet unclaimed =
      sketches_of(spaces_of(line + "          claim: false\n", tiles), workload.program);
  for (const ModuleEvent& event : unclaimed.events) EXPECT_THAT(event.reason, Not(StartsWith("claimed")));
  EXPECT_THAT(refusal(spaces_of(options)), HasSubstr("my.yaml:8:27: option 'trace' of module 'script': "))
      << "'get' is no name of it";
}

TEST_F(Script, DeclinesWhereAnInstructionIsRefused) {
  const Program program = WorkloadLibrary().load("gmm:n=16,m=8,k=4").program;
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"l = get_loops(block)", "another number of results"},
      {"z, i, j, k = get_loops(block)\n            vectorize(k)", "reduction"},
  };
  for (const auto& [text, reason] : cases) {
    const std::string options = std::string("          trace: |\n            ") + text + "\n";
    const SketchSet set = sketches_of(spaces_of(options), program);
    ASSERT_EQ(set.events.size(), 1u);
    EXPECT_EQ(set.events[0].status, ModuleResult::Status::NotApplicable);
    EXPECT_THAT(set.events[0].reason, HasSubstr(reason));
    EXPECT_EQ(to_string(set.sketches.at(0).program()), to_string(program))
        << "and left the program as it was";
  }
}

TEST_F(Script, MistakesAreReportedWhereTheyStand) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kTile;
    text.replace(text.find(from), from.size(), to);
    return spaces_of(text);
  };
  ASSERT_EQ(refusal(spaces_of(kTile)), "accepted");
  EXPECT_THAT(refusal(with("reorder", "reoder")),
              testing::AllOf(StartsWith("my.yaml:13:13: option 'trace' of module 'script': "),
                             HasSubstr("did you mean 'reorder'")));
  EXPECT_THAT(refusal(with("split(i,", "split(ii,")), StartsWith("my.yaml:12:34: "));
  EXPECT_THAT(refusal(with("max_innermost=16)", "max_innermost=16) @ [4, 4]")),
              testing::AllOf(StartsWith("my.yaml:11:"), HasSubstr("decisions of a script stay open")));
  EXPECT_THAT(refusal(with("# The search", "# tunesmith trace 99\n            # The search")),
              StartsWith("my.yaml:9:"));
  EXPECT_EQ(refusal(with("# The search", "# tunesmith trace 1\n            # The search")), "accepted");
  EXPECT_THAT(refusal(spaces_of("          match: [C]\n")),
              HasSubstr("expected the instructions of a trace"));
  EXPECT_THAT(refusal(spaces_of("          match: []\n          trace: l = get_loops(block)\n")),
              testing::AllOf(StartsWith("my.yaml:7:"), HasSubstr("at least one block name")));
  EXPECT_THAT(refusal(spaces_of("          match: [C]\n          trce: x\n")),
              HasSubstr("did you mean 'trace'"));
}

constexpr const char* kPack = R"(          match: [C]
          trace: |
            copy = cache_read(block, 1, "global")
            z, k, j = get_loops(copy)
            j0, j1 = split(j, [None, 4])
            packed = tensorize(j1, "script_pack_4")
)";

TEST_F(Script, NothingMovesWhatAUnitCopies) {
  const test::TemporaryFolder folder;
  const auto file = folder / "script_pack.yaml";
  std::ofstream(file) << R"(extension: script_pack
target: llvm
intrinsics:
  - name: script_pack_4
    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: "P[j<4] = X[j]", outputs: [P]}
    implementation: {arguments: [X], fragment: "ret <4 x float> %X"}
)";
  const Workload workload = WorkloadLibrary().load("gmm:n=16,m=8,k=4,constant_b=1");
  std::string spaces = spaces_of(kPack, "      - random_compute_location\n");
  const std::string target = "{kind: llvm";
  spaces.insert(spaces.find(target) + target.size(), fmt::format(", with: [{}]", file.string()));
  const SketchSet set = sketches_of(spaces, workload.program);
  std::filesystem::remove(file);
  const auto moved = std::ranges::find_if(set.events, [](const ModuleEvent& event) {
    return event.module == "random_compute_location" && event.block == "B_global_o";
  });
  ASSERT_NE(moved, set.events.end());
  EXPECT_EQ(moved->reason, "another module has transformed the block");
  LowerOptions options;
  options.prepare = true;
  ASSERT_EQ(set.sketches.size(), 1U);
  EXPECT_NE(lower(set.sketches[0].program(), options).prepare, nullptr);
}

TEST_F(Script, TheExampleComposesAndIsRight) {
  const SpacesFile file = SpacesFile::load(TUNESMITH_SOURCE_DIR "/sdk/examples/script_module/spaces.yaml");
  const Workload workload = WorkloadLibrary().load("gmm:n=32,m=64,k=16");
  const Space space(file.space("gmm-by-hand"), registry_);
  const SketchSet set = space.generate(workload.program);
  std::vector<Tensor> wanted = test::random_arguments(workload.program);
  const std::vector<Tensor> given = wanted;
  interpret(workload.program, wanted);
  int right = 0;
  for (const Schedule& sketch : set.sketches) {
    const auto candidate =
        space.materialise(workload.program, sketch.trace().with_open_decisions(), RandomStream(3));
    if (!candidate) continue;
    std::vector<Tensor> got = given;
    interpret((*candidate)->lowered, got);
    EXPECT_LT(max_error(wanted.back(), got.back()), 1e-4);
    EXPECT_THAT((*candidate)->trace.str(), HasSubstr("sample_perfect_tile"));
    ++right;
  }
  EXPECT_GT(right, 0);
}

}  // namespace
}  // namespace tunesmith

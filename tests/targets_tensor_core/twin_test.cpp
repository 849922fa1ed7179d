// Candidates whose shapes are too large for the emulation are verified as their twins: these are found, pass,
// and still show a mistake of the schedule.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/workload/library.h"
#include "twins/grid_twin_finder.h"
#include "twins/independent_launches.h"
#include "twins/one_structure.h"

namespace tunesmith {
namespace {

const Space& space_named(const std::string& name) {
  static PluginRegistry registry;
  static std::map<std::string, std::unique_ptr<Space>> spaces;
  std::unique_ptr<Space>& space = spaces[name];
  if (space == nullptr)
    space =
        std::make_unique<Space>(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(name), registry);
  return *space;
}

struct Shape {
  const char* space;
  const char* workload;
};

// So that tests have the same names everywhere.
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.space << " " << shape.workload; }

/// Candidates of a large workload, and where they are verified.
class Large {
 public:
  explicit Large(const Shape& shape)
      : space(space_named(shape.space)),
        workload(WorkloadLibrary().load(shape.workload)),
        finder(workload, space),
        runner_(make_worker_runner(workload, space.target(),
                                   {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, {})),
        sketches_(space.generate(workload.program)) {}

  /// The next draw that neither the space nor NVRTC refuses.
  CandidatePtr next() {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const Trace sketch = sketches_.sketches.front().trace().with_open_decisions();
      const auto candidate = space.materialise(workload.program, sketch, RandomStream(5, draw_++));
      if (candidate && space.target().compile((*candidate)->lowered, "k")) return *candidate;
    }
    return nullptr;
  }

  MeasureResult verify(const LoweredProgram& full, const LoweredProgram& smaller, const Workload& instance) {
    const auto kernel = twins_of(space.target())->compile_reduced_instance(full, smaller, "k");
    EXPECT_TRUE(kernel) << kernel.error();
    const MeasureRequest request{&*kernel, 0.0, false, &instance};
    return runner_->run({&request, 1}).front();
  }

  const Space& space;
  const Workload workload;
  const GridTwinFinder finder;

 private:
  std::unique_ptr<Runner> runner_;
  SketchSet sketches_;
  uint64_t draw_ = 0;
};

std::string name_of(const testing::TestParamInfo<Shape>& one) {
  std::string name = std::string(one.param.space) + "_" + one.param.workload;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class TwinsOf : public testing::TestWithParam<Shape> {};

TEST_P(TwinsOf, HaveTheSameStructureAndAreVerified) {
  Large large(GetParam());
  for (int i = 0; i < 4; ++i) {
    const CandidatePtr candidate = large.next();
    ASSERT_NE(candidate, nullptr);
    const std::optional<GridTwin> twin = large.finder.find_grid_twin(*candidate);
    ASSERT_TRUE(twin) << candidate->trace.str();
    EXPECT_LT(twin->workload->flops, large.workload.flops / 8) << twin->workload->key;
    EXPECT_TRUE(have_one_structure(candidate->lowered, twin->candidate->lowered, large.space.target()));
    EXPECT_EQ(large.finder.find(*candidate)->workload->key, twin->workload->key);
    const MeasureResult result = large.verify(candidate->lowered, twin->candidate->lowered, *twin->workload);
    EXPECT_FALSE(result.failure) << twin->workload->key << ": " << result.failure->message << "\n"
                                 << to_string(twin->candidate->lowered.program);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TwinsOf,
    testing::Values(Shape{"cuda-tensorcore", "gmm:n=1024,m=1024,k=1024,dtype=f16"},
                    Shape{"cuda-tensorcore", "gmm:n=1000,m=1016,k=1000,dtype=f16"},
                    Shape{"cuda-tensorcore-mma", "gmm:n=1024,m=512,k=2048,dtype=f16"},
                    Shape{"cuda", "gmm:n=1024,m=1024,k=1024"},
                    // The trace names the extents of the image, which are fused to rows.
                    Shape{"cuda-tensorcore",
                          "conv3d:d=16,h=112,w=28,ci=4,co=32,kernel=3,padding=1,dtype=f16"},
                    // Extents that are not a simple fraction of the parameters: 109 of 224.
                    Shape{"cuda", "conv2d:h=224,w=224,ci=3,co=64,kernel=7,stride=2,padding=3,dilation=2"}),
    name_of);

TEST(Twins, LittleWorkHasNone) {
  Large little({"cuda", "gmm:n=64,m=64,k=64"});
  const CandidatePtr candidate = little.next();
  ASSERT_NE(candidate, nullptr);
  EXPECT_FALSE(little.finder.find(*candidate));
}

// A parameter that is not an extent belongs to the computation, which the twin must not change.
TEST(Twins, ComputeTheSame) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "scaled_product.yaml";
  std::ofstream(file) << R"(name: scaled_product
params: {n: 1024, m: 1024, k: 1024, scale: 4096}
inputs:
  A: {shape: [n, k], dtype: f32}
  B: {shape: [k, m], dtype: f32}
compute: |
  C[i<n, j<m] = sum(r<k) A[i, r] * B[r, j]
  O[i<n, j<m] = C[i, j] * scale
outputs: [O]
)";
  Large large({"cuda", file.c_str()});
  for (int i = 0; i < 3; ++i) {
    const CandidatePtr candidate = large.next();
    ASSERT_NE(candidate, nullptr);
    const std::optional<Twin> twin = large.finder.find(*candidate);
    ASSERT_TRUE(twin) << candidate->trace.str();
    EXPECT_LT(twin->workload->flops, large.workload.flops / 8) << twin->workload->key;
    EXPECT_THAT(twin->workload->key, testing::HasSubstr("scale=4096"));
  }
}

/// Changes `program` in one place; false if there is no such place.
using Change = std::function<bool(Program& program)>;

struct WrongProgram {
  const char* name;
  Change change;
};

Loop* launch_loop(Program& program) {
  return find_first<Loop>(program.root(), [](const Loop& loop) { return loop.thread.starts_with("block"); });
}

/// The stores to the result. Those in loops with fewer iterations than threads are conditional.
std::vector<Store*> results(Program& program) {
  return collect<Store>(program.root(),
                        [&](const Store& store) { return store.buffer == program.outputs.front(); });
}

/// The last block stores its result in the place of the block before it.
bool last_block_stores_elsewhere(Program& program) {
  const Loop* const blocks = launch_loop(program);
  const Expr is_last = floordiv(blocks->var + int_imm(1), int_imm(blocks->const_extent()));
  const Substitution elsewhere{{blocks->var, blocks->var - is_last}};
  for (Store* store : results(program)) store->indices = substitute(store->indices, elsewhere);
  return true;
}

bool last_step_is_dropped(Program& program) {
  Loop* const steps = find_first<Loop>(program.root(), [](const Loop& loop) {
    return loop.loop_kind == LoopKind::Serial && loop.thread.empty() && find_first<Barrier>(loop) != nullptr;
  });
  if (steps == nullptr) return false;
  steps->extent = int_imm(steps->const_extent() - 1);
  return true;
}

/// Changes each `a < b` in conditions around stores of the result, and in masks of their loads.
bool one_row_is_missing(Program& program) {
  bool changed = false;
  const auto tighten = [&](const Expr& expr) {
    if (changed || !expr.is(ExprKind::Lt) || expr.args()[0].dtype() != kIndex) return expr;
    changed = true;
    return lt(expr.args()[0] + int_imm(1), expr.args()[1]);
  };
  for (const Store* store : results(program)) {
    for (Stmt* at = store->parent; at != nullptr; at = at->parent) {
      if (If* condition = at->as<If>()) condition->condition = rewrite_expr(condition->condition, tighten);
    }
  }
  return changed;
}

bool conditions_are_dropped(Program& program) {
  bool changed = false;
  for (const Store* store : results(program)) {
    for (Stmt* at = store->parent; at != nullptr; at = at->parent) {
      If* condition = at->as<If>();
      if (condition == nullptr) continue;
      condition->condition = bool_imm(true);
      changed = true;
    }
  }
  return changed;
}

class WrongTwinsOf : public testing::TestWithParam<Shape> {};

TEST_P(WrongTwinsOf, AreRefused) {
  Large large(GetParam());
  std::vector<WrongProgram> mistakes{{"last_block_stores_elsewhere", last_block_stores_elsewhere},
                                     {"last_step_is_dropped", last_step_is_dropped},
                                     {"one_row_is_missing", one_row_is_missing},
                                     {"conditions_are_dropped", conditions_are_dropped}};
  for (size_t left_out = 0; left_out < 8; ++left_out) {
    mistakes.push_back({"a_barrier_is_missing", [left_out](Program& program) {
                          const auto barriers = collect<Barrier>(program.root());
                          if (left_out >= barriers.size()) return false;
                          Seq& around = *barriers[left_out]->parent->as<Seq>();
                          around.remove(around.index_of(*barriers[left_out]));
                          return true;
                        }});
  }
  const CandidatePtr candidate = large.next();
  ASSERT_NE(candidate, nullptr);
  const std::optional<GridTwin> twin = large.finder.find_grid_twin(*candidate);
  ASSERT_TRUE(twin);
  ASSERT_LT(twin->workload->flops, large.workload.flops / 8);
  size_t made = 0;
  for (const WrongProgram& mistake : mistakes) {
    const auto changed = [&](const LoweredProgram& lowered, bool& possible) {
      LoweredProgram wrong;
      wrong.program = lowered.program.clone();
      wrong.workspace = lowered.workspace;
      wrong.workspace_bytes = lowered.workspace_bytes;
      possible = mistake.change(wrong.program);
      return wrong;
    };
    bool full_possible = false;
    bool possible = false;
    const LoweredProgram full = changed(candidate->lowered, full_possible);
    const LoweredProgram smaller = changed(twin->candidate->lowered, possible);
    EXPECT_EQ(full_possible, possible) << mistake.name;
    if (!possible) continue;
    ++made;
    // The mistake is in the schedule: the wrong programs are twins, too, unless too few steps are left.
    const bool step = mistake.name == std::string("last_step_is_dropped");
    EXPECT_TRUE(step || have_one_structure(full, smaller, large.space.target())) << mistake.name;
    const MeasureResult result = large.verify(full, smaller, *twin->workload);
    EXPECT_TRUE(result.failure) << mistake.name << " was accepted on " << twin->workload->key << "\n"
                                << to_string(smaller.program);
  }
  EXPECT_GE(made, 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WrongTwinsOf,
    testing::Values(Shape{"cuda-tensorcore", "gmm:n=1024,m=1024,k=1024,dtype=f16"},
                    Shape{"cuda-tensorcore", "gmm:n=1000,m=1016,k=1000,dtype=f16"},
                    Shape{"cuda-tensorcore",
                          "conv3d:d=16,h=112,w=28,ci=4,co=32,kernel=3,padding=1,dtype=f16"},
                    Shape{"cuda", "gmm:n=1024,m=1024,k=1024"}),
    name_of);

/// A padded product: one launch pads, another multiplies.
class PaddedProduct : public testing::Test {
 protected:
  PaddedProduct()
      : large({"cuda", "transposed_conv2d:h=16,w=16,ci=128,co=64,kernel=4,stride=2,padding=1"}),
        candidate(large.next()),
        lone(large.workload, large.space.target().execution()) {}

  const ExecutionModel& execution() const { return large.space.target().execution(); }

  Large large;
  const CandidatePtr candidate;
  const IndependentLaunches lone;
};

TEST_F(PaddedProduct, HasOneLoneLaunchThatIsProven) {
  ASSERT_NE(candidate, nullptr);
  const Program& program = candidate->lowered.program;
  const std::vector<const Stmt*> launches = launches_of(program, execution());
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_TRUE(is_lone(*launches[0], execution()));
  EXPECT_FALSE(is_lone(*launches[1], execution()));
  EXPECT_THAT(lone.proven(program), testing::ElementsAre(0));
  EXPECT_THAT(lone.proven(program), testing::ElementsAre(0));
  const LoweredProgram rest = without_launches(candidate->lowered, {0}, execution());
  ASSERT_EQ(launches_of(rest.program, execution()).size(), 1U);
  EXPECT_EQ(to_string(*launches_of(rest.program, execution()).front()), to_string(*launches[1]));
}

TEST_F(PaddedProduct, AWrongLoneLaunchIsNotProven) {
  ASSERT_NE(candidate, nullptr);
  const auto wrong = [&](const std::function<void(Store & store)>& change) {
    Program program = candidate->lowered.program.clone();
    Stmt& launch = const_cast<Stmt&>(*launches_of(program, execution()).front());
    change(*find_first<Store>(launch));
    return lone.proven(program);
  };
  EXPECT_THAT(wrong([](Store& store) { store.indices.front() = store.indices.front(); }),
              testing::ElementsAre(0));
  // The first element comes from another place.
  EXPECT_THAT(wrong([](Store& store) {
                const Expr at = store.indices.front();
                store.indices.front() = select(eq(at, int_imm(0)), int_imm(1), at);
              }),
              testing::IsEmpty());
  // One element is wrong, at the full shape only.
  EXPECT_THAT(wrong([](Store& store) {
                const Expr last = eq(store.indices.front(), int_imm(store.buffer->span() / 2));
                store.value = select(last, float_imm(7, kF32), store.value);
              }),
              testing::IsEmpty());
  EXPECT_THAT(
      wrong([](Store& store) { store.mask = lt(store.indices.front(), int_imm(store.buffer->span() - 1)); }),
      testing::IsEmpty());
}

TEST_F(PaddedProduct, HasTwinsWhoseLoneLaunchIsAnother) {
  size_t others = 0;
  for (CandidatePtr one = candidate; others < 2; one = large.next()) {
    ASSERT_NE(one, nullptr);
    const std::optional<GridTwin> twin = large.finder.find_grid_twin(*one);
    ASSERT_TRUE(twin);
    const LoweredProgram& smaller = twin->candidate->lowered;
    EXPECT_TRUE(have_one_structure(one->lowered, smaller, large.space.target(), twin->apart));
    const MeasureResult result = large.verify(one->lowered, smaller, *twin->workload);
    EXPECT_FALSE(result.failure) << twin->workload->key << ": " << result.failure->message;
    if (twin->apart.empty()) continue;
    ++others;
    EXPECT_THAT(twin->apart, testing::ElementsAre(0));
    EXPECT_FALSE(have_one_structure(one->lowered, smaller, large.space.target()));
    EXPECT_FALSE(have_one_structure(one->lowered, smaller, large.space.target(), {1}));
    EXPECT_FALSE(have_one_structure(one->lowered, smaller, large.space.target(), {0, 1}));
  }
}

// A program with fewer threads, or with fewer steps than a pipeline needs, has another structure.
TEST(Twins, OfAnotherStructureAreNone) {
  Large large({"cuda-tensorcore", "gmm:n=1024,m=1024,k=1024,dtype=f16"});
  const CandidatePtr candidate = large.next();
  ASSERT_NE(candidate, nullptr);
  const std::optional<GridTwin> twin = large.finder.find_grid_twin(*candidate);
  ASSERT_TRUE(twin);
  const auto still_one = [&](std::string_view axis, int64_t extent) {
    LoweredProgram smaller;
    smaller.program = twin->candidate->lowered.program.clone();
    Loop* const loop = find_first<Loop>(smaller.program.root(), [&](const Loop& one) {
      return axis.empty() ? one.loop_kind == LoopKind::Serial && find_first<Barrier>(one) != nullptr
                          : one.thread.starts_with(axis);
    });
    loop->extent = int_imm(extent);
    return have_one_structure(candidate->lowered, smaller, large.space.target());
  };
  EXPECT_FALSE(still_one("block", 1));
  const Loop* const steps = find_first<Loop>(twin->candidate->lowered.program.root(), [](const Loop& loop) {
    return loop.loop_kind == LoopKind::Serial && find_first<Barrier>(loop) != nullptr;
  });
  const auto stages = steps->annotations.find(kSoftwarePipeline);
  const int64_t least =
      stages == steps->annotations.end() ? 3 : std::max<int64_t>(3, std::get<int64_t>(stages->second) + 1);
  EXPECT_TRUE(still_one("", least));
  EXPECT_FALSE(still_one("", least - 1));
  EXPECT_FALSE(still_one("thread", 16));
}

}  // namespace
}  // namespace tunesmith

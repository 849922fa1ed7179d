// Calls that all threads of a group make together, on tiles that the group holds: lowered step by step,
// interpreted, and refused if they are used wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/verification/interpreter.h"
#include "unit/grid/grid_machine.h"
#include "unit/ir/spell_out.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

constexpr const char* kUnit = R"unit(
extension: unit_4x4
target: grid
level: squad
operands:
  A: {scope: tile, layout: a, registers: x}
  B: {scope: tile, layout: b, registers: x}
  C: {scope: tile, layout: c, registers: x}
  M: {strides: [2n, 1], alignment: 8, scope: shared}
  O: {strides: [1n, 1]}
intrinsics:
  - name: unit_a
    semantics: {inputs: {M: {shape: [4, 4], dtype: f32}}, compute: "A[i<4, k<4] = M[i, k]", outputs: [A]}
    implementation: {fragment: a}
  - name: unit_b
    semantics: {inputs: {M: {shape: [4, 4], dtype: f32}}, compute: "B[k<4, j<4] = M[k, j]", outputs: [B]}
    implementation: {fragment: b}
  - name: unit_zero
    semantics: {compute: "C[i<4, j<4] = f32(0)", outputs: [C]}
    implementation: {fragment: zero}
  - name: unit_product
    cycles: 4
    semantics:
      inputs: {A: {shape: [4, 4], dtype: f32}, B: {shape: [4, 4], dtype: f32}}
      compute: C[i<4, j<4] = sum(k<4) A[i, k] * B[k, j]
      outputs: [C]
    implementation: {fragment: product}
  - name: unit_store
    semantics: {inputs: {C: {shape: [4, 4], dtype: f32}}, compute: "O[i<4, j<4] = C[i, j]", outputs: [O]}
    implementation: {fragment: store}
  - name: unit_fetch
    bulk_copy: true
    semantics: {inputs: {G: {shape: [8, 8], dtype: f32}}, compute: "S[i<8, j<8] = G[i, j]", outputs: [S]}
    operands: {G: {strides: [1n, 1], outside: zero}, S: {strides: [1n, 1], scope: shared}}
    implementation: {fragment: fetch}
)unit";

/// Squads of four threads between blocks and threads.
LowerOptions squad_options() {
  static const std::shared_ptr<ExtensionFile> unit = ExtensionFile::parse(kUnit, "unit.yaml");
  LowerOptions options = grid_options();
  options.execution.levels.insert(options.execution.levels.begin() + 1,
                                  ExecutionLevel{"squad", {"x"}, {16}, 16, true, 4});
  options.execution.scopes.push_back({"tile", "squad", 2048, 4, 0, 0});
  unit->adapt(options);
  return options;
}

Pipeline squad_pipeline() {
  Pipeline pipeline = grid_pipeline();
  pipeline.insert_after("flatten", kernel_step("call_intrinsics"));
  return pipeline;
}

LoweredProgram lowered_for_squads(const Schedule& s) {
  return lower(s.program(), squad_options(), squad_pipeline());
}

void expect_squads_refused(const Schedule& s, const std::string& message) {
  EXPECT_THAT([&] { lowered_for_squads(s); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr(message)));
}

struct Variation {
  std::string zero = "unit_zero";
  std::string load_b = "unit_b";
  int64_t align = 6;    // alignment of the fetched rows
  int64_t members = 4;  // threads along thread.x that fetch
  bool tensorize_store = true;
  bool bind_steps = false;  // a loop around the product to the members
  int64_t steps = 2;        // number of steps that fetch tiles
  int64_t stages = 0;       // above 0: stages of a pipeline with bulk copies
  int64_t outside = 0;      // how far the last blocks and steps reach over the edges
};

const Variation kProduced{.stages = 2};

/// 16 x 8 x 16 in blocks of 8 x 8, each of two squads of 4 x 8: tiles of 4 x 4.
Schedule squad_product(const Variation& vary = {}) {
  squad_options();  // the intrinsics are known from here on
  const std::string tiled = "(i, j) -> (i // 4, j // 4, i % 4, j % 4)";
  Schedule s(gmm(16 - vary.outside, 8 - vary.outside, 8 * vary.steps - vary.outside));
  const BlockRV product = s.get_block("O");
  if (vary.outside > 0) s.pad_einsum(product, {16, 8, 8});
  const BlockRV store = s.cache_write(product, 0, "tile");
  s.transform_layout(product, "write", 0, tiled);
  std::vector<BlockRV> fetched;
  std::vector<BlockRV> held;
  for (const int operand : {0, 1}) {
    fetched.push_back(s.cache_read(product, operand, "shared"));
    s.storage_align(fetched.back(), 0, 0, 8, vary.align);
    held.push_back(s.cache_read(product, operand, "tile"));
    s.transform_layout(held.back(), "write", 0, tiled);
  }
  if (vary.outside > 0) {
    for (const char* copy : {"A_pad", "B_pad"}) s.compute_inline(s.get_block(copy));
  }
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> i = s.split(loops[0], {2, 2, 4});
  const std::vector<LoopRV> j = s.split(loops[1], {2, 4});
  const std::vector<LoopRV> k = s.split(loops[2], {vary.steps, 2, 4});
  s.reorder({i[0], k[0], i[1], k[1], j[0], i[2], j[1], k[2]});
  s.bind(i[0], "block.x");
  s.bind(i[1], "squad.x");
  for (const BlockRV& copy : held) s.compute_at(copy, k[1]);
  for (const BlockRV& copy : fetched) {
    s.compute_at(copy, k[0]);
    const std::vector<LoopRV> own = s.get_loops(copy);
    if (vary.stages > 0) continue;
    const std::vector<LoopRV> parts =
        s.split(s.fuse({own[own.size() - 2], own[own.size() - 1]}), {2, vary.members, std::nullopt});
    s.bind(parts[0], "squad.x");
    s.bind(parts[1], "thread.x");
  }
  s.reverse_compute_at(store, i[0]);
  const auto last = [&](BlockRV block, size_t from_end) {
    const std::vector<LoopRV> all = s.get_loops(block);
    return all[all.size() - from_end];
  };
  const BlockRV init = s.decompose_reduction(product, k[0]);
  if (!vary.zero.empty()) s.tensorize(last(init, 2), vary.zero);
  s.tensorize(last(held[0], 2), "unit_a");
  const std::vector<LoopRV> columns = s.split(last(held[1], 1), {std::nullopt, 4});
  s.reorder({columns[0], last(held[1], 3), columns[1]});
  if (!vary.load_b.empty()) s.tensorize(last(held[1], 2), vary.load_b);
  const std::vector<LoopRV> rows = s.split(last(store, 2), {2, 4});
  const std::vector<LoopRV> parts = s.split(last(store, 1), {std::nullopt, 4});
  s.reorder({rows[0], parts[0], rows[1], parts[1]});
  s.bind(rows[0], "squad.x");
  if (vary.tensorize_store) s.tensorize(rows[1], "unit_store");
  if (vary.bind_steps) s.bind(j[0], "thread.x");
  s.tensorize(i[2], "unit_product");
  if (vary.stages == 0) return s;
  s.software_pipeline(k[0], vary.stages);
  for (const BlockRV& copy : fetched) s.tensorize(last(copy, 2), "unit_fetch");
  return s;
}

/// One squad stores a tile of zeros to shared memory, and one thread copies it.
Schedule squad_zeros() {
  squad_options();
  Schedule s(program_of("", "O[i<4, j<4] = f32(0)"));
  const BlockRV zero = s.get_block("O");
  const LoopRV launch = s.split(s.get_loops(zero)[0], {1, std::nullopt})[0];
  const BlockRV out = s.cache_write(zero, 0, "shared");
  const BlockRV store = s.cache_write(zero, 0, "tile");
  s.reverse_compute_at(store, launch);
  s.reverse_compute_at(out, launch);
  s.bind(launch, "block.x");
  s.tensorize(s.get_loops(zero)[1], "unit_zero");
  s.tensorize(s.get_loops(store)[1], "unit_store");
  return s;
}

void expect_same_after_every_step_for_squads(const Schedule& s) {
  std::vector<Tensor> expected = random_arguments(s.program());
  interpret(s.program(), expected);
  lower(s.program(), squad_options(), squad_pipeline(),
        [&](const LoweringStep& step, const LoweringState& state) {
          std::vector<Tensor> computed = random_arguments(s.program());
          ASSERT_NO_THROW(interpret(state.lowered, computed)) << "after " << step.name << ":\n"
                                                              << to_string(state.lowered.program);
          EXPECT_EQ(computed, expected) << "after " << step.name;
        });
}

TEST(GroupCalls, ComputeTheSameAfterEveryStep) {
  expect_same_after_every_step_for_squads(squad_product());
  expect_same_after_every_step_for_squads(squad_product(kProduced));
  expect_same_after_every_step_for_squads(squad_product({.stages = 2, .outside = 3}));
}

TEST(GroupCalls, OneMoreSquadFetchesByBulkCopies) {
  const LoweredProgram lowered = lowered_for_squads(squad_product(kProduced));
  const auto* squads =
      find_first<Loop>(lowered.program.root(), [](const Loop& loop) { return loop.thread == "squad.x"; });
  ASSERT_NE(squads, nullptr);
  EXPECT_EQ(squads->const_extent(), 3);
  const auto* handover = find_first<Handover>(lowered.program.root());
  ASSERT_NE(handover, nullptr) << to_string(lowered.program);
  EXPECT_EQ(handover->axis, "squad.x");
  EXPECT_EQ(handover->versions, 2);
  EXPECT_EQ(handover_of(*loops_above(*handover).back()), handover);
}

TEST(GroupCalls, ABulkCopyNeedsAPipelineThatRunsMoreThanOnce) {
  expect_squads_refused(squad_product({.steps = 1, .stages = 2}),
                        "a loop with a producer of its own runs once");
}

TEST(GroupCalls, AllMembersComeToThem) {
  const LoweredProgram lowered = lowered_for_squads(squad_product());
  size_t calls = 0;
  for (const Loop* loop : collect<Loop>(lowered.program.root())) {
    if (!loop->annotations.contains(kTensorIntrinsic)) continue;
    ++calls;
    EXPECT_EQ(std::get<std::string>(loop->annotations.at(kTogetherAlong)), "thread.x");
    for (const Stmt* at = loop->parent; at != nullptr; at = at->parent) {
      EXPECT_NE(at->kind, StmtKind::If);
    }
  }
  EXPECT_EQ(calls, 5U);
  // A tile's allocation stands around the members that hold it, and inside the squads.
  const auto* tile = find_first<Allocate>(
      lowered.program.root(), [](const Allocate& allocate) { return allocate.buffer->scope == "tile"; });
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(loops_above(*tile).back()->thread, "squad.x");
}

TEST(GroupCalls, AFreeStrideIsToldWithTheCall) {
  const LoweredProgram lowered = lowered_for_squads(squad_product());
  const auto* load = find_first<Loop>(lowered.program.root(), [](const Loop& loop) {
    const auto name = loop.annotations.find(kTensorIntrinsic);
    return name != loop.annotations.end() && std::get<std::string>(name->second) == "unit_a";
  });
  ASSERT_NE(load, nullptr);
  const TensorCall call = tensor_call(*load);
  EXPECT_EQ(call.operands[1].strides, (std::vector<int64_t>{14, 1}));  // rows of 8 and 6 that nobody uses
}

void expect_barrier_needed(const Schedule& s, size_t left_out) {
  LoweredProgram lowered = lowered_for_squads(s);
  spell_out_handovers(lowered.program);
  const std::vector<Barrier*> barriers = collect<Barrier>(lowered.program.root());
  Seq& around = *barriers.at(left_out)->parent->as<Seq>();
  around.remove(around.index_of(*barriers[left_out]));
  std::vector<Tensor> arguments = random_arguments(s.program());
  EXPECT_THAT([&] { interpret(lowered.program, arguments); },
              testing::ThrowsMessage<InterpreterError>(testing::AnyOf(
                  testing::HasSubstr("race"), testing::HasSubstr("before anything was written"))))
      << "without barrier " << left_out << ":\n"
      << to_string(lowered.program);
}

TEST(GroupCalls, EveryBarrierIsNeeded) {
  const Schedule s = squad_product();
  const size_t barriers = collect<Barrier>(lowered_for_squads(s).program.root()).size();
  ASSERT_GE(barriers, 2U);
  for (size_t left_out = 0; left_out < barriers; ++left_out) expect_barrier_needed(s, left_out);
}

TEST(GroupCalls, ConsumersWaitForTheProducer) {
  expect_barrier_needed(squad_product({.steps = 3, .stages = 2}), 0);
}

// It is unknown which thread writes which element of a common store.
TEST(GroupCalls, ASingleThreadWaitsForWhatTheyStore) {
  Schedule s(squad_zeros());
  const LoweredProgram lowered = lowered_for_squads(s);
  EXPECT_EQ(collect<Barrier>(lowered.program.root()).size(), 1U) << to_string(lowered.program);
  std::vector<Tensor> arguments = random_arguments(s.program());
  EXPECT_NO_THROW(interpret(lowered.program, arguments));
  LoweredProgram without = lowered_for_squads(s);
  Barrier& barrier = *collect<Barrier>(without.program.root()).front();
  Seq& around = *barrier.parent->as<Seq>();
  around.remove(around.index_of(barrier));
  EXPECT_THAT([&] { interpret(without.program, arguments); },
              testing::ThrowsMessage<InterpreterError>(testing::HasSubstr("race")));
}

TEST(GroupCalls, RefuseWhatIsNotTheirs) {
  expect_squads_refused(squad_product({.zero = ""}),
                        "what a group holds is used otherwise than by a call of the group");
  expect_squads_refused(squad_product({.tensorize_store = false}),
                        "what a group holds is used otherwise than");
  expect_squads_refused(squad_product({.load_b = "unit_a"}), "calls require different layouts of one buffer");
}

TEST(GroupCalls, RefuseOperandsThatLieOtherwise) {
  expect_squads_refused(squad_product({.align = 3}), "an operand's layout differs from the intrinsic's");
}

TEST(GroupCalls, RefuseOtherNumbersOfMembers) {
  expect_squads_refused(squad_product({.members = 8}),
                        "a group has another number of members than loops run over");
  expect_squads_refused(squad_product({.bind_steps = true}), "a group");
}

TEST(GroupCalls, RefuseATargetWithoutTheLevel) {
  LowerOptions options = squad_options();
  options.execution.levels[1].group = 0;
  EXPECT_THAT([&] { lower(squad_product().program(), options, squad_pipeline()); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr("the target has no such groups")));
}

}  // namespace
}  // namespace tunesmith

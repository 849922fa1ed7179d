#include <functional>
#include <set>

#include <gtest/gtest.h>

#include <tunesmith/ir/lowered_stmt.h>
#include <tunesmith/ir/program.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

void append_handover(Program& p, const char* axis, int64_t versions) {
  p.root().append(
      std::make_unique<Handover>(axis, versions, std::make_unique<Seq>(), std::make_unique<Seq>()));
}

TEST(StructuralHash, IsTheSameForProgramsMadeApartAndForClones) {
  const Program a = test::make_gmm(4, 5, 6);
  const Program b = test::make_gmm(4, 5, 6);
  EXPECT_EQ(structural_hash(a), structural_hash(b));
  EXPECT_EQ(structural_hash(a), structural_hash(a.clone()));
}

// Records of different machines are compared, so the number itself must not change unnoticed.
TEST(StructuralHash, IsAKnownNumber) {
  EXPECT_EQ(structural_hash(test::make_gmm(4, 5, 6)), 338154449876511318ULL);
}

TEST(StructuralHash, NamesAndAgesOfVariablesDoNotCount) {
  const Program a = test::make_gmm(4, 5, 6);
  Program b = a.clone();
  for (Loop* loop : loops_above(*b.find_block("C"))) {
    const Var fresh("renamed_" + loop->var->name);
    const Substitution map{{loop->var, fresh}};
    loop->var = fresh;
    substitute_in(*loop, map);
  }
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}

// Two layers of a network are one task although their definitions use different names.
TEST(StructuralHash, NoNameCounts) {
  const Program a = test::make_gmm(4, 5, 6);
  Program b = a.clone();
  b.name = "another layer";
  b.find_block("C")->name = "D";
  b.swap_buffer(b.inputs[0], make_buffer("weights", kF32, {4, 6}));
  b.swap_buffer(b.outputs[0], make_buffer("D", kF32, {4, 5}));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}

TEST(StructuralHash, EveryChangeOfMeaningChangesIt) {
  const std::vector<std::function<void(Program&)>> changes = {
      [](Program&) {},
      [](Program& p) { p.annotations["unroll"] = int64_t{1}; },
      [](Program& p) { p.annotations["unroll"] = 1.0; },
      [](Program& p) { p.annotations["unroll"] = std::string("1"); },
      [](Program& p) { p.find_block("C")->annotations["unroll"] = int64_t{1}; },
      [](Program& p) { p.find_block("C")->predicate = bool_imm(false); },
      [](Program& p) { p.find_block("C")->take_init(); },
      [](Program& p) { p.find_block("C")->iters[0].kind = IterKind::Opaque; },
      [](Program& p) { std::swap(p.find_block("C")->bindings[0], p.find_block("C")->bindings[1]); },
      [](Program& p) { loops_above(*p.find_block("C"))[0]->loop_kind = LoopKind::Parallel; },
      [](Program& p) { loops_above(*p.find_block("C"))[0]->extent = 3; },
      [](Program& p) { loops_above(*p.find_block("C"))[0]->annotations["x"] = int64_t{1}; },
      [](Program& p) { p.swap_buffer(p.inputs[0], make_buffer("A", kF32, {4, 6}, kScopeLocal)); },
      [](Program& p) { p.swap_buffer(p.inputs[0], make_buffer("A", kF32, {4, 7})); },
      [](Program& p) { p.swap_buffer(p.inputs[0], make_buffer("A", kF32, {4, 6}, kScopeGlobal, true)); },
      [](Program& p) {
        p.swap_buffer(p.inputs[0], make_buffer("A", kF32, {4, 6}, kScopeGlobal, false, {8, 1}));
      },
      [](Program& p) { p.find_block("C")->init()->as<Store>()->value = float_imm(1, kF32); },
      [](Program& p) { p.find_block("C")->body()->as<Store>()->mask = bool_imm(true); },
      [](Program& p) { std::swap(p.inputs[0], p.inputs[1]); },
      [](Program& p) { append_handover(p, "squad.x", 2); },
      [](Program& p) { append_handover(p, "squad.x", 3); },
      [](Program& p) { append_handover(p, "squad.y", 2); },
  };
  std::set<uint64_t> hashes;
  for (size_t i = 0; i < changes.size(); ++i) {
    Program program = test::make_gmm(4, 5, 6);
    changes[i](program);
    EXPECT_TRUE(hashes.insert(structural_hash(program)).second) << "change " << i;
  }
}

}  // namespace
}  // namespace tunesmith

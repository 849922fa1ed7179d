#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/support/error.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

StmtPtr store_of(const Buffer& buffer, int value) {
  return std::make_unique<Store>(buffer, std::vector<Expr>{value}, constant(value, buffer->dtype));
}

/// Every child's parent link names its owner, at all depths.
void expect_linked(const Stmt& root) {
  walk(root,
       [](const Stmt& stmt) { visit_children(stmt, [&](Stmt& child) { EXPECT_EQ(child.parent, &stmt); }); });
}

class StmtTest : public testing::Test {
 protected:
  Buffer buffer_ = make_buffer("X", kI32, {16});
};

TEST_F(StmtTest, SeqSplicesASeq) {
  Seq seq;
  seq.append(store_of(buffer_, 0));
  std::vector<StmtPtr> two;
  two.push_back(store_of(buffer_, 1));
  two.push_back(store_of(buffer_, 2));
  seq.insert(0, std::make_unique<Seq>(std::move(two)));
  EXPECT_EQ(to_string(seq), "X[1] = 1\nX[2] = 2\nX[0] = 0\n");
  expect_linked(seq);
  EXPECT_EQ(seq.index_of(*seq.children()[1]), 1u);
}

TEST_F(StmtTest, ReplaceInSeq) {
  Seq seq;
  for (int i = 0; i < 3; ++i) seq.append(store_of(buffer_, i));
  Stmt* middle = seq.children()[1].get();
  std::vector<StmtPtr> two;
  two.push_back(store_of(buffer_, 7));
  two.push_back(store_of(buffer_, 8));
  const StmtPtr old = replace(*middle, std::make_unique<Seq>(std::move(two)));
  EXPECT_EQ(old.get(), middle);
  EXPECT_EQ(old->parent, nullptr);
  EXPECT_EQ(to_string(seq), "X[0] = 0\nX[7] = 7\nX[8] = 8\nX[2] = 2\n");
  expect_linked(seq);
  while (!seq.children().empty()) replace(*seq.children()[0], nullptr);
  EXPECT_EQ(to_string(seq), "pass\n");
}

TEST_F(StmtTest, ReplaceUnderOtherOwners) {
  Loop loop(LoopId{0}, Var("i"), 0, 4, store_of(buffer_, 0));
  replace(*loop.body(), store_of(buffer_, 5));
  EXPECT_EQ(to_string(loop), "for i in 0..4:\n  X[5] = 5\n");
  EXPECT_THROW(replace(*loop.body(), nullptr), InternalError);
  EXPECT_THROW(replace(loop, store_of(buffer_, 1)), InternalError);

  If branch(lt(Var("x"), 3), store_of(buffer_, 0), store_of(buffer_, 1));
  replace(*branch.then_case(), store_of(buffer_, 2));
  replace(*branch.else_case(), nullptr);
  EXPECT_EQ(to_string(branch), "if x < 3:\n  X[2] = 2\n");
  expect_linked(branch);

  Block block(BlockId{0}, "b", {}, {}, store_of(buffer_, 0), store_of(buffer_, 1));
  replace(*block.body(), store_of(buffer_, 3));
  replace(*block.init(), nullptr);
  EXPECT_EQ(to_string(block), "block b():\n  X[3] = 3\n");

  Allocate allocate(buffer_, store_of(buffer_, 1));
  replace(*allocate.body(), store_of(buffer_, 4));
  EXPECT_EQ(to_string(allocate), "alloc X: i32[16]:\n  X[4] = 4\n");
  expect_linked(allocate);

  Handover handover("squad.x", 2, store_of(buffer_, 1), store_of(buffer_, 2));
  replace(*handover.produce(), store_of(buffer_, 5));
  replace(*handover.consume(), store_of(buffer_, 6));
  EXPECT_EQ(to_string(*handover.clone()),
            "handover(squad.x, versions 2):\n  produce:\n    X[5] = 5\n  consume:\n    X[6] = 6\n");
  expect_linked(handover);
  EXPECT_THROW(replace(*handover.produce(), nullptr), InternalError);
}

TEST_F(StmtTest, AHandoverIsFoundWhereTheLoopDoesNothingElse) {
  const auto handover = [&] {
    return std::make_unique<Handover>("squad.x", 2, store_of(buffer_, 1), store_of(buffer_, 2));
  };
  Loop loop(LoopId{0}, Var("i"), 0, 4, handover());
  EXPECT_EQ(handover_of(loop), loop.body());
  auto alone = std::make_unique<Seq>();
  alone->append(handover());
  loop.set_body(std::move(alone));
  EXPECT_EQ(handover_of(loop), loop.body()->as<Seq>()->children()[0].get());
  loop.body()->as<Seq>()->append(store_of(buffer_, 3));
  EXPECT_EQ(handover_of(loop), nullptr);
}

TEST_F(StmtTest, TakeBodyDetaches) {
  Loop loop(LoopId{0}, Var("i"), 0, 4, store_of(buffer_, 0));
  const StmtPtr body = loop.take_body();
  EXPECT_EQ(body->parent, nullptr);
  EXPECT_EQ(loop.body(), nullptr);
}

TEST_F(StmtTest, CloneIsDeepAndSharesExpressions) {
  const Program program = test::make_gmm(4, 5, 6);
  const Stmt& original = program.root();
  const StmtPtr copy = original.clone();
  EXPECT_EQ(copy->parent, nullptr);
  expect_linked(*copy);
  EXPECT_EQ(to_string(*copy), to_string(original));

  std::vector<const Stmt*> originals, copies;
  walk(original, [&](const Stmt& stmt) { originals.push_back(&stmt); });
  walk(std::as_const(*copy), [&](const Stmt& stmt) { copies.push_back(&stmt); });
  ASSERT_EQ(originals.size(), copies.size());
  for (size_t i = 0; i < originals.size(); ++i) {
    EXPECT_NE(originals[i], copies[i]);
    if (const auto* store = originals[i]->as<Store>()) {
      EXPECT_TRUE(store->value.same_as(copies[i]->as<Store>()->value));
    }
    if (const auto* block = originals[i]->as<Block>()) {
      EXPECT_EQ(block->id, copies[i]->as<Block>()->id);
    }
  }
}

TEST_F(StmtTest, CloneKeepsKindsThreadsPredicatesAndAnnotations) {
  const Var i("i");
  auto block = std::make_unique<Block>(BlockId{7}, "b", std::vector<IterVar>{{Var("v"), 4, IterKind::Opaque}},
                                       std::vector<Expr>{i}, nullptr, store_of(buffer_, 1));
  block->predicate = lt(i, 3);
  block->annotations["note"] = std::string("x");
  Loop loop(LoopId{0}, i, 0, 4, std::move(block));
  loop.loop_kind = LoopKind::Bound;
  loop.thread = "thread.x";
  loop.annotations["step"] = int64_t{3};
  EXPECT_EQ(to_string(*loop.clone()), to_string(loop));
  EXPECT_EQ(to_string(loop),
            "for i in 0..4 bind(thread.x):\n"
            "  annotate step = 3\n"
            "  block b(v: opaque 4 = i):\n"
            "    where i < 3\n"
            "    annotate note = \"x\"\n"
            "    X[1] = 1\n");
}

TEST_F(StmtTest, SubstituteReachesEveryExpression) {
  const Var n("n"), i("i");
  auto store = std::make_unique<Store>(buffer_, std::vector<Expr>{n + i}, cast(kI32, n), lt(i, n));
  auto branch = std::make_unique<If>(lt(n, 9), std::move(store));
  auto block =
      std::make_unique<Block>(BlockId{0}, "b", std::vector<IterVar>{{Var("v"), 9, IterKind::Spatial}},
                              std::vector<Expr>{n}, nullptr, std::move(branch));
  block->predicate = lt(i, n + 1);
  Loop loop(LoopId{0}, i, n, n * 2, std::move(block));
  substitute_in(loop, {{n, 4}});
  EXPECT_EQ(to_string(loop),
            "for i in 4..12:\n"
            "  block b(v: spatial 9 = 4):\n"
            "    where i < 5\n"
            "    if true:\n"
            "      X[i + 4] = 4 where i < 4\n");
}

TEST_F(StmtTest, AVisitLeavesChildrenAloneAndAWalkDoesNot) {
  const Var n("n");
  Seq nest;
  nest.append(std::make_unique<Loop>(
      LoopId{0}, Var("i"), 0, n, std::make_unique<Loop>(LoopId{1}, Var("j"), 0, n, store_of(buffer_, 1))));
  Stmt& loop = *nest.children().front();
  visit_exprs(loop, [&](Expr& e) { e = substitute(e, {{n, 4}}); });
  EXPECT_EQ(to_string(loop), "for i in 0..4:\n  for j in 0..n:\n    X[1] = 1\n");
  rewrite_exprs(loop, [&](const Expr& e) -> Expr { return e.same_as(n) ? Expr(4) : e; });
  EXPECT_EQ(to_string(loop), "for i in 0..4:\n  for j in 0..4:\n    X[1] = 1\n");
}

TEST_F(StmtTest, ReplaceBufferReachesStoresLoadsAndAllocations) {
  const Buffer other = make_buffer("Y", kI32, {16});
  Allocate allocate(buffer_, std::make_unique<Store>(buffer_, std::vector<Expr>{1}, load(buffer_, {0})));
  replace_buffer_in(allocate, buffer_, other);
  EXPECT_EQ(to_string(allocate), "alloc Y: i32[16]:\n  Y[1] = Y[0]\n");
}

TEST_F(StmtTest, LoopsAboveStopAtABlock) {
  Program program = test::make_gmm(4, 5, 6);
  Block* block = program.find_block("C");
  const auto loops = loops_above(*block);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(loops[0]->var->name, "i");
  EXPECT_EQ(loops[2]->const_extent(), 6);
  EXPECT_TRUE(loops_above(*block->body()).empty());
  EXPECT_EQ(enclosing_block(*block->body()), block);
  EXPECT_EQ(enclosing_block(*block), nullptr);
  EXPECT_TRUE(is_ancestor(*loops[0], *block->init()));
  EXPECT_TRUE(is_ancestor(*block, *block));
  EXPECT_FALSE(is_ancestor(*block, *loops[0]));
  EXPECT_TRUE(block->has_reduction());
  EXPECT_EQ(block->iter_index(block->iters[2].var), 2);
  EXPECT_EQ(block->iter_index(loops[0]->var), -1);
}

TEST_F(StmtTest, StoresOfTheWrongTypeAreRefused) {
  EXPECT_THROW(Store(buffer_, {0}, float_imm(1, kF32)), InternalError);
  EXPECT_THROW(Store(buffer_, {0, 0}, int_imm(1, kI32)), InternalError);
}

}  // namespace
}  // namespace tunesmith

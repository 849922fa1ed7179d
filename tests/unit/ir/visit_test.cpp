#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

TEST(Visit, StatementsAreFoundInTheOrderOfTheText) {
  Program program = test::make_gmm(4, 5, 6);
  std::string names;
  for (Loop* loop : collect<Loop>(program.root())) names += loop->var->name;
  EXPECT_EQ(names, "ijk");
  const Program& constant = program;
  const std::vector<const Store*> stores = collect<Store>(constant.root());
  ASSERT_EQ(stores.size(), 2U);
  const Block& block = *program.find_block("C");
  EXPECT_EQ(stores[0], block.init());
  EXPECT_EQ(stores[1], block.body());
  const auto is_k = [](const Loop& loop) { return loop.var->name == "k"; };
  EXPECT_EQ(collect<Loop>(program.root(), is_k).size(), 1U);
  EXPECT_EQ(find_first<Loop>(program.root(), is_k), collect<Loop>(program.root())[2]);
  EXPECT_EQ(find_first<Store>(constant.root()), stores[0]);
  EXPECT_EQ(find_first<If>(program.root()), nullptr);
}

TEST(Visit, AnswersEndTheSearch) {
  const Program program = test::make_gmm(4, 5, 6);
  int asked = 0;
  EXPECT_TRUE(any_of_stmt(program.root(), [&](const Stmt& stmt) {
    ++asked;
    return stmt.kind == StmtKind::Loop;
  }));
  EXPECT_EQ(asked, 2);  // the root and the first loop
  EXPECT_FALSE(any_of_stmt(program.root(), [](const Stmt& stmt) { return stmt.kind == StmtKind::If; }));
  const auto is_product = [](const Expr& part) { return part.is(ExprKind::Mul); };
  EXPECT_TRUE(any_of_exprs(program.root(), is_product));
  EXPECT_FALSE(any_of_exprs(*program.find_block("C")->init(), is_product));
}

TEST(Visit, EveryExpressionUnderAStatement) {
  const Program program = test::make_gmm(4, 5, 6);
  size_t loads = 0;
  walk_exprs(program.root(), [&](const Expr& part) { loads += part.is(ExprKind::Load) ? 1 : 0; });
  EXPECT_EQ(loads, 3U);  // C, A and B
}

TEST(Visit, AccessesOfAStatementAreItsStoreAndThenItsLoads) {
  Program program = test::make_gmm(4, 5, 6);
  std::string seen;
  walk_accesses(program.root(), [&](Stmt& stmt, const AccessSite& access) {
    EXPECT_EQ(stmt.kind, StmtKind::Store);
    EXPECT_EQ(access.indices.size(), 2U);
    seen += access.buffer->name + (access.load == nullptr ? " = " : " ");
  });
  EXPECT_EQ(seen, "C = C = C A B ");
  // A load in an index, and in a mask.
  const Buffer table = make_buffer("T", kI64, {8});
  const Buffer buffer = make_buffer("X", kF32, {8});
  const Expr gathered = cast(kIndex, load(table, {1}));
  Seq stores;
  stores.append(
      std::make_unique<Store>(buffer, std::vector<Expr>{gathered}, load(buffer, {2}), lt(gathered, 5)));
  seen.clear();
  visit_accesses(*stores.children().front(), [&](const AccessSite& access) { seen += access.buffer->name; });
  EXPECT_EQ(seen, "XTXT");
}

}  // namespace
}  // namespace tunesmith

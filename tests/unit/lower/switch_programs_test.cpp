#include "tunesmith/lower/switch_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

#include "unit/lower/run_passes.h"
#include "varying.h"

namespace tunesmith {
namespace {

using namespace test;
using tunesmith_test::AtValues;
using tunesmith_test::tried_values;

LowerOptions for_ranges() {
  LowerOptions options = small_machine();
  options.parameters = options.prepare = true;
  return options;
}

/// O is so many times A.
LoweredProgram times(const Program& program, double factor) {
  LoweredProgram lowered = lower(program, for_ranges());
  for (const StmtPtr& child : lowered.program.root().children())
    walk(*child, [&](Stmt& stmt) {
      if (Store* store = stmt.as<Store>())
        store->value = store->value * float_imm(factor, store->buffer->dtype);
    });
  return lowered;
}

TEST(SwitchPrograms, TheValueChooses) {
  const Program program = parse_program(
      "program s[1 <= n <= 6](A: f32[6] extents [n]) -> (O: f32[6] extents [n])\n"
      "  for i in 0..6:\n"
      "    block O(vi: spatial 6 = i):\n"
      "      O[vi] = A[vi]\n");
  const LoweredProgram once = times(program, 1), twice = times(program, 2), thrice = times(program, 3);
  const std::vector<ProgramOfInterval> parts = {{&once, 1, 2}, {&twice, 3, 3}, {&thrice, 4, 6}};
  const LoweredProgram joined = switch_programs(0, parts);
  std::vector<double> factors;
  for (int64_t n = 1; n <= 6; ++n) {
    std::vector<Tensor> arguments = {Tensor::like(*program.inputs[0]), Tensor::like(*program.outputs[0])};
    for (int64_t i = 0; i < 6; ++i) arguments[0].set(i, 1.0);
    InterpretOptions options;
    options.parameters = {n};
    interpret(joined.program, arguments, options);
    factors.push_back(arguments[1].get(n - 1));
    EXPECT_TRUE(n == 6 || arguments[1].get(n) == 0.0);
  }
  EXPECT_THAT(factors, testing::ElementsAre(1.0, 1.0, 2.0, 3.0, 3.0, 3.0));
  const std::vector<ProgramOfInterval> others = {{&once, 1, 1}, {&twice, 2, 3}, {&thrice, 4, 6}};
  EXPECT_NE(lowered_hash(joined), lowered_hash(switch_programs(0, others)))
      << "the intervals are part of the program's identity";
}

TEST(SwitchPrograms, ShareWorkspaceAndWhatIsPreparedAlike) {
  const Workload workload = WorkloadLibrary().load("gmm:n=1..17,m=96,k=64,constant_b=1");
  const auto packed = [&](const char* layout, int64_t rows) {
    Schedule s(workload.program.clone());
    const BlockRV block = s.get_block("C");
    const BlockRV copy = s.cache_read(block, 1, kScopeGlobal);
    s.transform_layout(copy, "write", 0, layout);
    s.cache_read(block, 0, kScopeGlobal);
    s.split(s.get_loops(block)[1], {std::nullopt, rows});
    return lower(s.program(), for_ranges());
  };
  const char* const panels = "(b, k, j) -> (b, j // 8, k, j % 8)";
  const LoweredProgram some = packed(panels, 4), others = packed(panels, 6),
                       third = packed("(b, k, j) -> (b, j // 4, k, j % 4)", 6);
  ASSERT_NE(some.prepare, nullptr);
  ASSERT_GT(some.workspace_bytes + some.prepared_bytes, 0);
  const std::vector<ProgramOfInterval> parts = {{&some, 1, 5}, {&others, 6, 11}, {&third, 12, 17}};
  const LoweredProgram joined = switch_programs(0, parts);
  EXPECT_EQ(joined.workspace_bytes,
            std::max({some.workspace_bytes, others.workspace_bytes, third.workspace_bytes}));
  EXPECT_EQ(joined.prepared_bytes, some.prepared_bytes + third.prepared_bytes);
  EXPECT_EQ(joined.prepared.size(), 2U);
  for (const int64_t value : tried_values(workload.program))
    AtValues(workload, {value}).expect_interpreted(joined, workload.program, 1e-3);
}

}  // namespace
}  // namespace tunesmith

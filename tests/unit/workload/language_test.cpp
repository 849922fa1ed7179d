// Every construct of the language, and the program it makes.
#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>

#include "unit/workload/parse.h"

namespace tunesmith {
namespace {

using ::testing::ElementsAre;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// The printed statement of block `name`.
std::string body_of(const Workload& workload, const std::string& name = "O") {
  const Block* block = workload.program.find_block(name);
  return block ? trimmed(to_string(*block->body())) : "no block " + name;
}

std::string body_of(const std::string& statements, const std::string& name = "O") {
  return body_of(workload_of(with_statements(statements)), name);
}

/// The value stored by `O[i<n, j<m] = expression`, which may read X, Y and I.
std::string stored(const std::string& expression) {
  const std::string text =
      "name: test\nparams: {n: 6, m: 8, t: bf16}\ninputs:\n  X: {shape: [n, m], dtype: f32}\n"
      "compute: |\n  Z[i<n, j<m] = X[i, j] < 1 and X[i, j] > -1\n  O[i<n, j<m] = " +
      expression + "\n  Q[i<n, j<m] = select(Z[i, j], X[i, j], 0)\noutputs: [O, Q]\n";
  const std::string body = body_of(workload_of(text));
  const std::string prefix = "O[vi, vj] = ";
  return body.starts_with(prefix) ? body.substr(prefix.size()) : body;
}

TEST(Language, AnIndexThatIsDataIsBroughtIntoTheBounds) {
  EXPECT_EQ(body_of("O[i<n, j<m] = X[at(I[i]), j]"), "O[vi, vj] = X[index(min(max(I[vi], 0), 5)), vj]");
  EXPECT_EQ(body_of("O[i<n, j<m] = X[at(I[i] * 2 + 1), at(j + 3)]"),
            "O[vi, vj] = X[index(min(max(I[vi]*2 + 1, 0), 5)), min(max(vj + 3, 0), 7)]");
  EXPECT_EQ(body_of("O[i<n] = X[at(I[at(I[i])]), at(99)]"),
            "O[vi] = X[index(min(max(I[index(min(max(I[vi], 0), 5))], 0), 5)), 7]");
  EXPECT_EQ(body_of("O[i<n] = inside(X[at(I[i]), i - 1], 0)"),
            "O[vi] = select(0 <= vi - 1, X[index(min(max(I[vi], 0), 5)), vi - 1], 0.0)");
}

std::vector<std::string> block_names(const Workload& workload) {
  std::vector<std::string> names;
  for (const Block* block : workload.program.blocks()) {
    if (block->name != "Inputs") names.push_back(block->name);
  }
  return names;
}

TEST(Language, OneStatementIsOneBlockUnderOneLoopForEachAxis) {
  const Workload workload = workload_of(
      with_statements("O[i<n, j<m] = sum(k<4) X[i, k] * Y[j, k - k]\n  * 2\nU[i<n] = I[i]", "O, U"));
  EXPECT_THAT(block_names(workload), ElementsAre("O", "U"));
  const Block& block = *workload.program.find_block("O");
  ASSERT_EQ(block.iters.size(), 3u);
  EXPECT_EQ(block.iters[1].extent, 8);
  EXPECT_EQ(block.iters[1].kind, IterKind::Spatial);
  EXPECT_EQ(block.iters[2].extent, 4);
  EXPECT_EQ(block.iters[2].kind, IterKind::Reduction);
  std::vector<std::string> loops;
  for (const Loop* loop : loops_above(block)) loops.push_back(loop->var->name);
  EXPECT_THAT(loops, ElementsAre("i", "j", "k"));
  ASSERT_EQ(workload.program.outputs.size(), 3u);
  EXPECT_EQ(workload.program.outputs[1]->dtype, kI32);
  EXPECT_TRUE(workload.program.intermediates.empty());
}

TEST(Language, ReductionsBeginWithTheirIdentity) {
  const Workload workload = workload_of(with_statements(
      "S[i<n] = sum(j<m) X[i, j]\nA[i<n] = max(j<m) X[i, j]\nB[i<n] = min(j<m) I[i] * i32(j)", "S, A, B"));
  EXPECT_EQ(trimmed(to_string(*workload.program.find_block("S")->init())), "S[vi] = 0.0");
  EXPECT_EQ(body_of(workload, "S"), "S[vi] = S[vi] + X[vi, vj]");
  EXPECT_EQ(trimmed(to_string(*workload.program.find_block("A")->init())), "A[vi] = -inf");
  EXPECT_EQ(body_of(workload, "A"), "A[vi] = max(A[vi], X[vi, vj])");
}

TEST(Language, AProductBeginsWithOne) {
  const Workload workload =
      workload_of(with_statements("P[i<n] = prod(j<m) X[i, j]\nQ[i<n] = prod(j) I[i] * i32(j)", "P, Q"));
  EXPECT_EQ(trimmed(to_string(*workload.program.find_block("P")->init())), "P[vi] = 1.0");
  EXPECT_EQ(body_of(workload, "P"), "P[vi] = P[vi]*X[vi, vj]");
  EXPECT_EQ(trimmed(to_string(*workload.program.find_block("Q")->init())), "Q[vi] = 1");
}

TEST(Language, APositionIsTheLeastOfTheExtreme) {
  const Workload workload = workload_of(with_statements("O[i<n] = argmax(j<m) X[i, j] * 2"));
  EXPECT_THAT(block_names(workload), ElementsAre("O_max", "O"));
  EXPECT_EQ(body_of(workload, "O_max"), "O_max[vi] = max(O_max[vi], X[vi, vj]*2.0)");
  EXPECT_EQ(body_of(workload, "O"), "O[vi] = min(O[vi], i64(select(X[vi, vj]*2.0 == O_max[vi], vj, 7)))");
  const Workload inside = workload_of(with_statements("O[i<n] = f32(argmin(j<m) X[i, j]) + X[i, 0]"));
  EXPECT_THAT(block_names(inside), ElementsAre("O_argmin_min", "O_argmin", "O"));
}

TEST(Language, BitsOfIntegers) {
  EXPECT_EQ(body_of("O[i<n] = bit_xor(bit_and(I[i], 7), bit_not(I[i]))"),
            "O[vi] = bit_xor(bit_and(I[vi], 7), bit_xor(I[vi], -1))");
  EXPECT_EQ(body_of("O[i<n] = shift_left(u32(I[i]), 3)"), "O[vi] = shift_left(u32(I[vi]), 3)");
  EXPECT_EQ(body_of("O[i<n] = max(u64(I[i]), highest(u64))"),
            "O[vi] = max(u64(I[vi]), 18446744073709551615)");
}

TEST(Language, AReductionTakesTheWholeProductAfterIt) {
  EXPECT_EQ(body_of("O[i<n] = sum(j<m) X[i, j] * Y[j, i] / 2"), "O[vi] = O[vi] + X[vi, vj]*Y[vj, vi]/2.0");
  EXPECT_EQ(body_of("O[i<n] = sum(j<m) (X[i, j] + Y[j, i])"), "O[vi] = O[vi] + (X[vi, vj] + Y[vj, vi])");
}

TEST(Language, AReductionInsideAnExpressionBecomesAStageOverTheAxesItUses) {
  const Workload workload =
      workload_of(with_statements("O[i<n, j<m] = relu((sum(k<m) X[i, k]) * Y[j, i] - max(k<m) X[i, k] * X[i, "
                                  "k]) + (sum(a<n, b<m) X[a, b])"));
  EXPECT_THAT(block_names(workload), ElementsAre("O_sum", "O_max", "O_sum_1", "O"));
  EXPECT_EQ(body_of(workload, "O_sum"), "O_sum[vi] = O_sum[vi] + X[vi, vk]");
  EXPECT_EQ(body_of(workload, "O_max"), "O_max[vi] = max(O_max[vi], X[vi, vk]*X[vi, vk])");
  EXPECT_EQ(body_of(workload, "O_sum_1"), "O_sum_1[vu] = O_sum_1[vu] + X[va, vb]");
  EXPECT_EQ(body_of(workload, "O"), "O[vi, vj] = max(O_sum[vi]*Y[vj, vi] - O_max[vi], 0.0) + O_sum_1[0]");
}

TEST(Language, AReductionInsideAReductionBecomesAStageToo) {
  const Workload workload =
      workload_of(with_statements("O[i<n] = sum(j<m) Y[j, i] * sum(k<m) X[i, k] * Y[j, i]"));
  EXPECT_THAT(block_names(workload), ElementsAre("O_sum", "O"));
  EXPECT_EQ(workload.program.find_block("O_sum")->iters.size(), 3u);
  EXPECT_EQ(body_of(workload), "O[vi] = O[vi] + Y[vj, vi]*O_sum[vi, vj]");
}

TEST(Language, AStagesNameGivesWayToTheUsers) {
  const Workload workload =
      workload_of(with_statements("O_sum[i<n] = X[i, 0]\nO[i<n] = (sum(j<m) X[i, j]) + O_sum[i]"));
  EXPECT_THAT(block_names(workload), ElementsAre("O_sum", "O_sum_1", "O"));
}

TEST(Language, AnAxisKeepsTheExtentItWasGivenBefore) {
  const Workload workload = workload_of(
      with_statements("E[i<n, j<m] = exp(X[i, j])\nS[i] = sum(j) E[i, j]\nO[i, j] = E[i, j] / S[i]"));
  EXPECT_EQ(workload.program.outputs[0]->shape, (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(workload.program.find_block("S")->iters[1].extent, 8);
}

TEST(Language, EveryReductionTakesAxesThatAreKnown) {
  for (const std::string kind : {"sum", "max", "min"}) {
    const std::string before = "E[i<n, j<m] = X[i, j] + 1\n";
    EXPECT_EQ(workload_of(with_statements(before + "O[i] = " + kind + "(j) E[i, j]")).hash,
              workload_of(with_statements(before + "O[i] = " + kind + "(j<m) E[i, j]")).hash);
  }
  // Values, as before.
  EXPECT_EQ(error_of(with_statements("O[i<n] = max(X[i, 0], X[i, 1])")), "accepted");
  EXPECT_EQ(error_of(with_statements("O[i<n] = select(max(i, 2) > 3 and min(i, 2) < 9, X[i, 0], 0)")),
            "accepted");
}

TEST(Language, ElementwiseMathematics) {
  EXPECT_EQ(stored("exp(X[i, j]) + log(X[i, j])"), "exp(X[vi, vj]) + log(X[vi, vj])");
  EXPECT_EQ(stored("tanh(X[i, j]) - erf(X[i, j])"), "tanh(X[vi, vj]) - erf(X[vi, vj])");
  EXPECT_EQ(stored("sqrt(X[i, j]) * rsqrt(X[i, j])"), "sqrt(X[vi, vj])*rsqrt(X[vi, vj])");
  EXPECT_EQ(stored("pow(X[i, j], 3) / abs(X[i, j])"), "pow(X[vi, vj], 3.0)/abs(X[vi, vj])");
  EXPECT_EQ(stored("sigmoid(floor(ceil(X[i, j])))"), "sigmoid(floor(ceil(X[vi, vj])))");
  EXPECT_EQ(stored("round_even(X[i, j]) * round_even(2.5)"), "round_even(X[vi, vj])*2.0");
  EXPECT_EQ(stored("max(X[i, j], 0, min(X[i, j], 6))"), "max(max(X[vi, vj], 0.0), min(X[vi, vj], 6.0))");
  EXPECT_EQ(stored("relu(-X[i, j])"), "max(X[vi, vj]*-1.0, 0.0)");
  EXPECT_EQ(stored("max(X[i, j], lowest(f32))"), "max(X[vi, vj], -inf)");
  EXPECT_EQ(stored("min(i32(X[i, j]), highest(i32))"), "min(i32(X[vi, vj]), 2147483647)");
}

TEST(Language, ConstantsFoldAndTakeTheTypeTheyMeet) {
  EXPECT_EQ(stored("X[i, j] * (1 / n)"), "X[vi, vj]*0.16666667");
  EXPECT_EQ(stored("X[i, j] * sqrt(m * 2)"), "X[vi, vj]*4.0");
  EXPECT_EQ(stored("X[i, j] + (7 // 2 - 7 % 4 + min(2, 3) + max(n, m))"), "X[vi, vj] + 10.0");
  EXPECT_EQ(stored("X[i, j] + (-7 // 2) * 10 + (-7 % 4)"), "X[vi, vj] + -40.0 + 1.0");
  EXPECT_EQ(stored("X[i, j] + exp(0) + abs(-3) + pow(2, 3)"), "X[vi, vj] + 1.0 + 3.0 + 8.0");
  EXPECT_EQ(stored("i32(X[i, j]) + n"), "i32(X[vi, vj]) + 6");
  EXPECT_EQ(stored("select(n > 5, X[i, j], X[0, 0])"), "X[vi, vj]");
}

TEST(Language, CastsAndTypes) {
  EXPECT_EQ(stored("t(X[i, j]) * t(X[i, j])"), "bf16(X[vi, vj])*bf16(X[vi, vj])");
  EXPECT_EQ(stored("f32(i) + X[i, j]"), "f32(vi) + X[vi, vj]");
  EXPECT_EQ(stored("f32(3)"), "3.0");
  const Workload workload = workload_of(
      "name: w\nparams: {t: bf16}\nlet: {a: accumulator(t)}\ninputs: {X: {shape: [4], dtype: t}}\n"
      "compute: O[i<4] = a(X[i])\noutputs: [O]\n");
  EXPECT_EQ(workload.program.outputs[0]->dtype, kF32);
  EXPECT_EQ(workload.program.inputs[0]->dtype, kBF16);
}

TEST(Language, AnAxisIsAnIndexUntilItMeetsData) {
  const auto stored_of = [](const std::string& expression) {
    const std::string text = body_of(workload_of(
        "name: w\ninputs:\n  X: {shape: [4], dtype: i64}\n  N: {shape: [4], dtype: i8}\ncompute: |\n"
        "  Q[i<4] = X[i] + i64(N[i])\n  O[i<4] = " +
        expression + "\noutputs: [O, Q]\n"));
    return text.substr(text.find("= ") + 2);
  };
  EXPECT_EQ(stored_of("i"), "i64(vi)");
  EXPECT_EQ(stored_of("i64(i)*3 + i"), "i64(vi*3 + vi)");
  EXPECT_EQ(stored_of("X[i] + i + 1"), "X[vi] + i64(vi) + 1");
  EXPECT_EQ(stored_of("X[i64(3) - i64(i)] + 9223372036854775807"), "X[3 - vi] + 9223372036854775807");
  EXPECT_EQ(stored_of("i64(9223372036854775807) + X[i]"), "X[vi] + 9223372036854775807");
  EXPECT_EQ(stored_of("select(X[i] + 1 > X[i], i, X[i])"), "select(X[vi] < X[vi] + 1, i64(vi), X[vi])");
  EXPECT_EQ(stored_of("select(i < 2, X[i + 2], i)"), "select(vi < 2, X[vi + 2], i64(vi))");
  EXPECT_EQ(stored_of("N[i] + i8(i)"), "N[vi] + i8(vi)");
  EXPECT_EQ(stored_of("max(i, 2) + abs(i - 3)"), "i64(max(vi, 2) + abs(vi - 3))");
}

TEST(Language, ComparisonsAndConditions) {
  EXPECT_EQ(stored("select(i <= j and not (X[i, j] == 0), X[i, j], 0)"),
            "select(vi <= vj and not X[vi, vj] == 0.0, X[vi, vj], 0.0)");
  EXPECT_EQ(stored("select(X[i, j] > 1 or X[i, j] >= 2 or X[i, j] != 3, X[i, j], -X[i, j])"),
            "select(1.0 < X[vi, vj] or 2.0 <= X[vi, vj] or X[vi, vj] != 3.0, X[vi, vj], X[vi, vj]*-1.0)");
  EXPECT_EQ(stored("select(Z[i, j], 1, f32(0))"), "select(Z[vi, vj], 1.0, 0.0)");
}

TEST(Language, InsideGuardsJustTheBoundsThatMayBreak) {
  EXPECT_EQ(stored("inside(X[i, j], 0)"), "X[vi, vj]");
  EXPECT_EQ(stored("inside(X[i - 1, j], 7)"), "select(0 <= vi - 1, X[vi - 1, vj], 7.0)");
  EXPECT_EQ(stored("inside(X[i, j + 2], -inf)"), "select(vj + 2 < 8, X[vi, vj + 2], -inf)");
  EXPECT_EQ(stored("inside(X[2*i - 1, j], 0)"),
            "select(0 <= vi*2 - 1 and vi*2 - 1 < 6, X[vi*2 - 1, vj], 0.0)");
}

TEST(Language, ASelectsConditionProvesBounds) {
  EXPECT_EQ(stored("select(i > 0, X[i - 1, j], X[i, j])"), "select(0 < vi, X[vi - 1, vj], X[vi, vj])");
  EXPECT_EQ(stored("select(i == 0 or i >= 5, X[i, j], X[i + 1, j] - X[i - 1, j])"),
            "select(vi == 0 or 5 <= vi, X[vi, vj], X[vi + 1, vj] - X[vi - 1, vj])");
  EXPECT_EQ(stored("select(2*i + j < 6, X[2*i + j, j], X[i, j])"),
            "select(vi*2 + vj < 6, X[vi*2 + vj, vj], X[vi, vj])");
  EXPECT_EQ(stored("select(i < 3 and j < 4, X[2*i, 2*j], 0)"),
            "select(vi < 3 and vj < 4, X[vi*2, vj*2], 0.0)");
}

TEST(Language, IndicesDivideAndTakeRemainders) {
  EXPECT_EQ(stored("X[i // 2, j % 4]"), "X[vi//2, vj%4]");
  EXPECT_EQ(stored("X[(i*m + j) // m, (i*m + j) % m]"), "X[vi, vj]");
  EXPECT_EQ(stored("X[n - 1 - i, m - 1 - j]"), "X[5 - vi, 7 - vj]");
}

TEST(Language, AxesOfExtentOneStay) {
  const Workload workload = workload_of(
      "name: w\nparams: {b: 1}\ninputs: {X: {shape: [b, 4], dtype: f32}}\n"
      "compute: O[z<b, i<4] = X[z, i]\noutputs: [O]\n");
  EXPECT_EQ(body_of(workload), "O[vz, vi] = X[vz, vi]");
}

TEST(Language, CommentsBlankLinesAndContinuations) {
  const std::string text =
      "name: w\ninputs: {X: {shape: [4], dtype: f32}}\ncompute: |\n  # first\n\n  T[i<4] =  # a remark\n     "
      " X[i]\n"
      "\n        * 2\n  # between\n  O[i<4] = T[i]\noutputs: [O]\n";
  EXPECT_EQ(body_of(workload_of(text), "T"), "T[vi] = X[vi]*2.0");
}

TEST(Language, ConstantInputsByExpression) {
  const std::string text =
      "name: w\nparams: {c: 0}\ninputs:\n  X: {shape: [4], dtype: f32, constant: true}\n"
      "  Y: {shape: [4], dtype: f32, constant: c}\n  Z: {shape: [4], dtype: f32, constant: c > 1}\n"
      "compute: O[i<4] = X[i] + Y[i] + Z[i]\noutputs: [O]\n";
  const auto flags = [&](const char* c) {
    const Workload workload = workload_of(text, {{"c", c}});
    std::vector<bool> constant;
    for (const Buffer& input : workload.program.inputs) constant.push_back(input->constant);
    return constant;
  };
  EXPECT_THAT(flags("0"), ElementsAre(true, false, false));
  EXPECT_THAT(flags("2"), ElementsAre(true, true, true));
}

TEST(Language, DefaultsMayBeComputedFromEarlierParameters) {
  const std::string text =
      "name: w\nparams: {n: 4, m: 2*n, t: f16, acc: accumulator(t)}\ninputs: {X: {shape: [m], dtype: t}}\n"
      "compute: O[i<m] = acc(X[i])\noutputs: [O]\n";
  EXPECT_EQ(workload_of(text, {{"n", "3"}}).program.outputs[0]->shape, std::vector<int64_t>{6});
  EXPECT_EQ(workload_of(text, {{"n", "3"}}).key, "w:n=3,t=f16");
  EXPECT_EQ(workload_of(text, {{"n", "3"}, {"m", "6"}}).key, "w:n=3,t=f16");
  EXPECT_EQ(workload_of(text, {{"m", "6"}}).key, "w:n=4,m=6,t=f16");
  EXPECT_EQ(workload_of(text, {{"acc", "f64"}}).program.outputs[0]->dtype, kF64);
}

TEST(Language, AnOutputMayBeReadByLaterStages) {
  const Workload workload = workload_of(with_statements("S[i<n] = X[i, 0]\nO[i<n] = S[i] * 2", "O, S"));
  ASSERT_EQ(workload.program.outputs.size(), 3u);
  EXPECT_EQ(workload.program.outputs[0]->name, "O");
  EXPECT_TRUE(workload.program.intermediates.empty());
}

TEST(Language, BuffersStandInTheOrderOfTheText) {
  const Workload workload =
      workload_of(with_statements("T[i<n] = X[i, 0]\nR[i<n] = T[i] + Y[0, i]\nO[i<n] = R[i] + f32(I[i])"));
  std::vector<std::string> names;
  for (const Buffer& buffer : workload.program.buffers()) names.push_back(buffer->name);
  EXPECT_THAT(names, ElementsAre("X", "Y", "I", "O", "Inputs", "T", "R"));
}

}  // namespace
}  // namespace tunesmith

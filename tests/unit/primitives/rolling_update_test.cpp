#include <algorithm>
#include <functional>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/tree_surgery.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/trace/trace.h>
#include <tunesmith/verification/choose_data.h>
#include <tunesmith/verification/reference.h>

#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

constexpr double kTolerance = 1e-5;

Program weighted(const std::string& exponential = "exp(X[i, j] - Max[i])",
                 const std::string& output = "sum(j<m) E[i, j] * V[j, c]") {
  return make_program("{n: 4, m: 10, d: 3}",
                      "{X: {shape: [n, m], dtype: f32}, V: {shape: [m, d], dtype: f32}}",
                      fmt::format("Max[i<n] = max(j<m) X[i, j]\n  E[i<n, j<m] = {}\n"
                                  "  Sum[i<n] = sum(j<m) E[i, j]\n  W[i<n, c<d] = {}\n"
                                  "  O[i<n, c<d] = W[i, c] / Sum[i]",
                                  exponential, output));
}

/// Both sums take `keys` columns of two rows at a time, in one loop that also computes the exponentials.
constexpr const char* kMerged = R"(
w = get_block("W")
i, c, j = get_loops(w)
i0, i1 = split(i, [2, 2])
j0, j1 = split(j, [None, KEYS])
reorder([i0, j0, i1, c, j1])
COPY
u = get_block("Sum")
ui, uj = get_loops(u)
rows, ui1 = split(ui, [2, 2])
uj0, uj1 = split(uj, [None, KEYS])
reorder([rows, uj0, ui1, uj1])
steps = merge([uj0, j0])
e = get_block("E")
compute_at(e, steps)
m = get_block("Max")
)";

Schedule applied(const Program& program, const std::string& text, int keys = 4,
                 const std::string& copy = "") {
  std::string filled = text;
  for (const auto& [word, meaning] :
       {std::pair<std::string, std::string>("KEYS", std::to_string(keys)), {"COPY", copy}}) {
    for (size_t at = filled.find(word); at != std::string::npos; at = filled.find(word))
      filled.replace(at, word.size(), meaning);
  }
  auto schedule = replay(program, Trace::parse(filled));
  if (!schedule.has_value()) throw schedule.error();
  return std::move(*schedule);
}

TEST(RollingUpdate, StepsThatDivideOrNot) {
  for (const int keys : {1, 4, 5, 9}) {
    const Program before = weighted();
    Schedule schedule = applied(before,
                                std::string(kMerged) +
                                    "p = rolling_update(m, steps)\n"
                                    "o = get_block(\"O\")\n"
                                    "reverse_compute_at(o, rows)\nparallel(rows)\n",
                                keys);
    expect_sound(before, schedule, kTolerance);
  }
}

TEST(RollingUpdate, PartialSumsAndCopiesOfTheExponentials) {
  const Program before = weighted("exp(X[i, j] - Max[i]) * 0.5",
                                  "sum(j<m) select(j < c + 4, E[i, j], 0) * V[j, c] / (abs(V[j, c]) + 1)");
  Schedule schedule = applied(before, std::string(kMerged) + "p = rolling_update(m, steps)\n", 4,
                              "copy = cache_read(w, 0, \"local\")\ncompute_at(copy, j0)");
  expect_sound(before, schedule, kTolerance);
}

/// The logarithm of a sum of exponentials: the sum itself reads the maximum.
TEST(RollingUpdate, TheReaderIsTheSum) {
  const Program before = make_program("{n: 4, m: 10}", "{X: {shape: [n, m], dtype: f32}}",
                                      "Max[i<n] = max(j<m) X[i, j]\n"
                                      "  O[i<n] = sum(j<m) exp(X[i, j] - Max[i])");
  Schedule schedule(before);
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("O"));
  const LoopRV steps = schedule.split(loops[1], {std::nullopt, IntArg(3)})[0];
  schedule.rolling_update(schedule.get_block("Max"), steps);
  expect_sound(before, schedule, kTolerance);
}

/// The first steps see nothing but minus infinity; what is masked stays 0.
TEST(RollingUpdate, RowsThatBeginWithMaskedElements) {
  const Program before =
      make_program("{n: 4, m: 10}", "{A: {shape: [n, m], dtype: f32}}",
                   "X[i<n, j<m] = select(j < 2*i + 1, -inf, A[i, j])\n  Max[i<n] = max(j<m) X[i, j]\n"
                   "  O[i<n] = sum(j<m) exp(X[i, j] - Max[i])");
  Schedule schedule(before);
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("O"));
  const LoopRV steps = schedule.split(loops[1], {std::nullopt, IntArg(2)})[0];
  schedule.rolling_update(schedule.get_block("Max"), steps);
  expect_sound(before, schedule, kTolerance);
}

/// The largest error of the output, in bounds of the reference of `before`, on the data of candidates.
double worst_error(const Program& before, const Program& after) {
  double worst = 0;
  for (const DataKind kind : kDataKinds) {
    const Program reference = reference_program(before, kind);
    const DrawnData data = choose_data(question_of(before, kind),
                                       [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
    std::vector<Tensor> arguments = data.inputs;
    arguments.push_back(Tensor::like(*before.outputs.front()));
    interpret(after, arguments);
    worst = std::max(worst, data.expected.front().compare(arguments.back().bytes.data()).worst);
  }
  return worst;
}

TEST(RollingUpdate, VerificationTellsItsMistakes) {
  const Program before = weighted();
  const Schedule right = applied(before, std::string(kMerged) + "p = rolling_update(m, steps)\n");
  EXPECT_LE(worst_error(before, right.program()), 1.0);
  const auto value_of = [](Program& program, const char* block) -> Expr& {
    return find_first<Store>(*program.find_block(block))->value;
  };
  const std::vector<std::function<void(Program&)>> mistakes = {
      [](Program& program) { take_out(*program.find_block("W_scale")); },
      [](Program& program) { take_out(*program.find_block("Sum_scale")); },
      [](Program& program) { take_out(*program.find_block("Max")); },
      [&](Program& program) {  // the maximum of an iteration for that so far
        value_of(program, "Max") = value_of(program, "Max").arg(1);
      },
      [&](Program& program) {  // the scale of a row that does not grow
        value_of(program, "Max_scale") = constant(1, kF32);
      },
      [&](Program& program) {  // the sum of the last iteration as divisor
        value_of(program, "Sum_scale") = constant(0, kF32);
      }};
  for (size_t i = 0; i < mistakes.size(); ++i) {
    Program wrong = right.program().clone();
    mistakes[i](wrong);
    EXPECT_GT(worst_error(before, wrong), 1.0) << "mistake " << i;
  }
}

/// What reads the maximum so far has its place.
TEST(RollingUpdate, BlocksStayInTheLoop) {
  Schedule schedule = applied(weighted(), std::string(kMerged) + "p = rolling_update(m, steps)\n");
  const BlockRV scale = schedule.get_block("Max_scale");
  const LoopRV steps = schedule.get_loops(scale)[1];
  expect_refused(schedule, "compute_inline", "the block has an opaque iterator",
                 [&] { schedule.compute_inline(scale); });
  expect_refused(schedule, "parallel", "a block below has opaque iterators",
                 [&] { schedule.parallel(steps); });
  const BlockRV e = schedule.get_block("E");
  const LoopRV inner = schedule.get_loops(schedule.get_block("W"))[2];
  expect_refused(schedule, "compute_at", "a consumer stands outside the loop",
                 [&] { schedule.compute_at(e, inner); });
  const BlockRV o = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_at", "the loop does not finish what the block reads",
                 [&] { schedule.reverse_compute_at(o, steps); });
}

void expect_rolling_refused(Schedule schedule, const char* reason, const char* under, size_t depth,
                            const char* block = "Max") {
  const BlockRV maximum = schedule.get_block(block);
  const LoopRV loop = schedule.get_loops(schedule.get_block(under))[depth];
  expect_refused(schedule, "rolling_update", reason, [&] { schedule.rolling_update(maximum, loop); });
}

TEST(RollingUpdate, RefusesOtherMaxima) {
  const Schedule plain(weighted());
  expect_rolling_refused(plain.clone(), "the block is not a maximum of floating values", "E", 1, "Sum");
  expect_rolling_refused(plain.clone(), "the reader of the maximum stands outside the loop", "W", 2);
  expect_rolling_refused(plain.clone(), "a block outside the loop reads what the maximum scales", "E", 1);
  expect_rolling_refused(Schedule(weighted("exp(X[i, j]) - Max[i]")),
                         "the reader does not subtract the maximum in an exponential", "E", 1);
  for (const char* other : {"exp(X[i, j] * 2 - Max[i])", "exp(V[j, 0] - Max[i])"})
    expect_rolling_refused(Schedule(weighted(other)),
                           "the maximum is not of what the reader subtracts it from", "E", 1);
  expect_rolling_refused(
      Schedule(weighted("exp(X[i, j] - Max[i])", "sum(j<m) exp(X[i, j] - Max[i]) * V[j, c]")),
      "the maximum has not one reader", "E", 1);
}

TEST(RollingUpdate, RefusesOtherSums) {
  const std::string exponential = "exp(X[i, j] - Max[i])";
  for (const char* sum : {"sum(j<m) (E[i, j] + 1) * V[j, c]", "sum(j<m) E[i, j] * E[i, j] * V[j, c]",
                          "max(j<m) E[i, j] * V[j, c]", "sum(j<m) V[j, c] / E[i, j]"})
    expect_rolling_refused(applied(weighted(exponential, sum), kMerged),
                           "a block does not depend on the exponentials in proportion", "E", 1);
  expect_rolling_refused(applied(weighted(), kMerged),
                         "a block outside the loop reads what the maximum scales", "E", 0);
  expect_rolling_refused(applied(weighted(), kMerged), "a loop further out carries the reduction", "E", 3);

  const std::string x = "X: {shape: [n, m], dtype: f32}";
  const std::string maxima = "Max[i<n] = max(j<m) X[i, j]\n  ";
  Schedule all(make_program("{n: 4, m: 6}", "{" + x + "}",
                            maxima + "E[i<n, j<m] = exp(X[i, j] - Max[i])\n"
                                     "  O[u<1] = sum(j<m, i<n) E[i, j]"));
  all.compute_at(all.get_block("E"), all.get_loops(all.get_block("O"))[1]);
  expect_rolling_refused(std::move(all), "a sum runs over several maxima", "E", 1);
  Schedule product(make_program("{n: 4, m: 6}", "{" + x + ", V: {shape: [m, 3], dtype: f32}}",
                                maxima + "O[i<n, c<3] = sum(j<m) exp(X[i, j] - Max[i]) * V[j, c]"));
  expect_rolling_refused(std::move(product),
                         "the loops around the reader do not run over the maximum's instances, each once",
                         "O", 2);
  Schedule softmax(
      make_program("{n: 4, m: 6}", "{" + x + "}", maxima + "O[i<n, j<m] = exp(X[i, j] - Max[i])"));
  expect_rolling_refused(std::move(softmax), "the block writes an output of the program", "O", 1);
}

/// The maxima of rows, and loops for the blocks that follow.
const std::string kMaxima = R"(  for i in 0..4:
    for j in 0..6:
      block Max(vi: spatial 4 = i, vj: reduction 6 = j):
        init:
          Max[vi] = -inf
        Max[vi] = max(Max[vi], X[vi, vj])
  for i in 0..4:
    for j in 0..6:
)";

/// Running sums are relative to the last maximum, not to that so far.
TEST(RollingUpdate, RefusesReadersOfUnfinishedSums) {
  const Program running = parse_program(R"(program p(X: f32[4, 6]) -> (O: f32[4, 6])
  intermediate Max: f32[4]
  intermediate Sum: f32[4]
)" + kMaxima + R"(      block Sum(vi: spatial 4 = i, vj: reduction 6 = j):
        init:
          Sum[vi] = 0.0
        Sum[vi] = Sum[vi] + exp(X[vi, vj] - Max[vi])
      block O(vi: spatial 4 = i, vj: spatial 6 = j):
        O[vi, vj] = Sum[vi]
)");
  expect_rolling_refused(Schedule(running), "a block in the loop reads a sum that the loop has not finished",
                         "O", 1);
}

/// Exponentials between two texts of blocks. Earlier iterations scale them by an earlier maximum.
Program merged_by_hand(const std::string& before, const std::string& after) {
  return parse_program(R"(program p(X: f32[4, 6]) -> (O: f32[4])
  intermediate Max: f32[4]
  intermediate E: f32[4, 6]
)" + kMaxima + before + R"(
      block E(vi: spatial 4 = i, vj: spatial 6 = j):
        E[vi, vj] = exp(X[vi, vj] - Max[vi])
)" + after);
}

TEST(RollingUpdate, RefusesReadersOfOtherIterations) {
  const auto sum = [](const char* value) {
    return fmt::format(R"(
      block O(vi: spatial 4 = i, vj: reduction 6 = j):
        init:
          O[vi] = 0.0
        O[vi] = O[vi] + {}
)",
                       value);
  };
  const std::string own = sum("E[vi, vj]"), last = sum("select(vj < 1, E[vi, 0], E[vi, vj - 1])");
  Schedule right(merged_by_hand("", own));
  right.rolling_update(right.get_block("Max"), right.get_loops(right.get_block("E"))[1]);
  expect_sound(merged_by_hand("", own), right, kTolerance);
  for (const Program& program : {merged_by_hand("", last), merged_by_hand(own, "")})
    expect_rolling_refused(Schedule(program), "a block reads what other iterations of the loop scale", "E",
                           1);
}

}  // namespace
}  // namespace tunesmith::test

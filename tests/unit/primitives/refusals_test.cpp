// Refusals that no primitive's own test has, and a check that none is forgotten.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tunesmith/ir/visit.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// The last instruction of the trace is refused for `reason`, the others are applied.
void expect_last_refused(const Program& program, const std::string& text, const char* reason) {
  const Trace trace = Trace::parse(text);
  Trace before;
  for (size_t i = 0; i + 1 < trace.size(); ++i) before.append(trace.shared(i));
  auto schedule = replay(program, before);
  ASSERT_TRUE(schedule.has_value()) << schedule.error().what();
  const Instruction& last = trace[trace.size() - 1];
  expect_refused(*schedule, last.kind->name(), reason, [&] { schedule->execute(*last.kind, last.args); });
}

Program chain() {
  return make_program("{n: 8}", "{A: {shape: [n], dtype: f32}}", "B[i<n] = A[i] + 1\n  O[i<n] = B[i] * 2");
}

const char* const kTiledO =
    "b = get_block(\"B\")\no = get_block(\"O\")\ni = get_loops(o)\ni0, i1 = split(i, [2, 4])\n";
const char* const kBlockedB =
    "b = get_block(\"B\")\ni = get_loops(b)\ni0, i1 = split(i, [2, 4])\nt = blockize(i1)\n";

TEST(Refusals, BlocksInsideBlocks) {
  expect_last_refused(chain(), std::string(kBlockedB) + "p, q = loop_partition(i0, [1])",
                      "a block below holds other blocks");
  expect_last_refused(chain(), std::string(kBlockedB) + "c = cache_write(b, 0, \"local\")",
                      "the buffer is used outside the scope of the block");
  expect_last_refused(chain(), std::string(kBlockedB) + "c = cache_read(b, 0, \"local\")\ncompute_inline(t)",
                      "the block does not write exactly one buffer");
  expect_last_refused(chain(), std::string(kBlockedB) + "compute_inline(t)",
                      "the body of the block is not one store");
  expect_last_refused(chain(), std::string(kBlockedB) + "o = get_block(\"O\")\nreverse_compute_inline(o)",
                      "the body of the producer is not one store");
  expect_last_refused(chain(), std::string(kBlockedB) + "c = reindex(t, \"read\", 0)",
                      "the access depends on more than the block's iterators");
  expect_last_refused(chain(), std::string(kTiledO) + "t = blockize(i1)\ncompute_at(b, i1)",
                      "the loop stands in another scope than the block");
}

TEST(Refusals, WhereInputsAre) {
  expect_last_refused(
      make_program("{n: 8}", "{A: {shape: [n], dtype: f32}}",
                   "B[i<n] = A[i] + 1\n  D[i<n] = A[i] * 2\n  O[i<n] = B[i] + D[i]"),
      "b = get_block(\"B\")\no = get_block(\"O\")\ni = get_loops(b)\nreverse_compute_at(o, i)",
      "an input of the block is written after the place");
  const std::string inputs = "{A: {shape: [4, 6], dtype: f32}}";
  expect_last_refused(make_program("{n: 1}", inputs,
                                   "S[i<6] = sum(k<4) A[k, i]\n  B[k<4, i<6] = A[k, i] * 2\n"
                                   "  O[k<4, i<6] = B[k, i] + S[i]"),
                      "s = get_block(\"S\")\nb = get_block(\"B\")\ni, k = get_loops(s)\nreorder([k, i])\n"
                      "bk, bi = get_loops(b)\nm = merge([k, bk])\no = get_block(\"O\")\n"
                      "reverse_compute_at(o, bi)",
                      "an input of the block is not finished at the loop");
  expect_last_refused(make_program("{n: 1}", inputs,
                                   "P[k<4, i<6] = A[k, i] + 1\n  B[k<4, i<6] = A[k, i] * 2\n"
                                   "  O[k<4, i<6] = B[k, i] + P[3 - k, i]"),
                      "p = get_block(\"P\")\nb = get_block(\"B\")\nk, i = get_loops(p)\n"
                      "bk, bi = get_loops(b)\nm = merge([k, bk])\no = get_block(\"O\")\n"
                      "reverse_compute_at(o, bi)",
                      "an iteration of a loop around does not write all that the block reads there");
}

TEST(Refusals, OfReverseComputeAt) {
  const std::string inputs = "{A: {shape: [12], dtype: f32}}";
  expect_last_refused(
      make_program("{n: 8}", inputs,
                   "P[i<n + 2] = A[i] + 1\n  O1[i<n] = P[i] + P[i + 2]\n  D[i<n] = P[i + 1] * 3\n"
                   "  O[i<n] = O1[i] + D[i]"),
      "p = get_block(\"P\")\no = get_block(\"O1\")\nd = get_block(\"D\")\ni = get_loops(o)\nj = "
      "get_loops(d)\n"
      "i0, i1 = split(i, [2, 4])\nj0, j1 = split(j, [2, 4])\nm = merge([i0, j0])\ncompute_at(p, m)\n"
      "parallel(m)\nreverse_compute_at(d, m)",
      "iterations of the block would run more than once");
  expect_last_refused(
      make_program("{n: 3}", "{A: {shape: [n, n], dtype: f32}}",
                   "B[i<n, j<n] = A[i, j] + 1\n  D[i<n, j<n] = B[i, j] * 2\n  O[i<n, j<n] = D[i, j] + 3"),
      "b = get_block(\"B\")\nd = get_block(\"D\")\no = get_block(\"O\")\ni, j = get_loops(b)\n"
      "di, dj = get_loops(d)\noi, oj = get_loops(o)\nm = merge([j, dj, oj])\nreverse_compute_at(d, i)",
      "a consumer of the block would stand before it");
}

TEST(Refusals, OpaqueIterators) {
  const Program program = make_program("{n: 8}", "{A: {shape: [n + 2], dtype: f32}}",
                                       "B[i<n + 2] = A[i] + 1\n  O[i<n] = B[i] + B[i + 2]");
  const std::string rolled = std::string(kTiledO) + "compute_at(b, i0)\nrolling_buffer(b, 0)\n";
  expect_last_refused(program, rolled + "rolling_buffer(b, 0)", "the block has an opaque iterator");
  expect_last_refused(program, rolled + "c = cache_write(b, 0, \"local\")",
                      "the block has an opaque iterator");
}

/// Programs that no workload gives, but a caller of the library can make.
class HandWritten : public ::testing::Test {
 protected:
  void expect(const char* name, const char* primitive, const char* reason, auto call) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block(name);
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    expect_refused(schedule, primitive, reason, [&] { call(schedule, block, loops); });
  }
  Block& block(const char* name) { return *program.find_block(name); }
  Buffer buffer(const std::string& name) {
    for (const Buffer& one : program.buffers()) {
      if (one->name == name) return one;
    }
    return nullptr;
  }
  void set_store(const char* name, const Expr& index, const Expr& value) {
    block(name).set_body(std::make_unique<Store>(buffer(name), std::vector<Expr>{index}, value));
  }

  using Loops = std::vector<LoopRV>;
  Program program = chain();
};

TEST_F(HandWritten, NoConsumer) {
  program.intermediates.push_back(buffer("O"));
  program.outputs.clear();
  expect("O", "compute_at", "the block has no consumer",
         [](Schedule& s, BlockRV b, const Loops& loops) { s.compute_at(b, loops[0]); });
}

TEST_F(HandWritten, ReadsWhatItWrites) {
  set_store("B", block("B").iters[0].var, load(buffer("B"), {Expr(0)}) + constant(1, kF32));
  expect("B", "compute_inline", "the block reads what it writes",
         [](Schedule& s, BlockRV b, const Loops&) { s.compute_inline(b); });
}

TEST_F(HandWritten, WritesAnElementTwice) {
  const Expr half = floordiv(block("O").iters[0].var, 2);
  set_store("O", half, load(buffer("B"), {half}));
  expect("O", "reindex", "different iterations write the same element",
         [](Schedule& s, BlockRV b, const Loops&) { s.reindex(b, "write", 0); });
}

TEST_F(HandWritten, ReadsAnotherIterationsElement) {
  program = make_program("{n: 8}", "{A: {shape: [n + 2], dtype: f32}}",
                         "B[i<n + 2] = A[i] + 1\n  O[i<n] = B[i] + B[i + 2]");
  Schedule schedule(program);
  schedule.compute_at(schedule.get_block("B"), schedule.get_loops(schedule.get_block("O"))[0]);
  program = schedule.program().clone();
  const Expr at = block("O").iters[0].var;
  set_store("O", at, load(buffer("B"), {at}) + load(buffer("B"), {Expr(0)}));
  expect("B", "rolling_buffer", "a consumer reads more than an iteration of the loop writes",
         [](Schedule& s, BlockRV b, const Loops&) { s.rolling_buffer(b, 0); });
}

TEST_F(HandWritten, ProducersUnderDifferentConditions) {
  program = make_program("{n: 8}", "{A: {shape: [n], dtype: f32}}",
                         "P[i<n] = A[i] + 1\n  Q[i<n] = A[i] * 2\n  O[i<n] = Q[i] + P[i]");
  Schedule schedule(program);
  const LoopRV p = schedule.get_loops(schedule.get_block("P"))[0];
  schedule.merge({p, schedule.get_loops(schedule.get_block("Q"))[0]});
  program = schedule.program().clone();
  block("P").predicate = lt(block("P").bindings[0], 5);
  Schedule conditional(program);
  const LoopRV loop = conditional.get_loops(conditional.get_block("P"))[0];
  const BlockRV o = conditional.get_block("O");
  expect_refused(conditional, "reverse_compute_at", "producers of the block run under different conditions",
                 [&] { conditional.reverse_compute_at(o, loop); });
}

TEST_F(HandWritten, PaddingWithoutAnInside) {
  const Expr at = block("B").iters[0].var;
  set_store("B", at, select(lt(at, -3), load(buffer("A"), {at}), constant(0, kF32)));
  expect("B", "decompose_padding", "the block copies nothing",
         [](Schedule& s, BlockRV b, const Loops& loops) { s.decompose_padding(b, loops[0]); });
}

TEST_F(HandWritten, TwoIteratorsOfOneLoop) {
  program = make_chain(4, 4);
  block("B").bindings[1] = block("B").bindings[0];
  expect("B", "blockize", "the loops inside do not run over each element of a tile once",
         [](Schedule& s, BlockRV, const Loops& loops) { s.blockize(loops[0]); });
}

TEST_F(HandWritten, Reductions) {
  program = make_gmm(4, 5, 6);
  block("C").take_init();
  expect("C", "cache_write", "the block accumulates into a buffer that it does not initialise",
         [](Schedule& s, BlockRV b, const Loops&) { s.cache_write(b, 0, "local"); });

  program = make_gmm(4, 5, 6);
  block("C").predicate = lt(block("C").bindings[0] + block("C").bindings[2], 7);
  expect("C", "decompose_reduction", "a condition of the block binds spatial and reduction loops together",
         [](Schedule& s, BlockRV b, const Loops& loops) { s.decompose_reduction(b, loops[0]); });
  expect("C", "pad_einsum", "the block has a condition",
         [](Schedule& s, BlockRV b, const Loops&) { s.pad_einsum(b, {3, 1, 1}); });

  program = make_gmm(4, 5, 6);
  const auto column = [&](Stmt* stmt) {
    Store& store = *stmt->as<Store>();
    store.indices[1] = 0;
    store.value = rewrite_expr(store.value, [&](const Expr& part) {
      const LoadNode* old = part.as<LoadNode>();
      return old != nullptr && old->buffer == store.buffer ? load(store.buffer, store.indices) : part;
    });
  };
  column(block("C").init());
  column(block("C").body());
  expect("C", "pad_einsum", "a padded iterator does not index what the block writes",
         [](Schedule& s, BlockRV b, const Loops&) { s.pad_einsum(b, {1, 3, 1}); });
}

std::string text_of_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TUNESMITH_SOURCE_DIR + folder)) {
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::ostringstream text;
  for (const auto& file : files) text << std::ifstream(file).rdbuf();
  // Joins literals that continue in the next line.
  return std::regex_replace(text.str(), std::regex("\"\\s*\\n\\s*\""), "");
}

TEST(Refusals, EveryReasonIsRaisedByATest) {
  std::string tests, sources;
  for (const char* folder : {"primitives", "sampling", "trace"})
    tests += text_of_files(std::string("/tests/unit/") + folder);
  for (const char* folder :
       {"analysis", "intrinsics", "primitives", "primitives/shared", "sampling", "trace"})
    sources += text_of_files(std::string("/core/compiler/") + folder);
  const std::regex reason(
      "(?:Refusal\\{\\s*|refuse\\(\\s*|ScheduleError\\(\\s*[\\w\"]+,\\s*)\"([^\"]* [^\"]* [^\"]*)\"");
  size_t found = 0;
  for (auto at = std::sregex_iterator(sources.begin(), sources.end(), reason); at != std::sregex_iterator();
       ++at) {
    ++found;
    EXPECT_NE(tests.find("\"" + (*at)[1].str() + "\""), std::string::npos) << (*at)[1].str();
  }
  EXPECT_GT(found, 100U);
}

}  // namespace
}  // namespace tunesmith::test

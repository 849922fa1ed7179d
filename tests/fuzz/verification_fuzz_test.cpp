// Random instructions on random workloads in every floating type, compiled: a correct program is within the
// bounds by which candidates are verified. The environment makes longer runs, as for schedule_fuzz_test.cpp.
#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/support/error.h>
#include <tunesmith/verification/interpreter.h>

#include "extended.h"
#include "lowered_program.h"
#include "random_scheduler.h"
#include "random_workload.h"
#include "trace_check.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith::fuzz {
namespace {

constexpr uint64_t kSteps = 16;
constexpr int64_t kMaxInstances = 5000;
constexpr std::array<DType, 4> kTypes{kF32, kF16, kBF16, kF64};

/// `program` with `type` for f64.
Program retyped(const Program& program, DType type) {
  Program result = program.clone();
  std::unordered_map<const BufferNode*, Buffer> twins;
  const auto other = [&](DType from) { return from == kF64 ? type : from; };
  for (const Buffer& buffer : program.buffers())
    twins[buffer.get()] = make_buffer(buffer->name, other(buffer->dtype), buffer->shape);
  const std::function<Expr(const Expr&)> rewrite = [&](const Expr& expr) -> Expr {
    if (const FloatImm* number = expr.as<FloatImm>()) return float_imm(number->value, other(number->dtype));
    std::vector<Expr> args;
    for (const Expr& arg : expr.args()) args.push_back(rewrite(arg));
    if (const LoadNode* access = expr.as<LoadNode>())
      return load(twins.at(access->buffer.get()), std::move(args));
    if (args.empty()) return expr;
    return expr.is(ExprKind::Cast) ? cast(other(expr.dtype()), args[0]) : with_args(expr, std::move(args));
  };
  for (Store* store : collect<Store>(result.root()))
    replace(*store,
            std::make_unique<Store>(twins.at(store->buffer.get()), store->indices, rewrite(store->value)));
  for (std::vector<Buffer>* list : {&result.inputs, &result.outputs, &result.intermediates}) {
    for (Buffer& buffer : *list) buffer = twins.at(buffer.get());
  }
  return result;
}

/// Every draw of a set on which candidates are verified.
std::vector<DrawnData> draws_of(const Program& program, DataKind kind) {
  const DataQuestion question = question_of(program, kind);
  const Program reference = reference_program(program, kind);
  const RunReference run = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
  std::vector<DrawnData> draws;
  draws.push_back(choose_data(question, run));
  if (draws.front().fill.draws == 1) return draws;
  std::vector<DrawnData> all = draw_all(question, draws.front().fill, run);
  return all.empty() ? std::move(draws) : std::move(all);
}

class VerificationCheck {
 public:
  std::string operator()(const Program& program, const Trace& trace) {
    try {
      const auto schedule = replay(program, trace);
      if (!schedule.has_value()) return "";
      const auto is_bound = [](const Loop& loop) { return loop.loop_kind == LoopKind::Bound; };
      if (find_first<Loop>(schedule->program().root(), is_bound))
        return "";  // a processor has no thread axes
      const LoweredProgram lowered = lower(schedule->program(), target_->lower_options());
      for (const DataKind kind : kDataKinds) {
        for (DrawnData& data : draws_of(program, kind)) {
          with_edges_ += data.fill.edges == Edges() ? 0 : 1;
          const std::string fault = fault_on(program, lowered, data);
          if (!fault.empty()) return fault;
        }
      }
      ++accepted_;
      return "";
    } catch (const LowerError&) {
      return "";  // a program that the target refuses is not wrong
    } catch (const UserError&) {
      ++unverifiable_;
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  uint64_t accepted() const { return accepted_; }
  uint64_t with_edges() const { return with_edges_; }
  uint64_t unverifiable() const { return unverifiable_; }

 private:
  std::string fault_on(const Program& program, const LoweredProgram& lowered, DrawnData& data) {
    std::vector<Tensor> arguments = std::move(data.inputs);
    const size_t inputs = arguments.size();
    for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
    const std::vector<Tensor> given = testing::run_guarded(*target_, lowered, arguments);
    for (size_t i = 0; i < data.expected.size(); ++i) {
      const OutputDifference comparison = data.expected[i].compare(given[inputs + i].bytes.data());
      if (comparison.worst > 1.0) {
        return fmt::format("{:.3g} times the bound: {} ({})", comparison.worst, comparison.message,
                           data.fill.text());
      }
    }
    return "";
  }

  std::unique_ptr<llvm_target::LlvmTarget> target_ = testing::make_target();
  uint64_t with_edges_ = 0;  // draws
  uint64_t accepted_ = 0;
  uint64_t unverifiable_ = 0;
};

TEST(VerificationFuzz, RightProgramsAreWithinTheirBounds) {
  const uint64_t seed = from_environment("TUNESMITH_FUZZ_SEED", 1);
  const uint64_t pairs = from_environment("TUNESMITH_FUZZ_PAIRS", test::usual_or_extended(60, 300));
  const uint64_t first = from_environment("TUNESMITH_FUZZ_FIRST", 0);
  ASSERT_FALSE(test_intrinsics().empty());
  VerificationCheck check;
  Coverage coverage;
  for (uint64_t i = first; i < first + pairs; ++i) {
    RandomStream random(seed, i);
    const RandomWorkload made = random_workload(random);
    const Program program = retyped(made.workload.program, kTypes[i % kTypes.size()]);
    RandomScheduler scheduler(program, random);
    const uint64_t steps = 1 + random.below(kSteps);
    for (uint64_t s = 0; s < steps && scheduler.instances() < kMaxInstances; ++s)
      ASSERT_EQ(scheduler.step(coverage), "");
    if (scheduler.instances() >= kMaxInstances) continue;
    const Trace& trace = scheduler.schedule().trace();
    if (check(program, trace).empty()) continue;
    const Trace small = shrink(program, trace, std::ref(check));
    ADD_FAILURE() << fmt::format("TUNESMITH_FUZZ_SEED={} pair {}, workload {}\n{}\n{}\ntrace:\n{}", seed, i,
                                 made.text, check(program, small), to_string(program), small.str());
  }
  fmt::print("{} accepted, {} that no data verify, {} draws with edges\n", check.accepted(),
             check.unverifiable(), check.with_edges());
  EXPECT_GT(check.accepted(), pairs / 2);
  EXPECT_LT(check.unverifiable(), pairs / 10);
}

}  // namespace
}  // namespace tunesmith::fuzz

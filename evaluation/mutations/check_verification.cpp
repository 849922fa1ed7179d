#include "tunesmith/evaluation/check_verification.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "tunesmith/lower/lower.h"
#include "tunesmith/support/error.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/denormals_show.h"
#include "tunesmith/verification/mutate.h"
#include "tunesmith/verification/unwritten_register.h"

namespace tunesmith {
namespace {

/// The growth limit of a buffer in double precision, which only serves to decide whether a mutant computes
/// the same.
constexpr int64_t kWidest = 8;
constexpr const char* kMutantSymbol = "tunesmith_mutant";

/// Does the workload's data have values that this mistake affects?
bool exercises(const VerificationTally& tally, Mutation mutation) {
  const auto left_out = [&](std::string_view what) {
    return std::ranges::any_of(tally.not_exercised,
                               [&](const std::string& text) { return text.starts_with(what); });
  };
  if (mutation == Mutation::DenormalsFlushed) return !left_out("denormals");
  if (mutation == Mutation::ExtremeSwapped) return !left_out("NaN") && !left_out("infinities and NaN");
  return true;
}

/// One task's own program and the same in f64.
class MutantCheck {
 public:
  MutantCheck(const Workload& workload, Space& space, const WorkerTarget& worker_target, MachineLock& machine,
              const VerificationCheckOptions& options, const std::function<void(const std::string&)>& tell)
      : space_(space), worker_target_(worker_target), machine_(machine), options_(options), tell_(tell) {
    narrow_ = task_of(workload.program.clone(), workload);
    wide_ = task_of(in_double_precision(workload.program), workload);
  }

  VerificationTally run() {
    VerificationTally tally;
    check_program(narrow_.workload.program, "unscheduled", tally);
    const SketchSet set = space_.generate(narrow_.workload.program);
    for (int i = 0; i < options_.programs && !set.sketches.empty(); ++i) {
      RandomStream random(options_.seed, static_cast<uint64_t>(i));
      const size_t sketch = random.below(set.sketches.size());
      const auto candidate = space_.materialise(narrow_.workload.program,
                                                set.sketches[sketch].trace().with_open_decisions(), random);
      if (!candidate) continue;
      const auto schedule = replay(narrow_.workload.program, (*candidate)->trace, RandomStream(0), nullptr,
                                   space_.intrinsics());
      if (schedule) check_program(schedule->program(), fmt::format("program {}", i), tally);
    }
    return tally;
  }

 private:
  struct Task {
    Workload workload;
    std::unique_ptr<Runner> runner;
  };

  static Task task_of(Program program, const Workload& like) {
    Task task;
    task.workload.program = std::move(program);
    task.workload.name = like.name;
    task.workload.key = like.key;
    task.workload.flops = like.flops;
    return task;
  }

  /// The program's result; nothing if it does not lower or compile.
  std::optional<MeasureResult> verify(Task& task, const Program& program) {
    // Nothing is timed here, so it may run beside other computing processes, but not beside measuring ones.
    const MachineLock::Turn turn = machine_.wait(MachineLock::Use::Compute);
    std::optional<CompiledKernel> kernel;
    try {
      LowerOptions options = space_.target().lower_options();
      if (&task == &wide_) options.max_stack_bytes *= kWidest;
      auto compiled = space_.target().compile(lower(program, options), kMutantSymbol);
      if (compiled) kernel = std::move(*compiled);
    } catch (const UserError&) {
      throw;
    } catch (const EnvironmentError&) {
      throw;
    } catch (const Error&) {
      return std::nullopt;  // lowering may refuse a mutant
    }
    if (!kernel) return std::nullopt;
    if (!task.runner) {
      task.runner = make_worker_runner(task.workload, space_.target(), worker_target_, options_.measure);
    }
    const MeasureRequest request{&*kernel, 0.0};
    return task.runner->run({&request, 1}).front();
  }

  void check_program(const Program& program, const std::string& name, VerificationTally& tally) {
    const std::optional<MeasureResult> right = verify(narrow_, program);
    if (!right) return;
    ++tally.right;
    if (right->failure) {
      ++tally.right_refused;
      tell_(fmt::format("REFUSED a correct program: {} of {}: {}", name, narrow_.workload.key,
                        right->failure->message));
      return;
    }
    tally.not_exercised = narrow_.runner->not_exercised();
    for (size_t kind = 0; kind < kMutations; ++kind) {
      if (!exercises(tally, static_cast<Mutation>(kind))) continue;
      for (int site = 0; site < options_.sites; ++site) {
        check_mutation(program, name, static_cast<Mutation>(kind), static_cast<uint64_t>(site), tally);
      }
    }
  }

  void check_mutation(const Program& program, const std::string& name, Mutation mutation, uint64_t site,
                      VerificationTally& tally) {
    const std::optional<Program> mutant = mutate(program, mutation, site);
    if (!mutant) return;
    const std::optional<MeasureResult> result = verify(narrow_, *mutant);
    const std::string kind(mutation_name(mutation));
    if (!result) {
      ++tally.not_compiled;
    } else if (result->failure) {
      ++tally.wrong;
      ++tally.kinds[kind];
    } else if (mutation == Mutation::DenormalsFlushed && !denormals_show(program, *mutant)) {
      ++tally.hidden;
    } else if (!is_rounding_only(mutation) && same_in_double_precision(*mutant)) {
      ++tally.equivalent;
    } else if (reads_unwritten_register(*mutant, space_.target().lower_options())) {
      ++tally.undefined;
    } else {
      ++tally.wrong;
      ++tally.accepted;
      ++tally.kinds[kind];
      tell_(fmt::format("ACCEPTED a wrong program: {} (place {}) of {} of {}, {:.3g} of what is allowed",
                        kind, site, name, narrow_.workload.key, result->verified_error));
    }
  }

  bool same_in_double_precision(const Program& mutant) {
    const std::optional<MeasureResult> result = verify(wide_, in_double_precision(mutant));
    return result && !result->failure;
  }

  Space& space_;
  const WorkerTarget worker_target_;
  MachineLock& machine_;
  const VerificationCheckOptions& options_;
  const std::function<void(const std::string&)>& tell_;
  Task narrow_;
  Task wide_;
};

}  // namespace

void VerificationTally::add(const VerificationTally& other) {
  right += other.right;
  right_refused += other.right_refused;
  wrong += other.wrong;
  accepted += other.accepted;
  equivalent += other.equivalent;
  not_compiled += other.not_compiled;
  hidden += other.hidden;
  undefined += other.undefined;
  for (const auto& [kind, count] : other.kinds) kinds[kind] += count;
}

VerificationTally check_verification(const Workload& workload, Space& space, const WorkerTarget& worker,
                                     MachineLock& machine, const VerificationCheckOptions& options,
                                     const std::function<void(const std::string&)>& tell) {
  return MutantCheck(workload, space, worker, machine, options, tell).run();
}

}  // namespace tunesmith

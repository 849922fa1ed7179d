#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/lower/lower.h>
#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/support/error.h>

#include "commands.h"
#include "denormals_show.h"
#include "exit_codes.h"
#include "mutate.h"
#include "output.h"
#include "unwritten_register.h"

namespace tunesmith::cli {
namespace {

/// What a buffer may grow by in double precision, which decides nothing but whether a mutant computes the
/// same.
constexpr int64_t kWidest = 8;
constexpr const char* kSymbol = "tunesmith_mutant";

/// What became of the programs of one workload, or of all.
struct Tally {
  int right = 0;                           // right programs
  int right_refused = 0;                   // right programs that were not accepted
  int wrong = 0;                           // mutants that compute something else
  int accepted = 0;                        // those of them that were accepted
  int equivalent = 0;                      // mutants that compute the same
  int refused = 0;                         // mutants that do not lower or compile
  int hidden = 0;                          // accepted: no denormal of one input shows
  int undefined = 0;                       // accepted: the compiler chose the right value of a register
  std::map<std::string, int> kinds;        // wrong programs by mutation
  std::vector<std::string> not_exercised;  // of one workload

  /// Does the workload meet the values that this mistake is about?
  bool exercises(Mutation mutation) const {
    const auto left_out = [&](std::string_view what) {
      return std::ranges::any_of(not_exercised,
                                 [&](const std::string& text) { return text.starts_with(what); });
    };
    if (mutation == Mutation::DenormalsFlushed) return !left_out("denormals");
    if (mutation == Mutation::ExtremeSwapped) return !left_out("NaN") && !left_out("infinities and NaN");
    return true;
  }

  void add(const Tally& other) {
    right += other.right;
    right_refused += other.right_refused;
    wrong += other.wrong;
    accepted += other.accepted;
    equivalent += other.equivalent;
    refused += other.refused;
    hidden += other.hidden;
    undefined += other.undefined;
    for (const auto& [kind, count] : other.kinds) kinds[kind] += count;
  }
};

nlohmann::json to_json(const Tally& tally) {
  return {{"right", tally.right},
          {"right_refused", tally.right_refused},
          {"wrong", tally.wrong},
          {"accepted", tally.accepted},
          {"equivalent", tally.equivalent},
          {"not_compiled", tally.refused},
          {"hidden_denormals", tally.hidden},
          {"unwritten_registers", tally.undefined},
          {"kinds", tally.kinds}};
}

/// What was planted and cannot show.
std::string hidden_text(int places) {
  return fmt::format("not exercised: denormals taken for zero at {} places, where rounding hides them",
                     places);
}

/// Compiled programs that are right by the compiler's choice.
std::string undefined_text(int places) {
  return fmt::format(
      "not exercised: unwritten registers at {} places, where the compiler chose what is right", places);
}

std::string to_text(const Tally& tally) {
  return fmt::format(
      "{} wrong programs, {} accepted; {} equivalent, {} not compiled; {} right ones, {} refused",
      tally.wrong, tally.accepted, tally.equivalent, tally.refused, tally.right, tally.right_refused);
}

/// One task's own program and the same in f64.
class Check {
 public:
  /// `machine` is waited for before each program.
  Check(const Workload& workload, Space& space, const WorkerTarget& worker_target,
        const MeasureOptions& options, MachineLock& machine)
      : space_(space), worker_target_(worker_target), options_(options), machine_(machine) {
    narrow_ = task_of(workload.program.clone(), workload);
    wide_ = task_of(in_double_precision(workload.program), workload);
  }

  Tally run(const CheckVerificationArguments& arguments) {
    Tally tally;
    check_program(narrow_.workload.program, "unscheduled", arguments.sites, tally);
    const SketchSet set = space_.generate(narrow_.workload.program);
    for (int i = 0; i < arguments.programs && !set.sketches.empty(); ++i) {
      RandomStream random(arguments.seed, static_cast<uint64_t>(i));
      const size_t sketch = random.below(set.sketches.size());
      const auto candidate = space_.materialise(narrow_.workload.program,
                                                set.sketches[sketch].trace().with_open_decisions(), random);
      if (!candidate) continue;
      const auto schedule = replay(narrow_.workload.program, (*candidate)->trace, RandomStream(0), nullptr,
                                   space_.intrinsics());
      if (schedule) check_program(schedule->program(), fmt::format("program {}", i), arguments.sites, tally);
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

  /// What happened to it; nothing when it does not lower or compile.
  std::optional<MeasureResult> verify(Task& task, const Program& program) {
    // Nothing is timed here, so it may continue beside others that compute, and not beside who measures.
    const MachineLock::Turn turn = machine_.wait(MachineLock::Use::Compute);
    std::optional<CompiledKernel> kernel;
    try {
      LowerOptions options = space_.target().lower_options();
      if (&task == &wide_) options.max_stack_bytes *= kWidest;
      auto compiled = space_.target().compile(lower(program, options), kSymbol);
      if (compiled) kernel = std::move(*compiled);
    } catch (const UserError&) {
      throw;
    } catch (const EnvironmentError&) {
      throw;
    } catch (const Error&) {
      return std::nullopt;  // a mutation may leave what lowering rightly does not take
    }
    if (!kernel) return std::nullopt;
    if (!task.runner) {
      task.runner = make_worker_runner(task.workload, space_.target(), worker_target_, options_);
    }
    const MeasureRequest request{&*kernel, 0.0};
    return task.runner->run({&request, 1}).front();
  }

  void check_program(const Program& program, const std::string& name, int sites, Tally& tally) {
    const std::optional<MeasureResult> right = verify(narrow_, program);
    if (!right) return;
    ++tally.right;
    if (right->failure) {
      ++tally.right_refused;
      fmt::print(stderr, "  REFUSED, and right: {} of {}: {}\n", name, narrow_.workload.key,
                 right->failure->message);
      return;
    }
    tally.not_exercised = narrow_.runner->not_exercised();
    for (size_t kind = 0; kind < kMutations; ++kind) {
      if (!tally.exercises(static_cast<Mutation>(kind))) continue;
      for (int site = 0; site < sites; ++site) {
        check_mutation(program, name, static_cast<Mutation>(kind), static_cast<uint64_t>(site), tally);
      }
    }
  }

  void check_mutation(const Program& program, const std::string& name, Mutation mutation, uint64_t site,
                      Tally& tally) {
    const std::optional<Program> mutant = mutate(program, mutation, site);
    if (!mutant) return;
    const std::optional<MeasureResult> result = verify(narrow_, *mutant);
    const std::string kind(mutation_name(mutation));
    if (!result) {
      ++tally.refused;
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
      fmt::print(stderr, "  ACCEPTED, and wrong: {} (place {}) of {} of {}, {:.3g} of what is allowed\n",
                 kind, site, name, narrow_.workload.key, result->verified_error);
    }
  }

  bool same_in_double_precision(const Program& mutant) {
    const std::optional<MeasureResult> result = verify(wide_, in_double_precision(mutant));
    return result && !result->failure;
  }

  Space& space_;
  WorkerTarget worker_target_;
  MeasureOptions options_;
  MachineLock& machine_;
  Task narrow_;
  Task wide_;
};

/// What was looked at, and what became of it.
std::string total_text(const Tally& all, size_t checked, size_t refused) {
  return fmt::format("total: {} kinds of mistakes in {} workloads ({} more refused): {}", all.kinds.size(),
                     checked, refused, to_text(all));
}

/// `text` with each of `types`, where it has a parameter dtype and says none itself.
std::vector<std::string> in_types(const std::string& text, const std::vector<std::string>& types) {
  if (types.empty() || text.find("dtype=") != std::string::npos) return {text};
  const Workload workload = WorkloadLibrary().load(text);
  const bool has_type = std::any_of(workload.params.begin(), workload.params.end(),
                                    [](const WorkloadParam& param) { return param.name == "dtype"; });
  if (!has_type) return {text};
  std::vector<std::string> texts;
  for (const std::string& type : types)
    texts.push_back(fmt::format("{}{}dtype={}", text, text.find(':') == std::string::npos ? ':' : ',', type));
  return texts;
}

/// Those asked for, or of all suites, in all types.
std::vector<std::string> wanted_workloads(const CheckVerificationArguments& arguments) {
  std::vector<std::string> texts = arguments.workloads;
  if (texts.empty()) {
    for (const WorkloadSuite& row : WorkloadLibrary().suites())
      texts.insert(texts.end(), row.workloads.begin(), row.workloads.end());
  }
  std::vector<std::string> every;
  for (const std::string& text : texts) {
    for (std::string& typed : in_types(text, arguments.types)) every.push_back(std::move(typed));
  }
  return every;
}

MeasureOptions one_call(const CheckVerificationArguments& arguments) {
  MeasureOptions options;
  options.threads = arguments.threads;
  options.time_out_seconds = arguments.candidate_time_out;
  options.min_repeats = options.max_repeats = 1;
  options.min_total_seconds = 0.0;
  return options;
}

}  // namespace

int run_workloads_check_verification(const Common& common, const CheckVerificationArguments& arguments) {
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const MeasureOptions options = one_call(arguments);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::shared_ptr<MachineLock> machine = machine_lock();
  Tally all;
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::string> every = wanted_workloads(arguments);
  size_t refused = 0;
  size_t done = 0;
  for (const std::string& typed : every) {
    if (arguments.time_limit > 0 && seconds() > arguments.time_limit) break;
    ++done;
    if (!common.quiet) fmt::print(stderr, "[{} of {}, {:.0f} s] {}\n", done, every.size(), seconds(), typed);
    const Workload workload = WorkloadLibrary().load(typed);
    Tally tally;
    try {
      tally = Check(workload, *space, session.worker_target(), options, *machine).run(arguments);
    } catch (const UserError& refusal) {
      // Nothing of it is ever accepted.
      ++refused;
      rows.push_back({{"workload", workload.key}, {"refused", refusal.what()}});
      if (!common.json) fmt::print(output(), "{}: {}\n", typed, refusal.what());
      continue;
    }
    all.add(tally);
    nlohmann::json row = to_json(tally);
    row["workload"] = workload.key;
    row["not_exercised"] = tally.not_exercised;
    rows.push_back(std::move(row));
    if (!common.json) {
      fmt::print(output(), "{}: {}\n", typed, to_text(tally));
      for (const std::string& left : tally.not_exercised)
        fmt::print(output(), "  not verified on {}\n", left);
      if (tally.hidden > 0) fmt::print(output(), "  {}\n", hidden_text(tally.hidden));
      if (tally.undefined > 0) fmt::print(output(), "  {}\n", undefined_text(tally.undefined));
    }
    std::fflush(output());
  }
  const size_t left = every.size() - done;
  if (common.json) {
    nlohmann::json result = to_json(all);
    result["workloads"] = rows;
    result["left_out"] = left;
    fmt::print(output(), "{}\n", result.dump());
  } else {
    fmt::print(output(), "\n{}\n", total_text(all, done - refused, refused));
    for (const auto& [kind, count] : all.kinds) fmt::print(output(), "{:6} {}\n", count, kind);
    if (all.hidden > 0) fmt::print(output(), "{}\n", hidden_text(all.hidden));
    if (all.undefined > 0) fmt::print(output(), "{}\n", undefined_text(all.undefined));
    if (left > 0) fmt::print(output(), "{} workloads were left out: the time was over\n", left);
  }
  return all.accepted == 0 && all.right_refused == 0 ? kDone : kNothingFound;
}

}  // namespace tunesmith::cli

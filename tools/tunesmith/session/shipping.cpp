#include "shipping.h"

#include <cctype>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/ir/extents.h>
#include <tunesmith/lower/switch_programs.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/called_places.h>
#include <tunesmith/tuning/candidate_compiler.h>
#include <tunesmith/tuning/first_program.h>
#include <tunesmith/tuning/rank_recorded.h>
#include <tunesmith/tuning/tuner.h>

#include "memory.h"
#include "output.h"
#include "progress/progress.h"
#include "say.h"
#include "session.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// Additional records to consider besides the best ones, since some traces
/// may not give their programs any more or be refused by the current check.
constexpr size_t kSpare = 64;

/// Refuses one program; another may be shipped.
class NotShipped : public UserError {
 public:
  using UserError::UserError;
  explicit NotShipped(const UserError& error) : UserError(error) {}
};

NotCompiled does_not_compile(const Workload& workload, const std::string& why, const Candidate& candidate) {
  return NotCompiled(fmt::format("{} does not compile: {}", workload.key,
                                 with_called_places(why, candidate.lowered.program)));
}

}  // namespace

std::string c_identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "k" + name;
  return name;
}

void require_identifier(const std::string& name) {
  if (name == c_identifier(name)) return;
  throw UserError(fmt::format("--name '{}' is not a C identifier", name),
                  "expected letters, digits and _, not beginning with a digit");
}

void require_arrays_without_gaps(const Program& program) {
  for (const auto* list : {&program.inputs, &program.outputs}) {
    for (const Buffer& buffer : *list) {
      if (!buffer->strides.empty())
        throw UserError(fmt::format("'{}' has gaps between its elements", buffer->name),
                        "libraries take contiguous arrays: remove 'strides' from the workload");
    }
  }
}

Shipped Shipper::ship_best(const Workload& workload, const std::string& typed,
                           const std::string& symbol) const {
  return std::move(ship_best(workload, typed, symbol, 1).front());
}

std::vector<Shipped> Shipper::ship_best(const Workload& workload, const std::string& typed,
                                        const std::string& symbol, size_t count) const {
  const std::string caveat =
      compare_recorded(workload) ? "" : ", never timed in turn with the other recorded programs";
  const std::vector<Record> best =
      best_records(workload, space_, options_.measurements, typed, count + kSpare);
  std::vector<Shipped> shipped;
  const RecordsOfIntervals intervals = records_of_intervals(workload.program, best);
  if (intervals.each.size() > 1) {
    const auto pass_over = [&](const std::exception& refusal) {
      say(fmt::format("{}: {}; one program is used for all values", workload.key, refusal.what()));
    };
    try {
      shipped.push_back(ship_intervals(workload, intervals, symbol));
      shipped.back().provenance += caveat;
    } catch (const NotShipped& refusal) {
      pass_over(refusal);
    } catch (const NotCompiled& refusal) {
      pass_over(refusal);
    }
  }
  for (size_t i = 0; i < best.size() && shipped.size() < count; ++i) {
    const bool last = i + 1 == best.size() && shipped.empty();
    const auto pass_over = [&](const std::exception& refusal) {
      say(fmt::format("record {}: {}; using the next best", best[i].id, refusal.what()));
    };
    try {
      shipped.push_back(ship(workload, best[i].id, symbol));
      shipped.back().provenance += caveat;
    } catch (const NotShipped& refusal) {
      if (last) throw;
      pass_over(refusal);
    } catch (const NotCompiled& refusal) {
      if (last) throw;
      pass_over(refusal);
    }
  }
  return shipped;
}

bool Shipper::compare_recorded(const Workload& workload) const {
  const Environment environment = detect_environment(space_.plugin_versions());
  const TaskKey task = task_key(workload, space_, options_.measurements.threads);
  const RecordStore known = open_records(options_.measurements.database, RecordStore::Mode::Read);
  const BestQuery query{task, machine_of(options_.measurements, known, task), {}};
  if (!known.never_compared(query)) return true;
  if (query.machine != environment.machine()) return false;
  const auto in_vain = [&](const Error& error) {
    say(fmt::format("{}: its recorded programs were never timed in turn, and cannot be timed now: {}",
                    workload.key, error.what()));
    return false;
  };
  try {
    require_memory(workload, options_.allow_memory);
    RecordStore store = open_records(options_.measurements.database, RecordStore::Mode::Existing);
    TuneOptions options;
    options.measure_threads = options_.measurements.threads;
    options.machine = machine_lock();
    options.command = "the ranking before a build";
    const RankedRecords ranked =
        rank_recorded(workload, space_, store,
                      *make_worker_runner(workload, space_.target(), session_.worker_target(),
                                          measure_options(options.machine)),
                      environment, options);
    if (ranked.programs > 0)
      say(fmt::format("{}: ranked {} programs that had not been compared", workload.key, ranked.programs));
    for (const NotRanked& one : ranked.dropped)
      say(fmt::format("record {}, {}, is not ranked: {}", one.record, seconds_text(one.seconds), one.why));
    return !store.never_compared(query);
  } catch (const UserError& error) {
    return in_vain(error);
  } catch (const EnvironmentError& error) {
    return in_vain(error);
  }
}

MeasureOptions Shipper::measure_options(std::shared_ptr<MachineLock> machine) const {
  MeasureOptions options;
  options.threads = options_.worker_threads;
  options.time_out_seconds = options_.candidate_time_out;
  options.machine = std::move(machine);
  return options;
}

Shipped Shipper::ship_untuned(const Workload& workload, const std::string& symbol) const {
  ThreadPool pool;
  DrawOptions draws;
  draws.draws = options_.draws;
  const RankedDraws ranked = best_of_draws(workload, space_, *space_.create_cost_model(), draws, pool);
  std::optional<CompiledKernel> fastest;
  Verified best;
  size_t right = 0;
  std::string last = "none is legal";
  const auto pass_over = [&](const std::exception& refusal) {
    last = refusal.what();
    say(fmt::format("{}: {}; using the next best", workload.key, last));
  };
  for (size_t i = 0; i < ranked.best.size() && right < kFirstTried; ++i) {
    try {
      auto kernel = space_.target().compile(ranked.best[i]->lowered, symbol);
      if (!kernel) throw does_not_compile(workload, kernel.error(), *ranked.best[i]);
      Verified verified = measure(workload, *ranked.best[i], *kernel);
      ++right;
      if (fastest && verified.seconds >= best.seconds) continue;
      fastest = std::move(*kernel);
      best = std::move(verified);
    } catch (const NotShipped& refusal) {
      pass_over(refusal);
    } catch (const NotCompiled& refusal) {
      pass_over(refusal);
    }
  }
  const std::string model = space_.spec().cost_model.id;
  if (!fastest) {
    throw UserError(
        fmt::format(
            "no untuned program for {}: none of {} draws, ranked by the cost model '{}', is correct: {}",
            workload.key, ranked.drawn, model, last),
        "increase --draws, or search with 'tunesmith tune'");
  }
  const std::string made = fmt::format(
      "untuned: the fastest of the best {} of {} draws by the cost model '{}', verified and {} at build "
      "time{}, {}",
      right, ranked.drawn, model, models_times(space_.target()) ? "modelled" : "measured", best.of_twin,
      seconds_text(best.seconds));
  if (!options_.quiet) fmt::print(output(), "{}: {}\n", workload.key, made);
  return {std::move(*fastest), fmt::format("{}, {}", workload.key, made), true, true, {}};
}

Shipped Shipper::ship_best_or_untuned(const Workload& workload, const std::string& typed,
                                      const std::string& symbol) const {
  if (std::filesystem::exists(database_path(options_.measurements.database))) {
    try {
      return ship_best(workload, typed, symbol);
    } catch (const NoRecord&) {  // NOLINT(bugprone-empty-catch): the first program is for where there is none
    }
  }
  return ship_untuned(workload, symbol);
}

Shipped Shipper::ship(const Workload& workload, const std::string& id, const std::string& symbol) const {
  NamedTrace named;
  CandidatePtr candidate;
  try {
    named = load_trace(id, options_.measurements.database);
    candidate = materialise(space_, workload, named);
  } catch (const UserError& error) {
    throw NotShipped(error);
  }
  auto kernel = space_.target().compile(candidate->lowered, symbol);
  if (!kernel) throw does_not_compile(workload, kernel.error(), *candidate);
  Shipped shipped{std::move(*kernel),
                  fmt::format("{}, {} {}, ", workload.key, named.record ? "record" : "trace", id),
                  false,
                  false,
                  {}};
  // Only a program that was itself verified and measured is shipped; a record of its trace is not enough.
  const bool on_record = named.record && named.record->ok() &&
                         named.record->lowered_hash == candidate->lowered_hash &&
                         named.record->task() == task_key(workload, space_, options_.measurements.threads);
  const bool measured = on_record && is_measured(*candidate, workload, space_, options_.measurements);
  if (measured) {
    shipped.provenance += seconds_text(named.record->seconds) + (named.record->modelled() ? " modelled" : "");
    if (!named.record->verified_on.empty())
      shipped.provenance += fmt::format(", verified as its twin of {}", named.record->verified_on);
    return shipped;
  }
  shipped.measured_now = true;
  const Verified verified = measure(workload, *candidate, shipped.kernel);
  const std::string time = seconds_text(verified.seconds);
  const std::string_view how = models_times(space_.target()) ? "modelled" : "measured";
  shipped.provenance += fmt::format("{}, verified and {} at build time{}", time, how, verified.of_twin);
  if (!options_.quiet)
    fmt::print(output(), "{}: verified and {} now{}, {}\n",
               on_record ? "this program's record is of an earlier version of verification"
                         : "this program has no record",
               how, verified.of_twin, time);
  return shipped;
}

Shipped Shipper::ship_intervals(const Workload& workload, const RecordsOfIntervals& records,
                                const std::string& symbol) const {
  std::vector<CandidatePtr> candidates;
  std::vector<ProgramOfInterval> parts;
  std::vector<std::vector<int64_t>> ends;
  std::vector<std::string> texts;
  for (const RecordOfInterval& one : records.each) {
    try {
      candidates.push_back(
          materialise(space_, workload, load_trace(one.record->id, options_.measurements.database)));
    } catch (const UserError& error) {
      throw NotShipped(error);
    }
    parts.push_back({&candidates.back()->lowered, one.lowest, one.highest});
    for (const int64_t end : {one.lowest, one.highest}) {
      ends.push_back(highest_values(workload.program));
      ends.back()[records.parameter] = end;
    }
    texts.push_back(fmt::format("{}: record {}",
                                interval_text(workload.program, records.parameter, one.lowest, one.highest),
                                one.record->id));
  }
  Candidate joined;
  joined.lowered = switch_programs(records.parameter, parts);
  joined.lowered_hash = lowered_hash(joined.lowered);
  auto kernel = space_.target().compile(joined.lowered, symbol);
  if (!kernel) throw does_not_compile(workload, kernel.error(), joined);
  const Verified verified = measure(workload, joined, *kernel, ends);
  return {std::move(*kernel),
          fmt::format("{}, {}, verified and measured at build time, {}", workload.key, fmt::join(texts, ", "),
                      seconds_text(verified.seconds)),
          true, false, texts};
}

/// Throws NotShipped and NotCompiled.
Shipper::Verified Shipper::measure(const Workload& workload, const Candidate& candidate,
                                   const CompiledKernel& kernel,
                                   const std::vector<std::vector<int64_t>>& also_at) const {
  require_memory(workload, options_.allow_memory);
  // The shipped code itself is verified, unless the target verifies twins instead.
  std::optional<CandidateKernel> twin;
  if (twins_of(space_.target()) != nullptr) {
    auto code = CandidateCompiler(workload, space_).compile(candidate, "tunesmith_verified");
    if (!code) throw does_not_compile(workload, code.error(), candidate);
    twin = std::move(*code);
  }
  MeasureOptions options = measure_options(machine_lock());
  options.also_verified_at = also_at;
  const Workload* const instance = twin ? twin->instance.get() : nullptr;
  const MeasureRequest request{.kernel = twin ? &twin->kernel : &kernel, .instance = instance};
  const MeasureResult result =
      make_worker_runner(workload, space_.target(), session_.worker_target(), measure_options(machine_lock()))
          ->run({&request, 1})
          .front();
  if (result.failure) {
    throw NotShipped(fmt::format("program rejected: {}, {}", failure_cause_name(result.failure->cause),
                                 with_called_places(result.failure->message, candidate.lowered.program)));
  }
  return {result.timing->min, instance != nullptr ? fmt::format(", as its twin of {}", instance->key) : ""};
}

}  // namespace tunesmith::cli

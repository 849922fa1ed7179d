#include "evaluator.h"

#include <algorithm>
#include <utility>

#include "has_parallel_loop.h"
#include "stopwatch.h"
#include "tunesmith/tuning/called_places.h"

namespace tunesmith {
namespace {

constexpr const char* kSymbol = "tunesmith_candidate";

/// Appends the called intrinsics to a failure's message: their implementations may be at fault.
std::optional<CandidateFailure> naming_calls(std::optional<CandidateFailure> failure, const Candidate& of) {
  if (failure) failure->message = with_called_places(std::move(failure->message), of.lowered.program);
  return failure;
}

}  // namespace

Evaluator::Evaluator(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                     const RecordedNames& names, Record common, const TuneOptions& options,
                     const TuneHooks& hooks, ThreadPool& pool)
    : store_(store),
      runner_(runner),
      names_(names),
      common_(std::move(common)),
      options_(options),
      hooks_(hooks),
      pool_(pool),
      compiler_(workload, space) {}

MachineLock::Turn Evaluator::compute_turn() const {
  return options_.machine ? options_.machine->wait(MachineLock::Use::Compute, hooks_.stop)
                          : MachineLock::Turn();
}

std::vector<Built> Evaluator::build(std::span<const CandidatePtr> candidates) {
  const MachineLock::Turn turn = compute_turn();
  const Stopwatch watch(build_seconds_);
  std::vector<Built> built(candidates.size());
  std::vector<size_t> uncompiled;
  for (size_t i = 0; i < candidates.size(); ++i) {
    built[i].candidate = candidates[i];
    if (auto travelling = runner_.as_candidate(candidates[i]->trace, candidates[i]->lowered_hash))
      built[i].code = CandidateKernel{*std::move(travelling), nullptr};
    else
      uncompiled.push_back(i);
  }
  pool_.parallel_for(uncompiled.size(), [&](size_t place) {
    const size_t i = uncompiled[place];
    built[i].code = stopped() ? tl::make_unexpected(std::string("stopped by the user"))
                              : compiler_.compile(*candidates[i], kSymbol);
  });
  for (const size_t i : uncompiled) {
    if (built[i].code) compile_seconds_.push_back(built[i].code->kernel.compile_seconds);
  }
  return built;
}

std::vector<MeasureResult> Evaluator::run(std::span<const Built> group, double limit) {
  std::vector<MeasureRequest> requests;
  for (const Built& one : group) {
    if (one.code)
      requests.push_back({&one.code->kernel, limit, has_parallel_loop(one.candidate->lowered.program),
                          one.code->instance.get()});
  }
  std::vector<MeasureResult> answers;
  {
    const MeasuringWatch watch = measuring();
    answers = runner_.run(requests);
  }
  std::vector<MeasureResult> results(group.size());
  size_t next = 0;
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i].code) {
      results[i] = std::move(answers[next++]);
      if (group[i].code->instance) results[i].verified_on = group[i].code->instance->key;
    } else {
      results[i].failure = CandidateFailure{FailureCause::CompileError, group[i].code.error()};
    }
    results[i].failure = naming_calls(std::move(results[i].failure), *group[i].candidate);
  }
  return results;
}

Record Evaluator::record_of(const Candidate& candidate, const MeasureResult& result) const {
  Record record = record_of(candidate);
  record.timing = result.timing;
  if (result.timing) {
    record.seconds = result.timing->min;
    record.verified_error = result.verified_error;
  }
  record.verified_on = result.verified_on;
  record.disturbed = result.disturbed;
  record.failure = result.failure;
  return record;
}

std::vector<Measured> Evaluator::measure(std::span<const Built> group, double limit, int64_t index,
                                         const RoundRecord& round) {
  const std::vector<MeasureResult> answers = run(group, limit);
  std::vector<Measured> results;
  std::vector<Record> records;
  for (size_t i = 0; i < group.size(); ++i) {
    const MeasureResult& answer = answers[i];
    if (stopped() && answer.failure) continue;  // the interruption may be its cause
    const CandidatePtr& candidate = group[i].candidate;
    Record record = record_of(*candidate, answer);
    record.kind = MeasurementKind::Search;
    record.candidate = static_cast<uint64_t>(index) + records.size();
    record.round = round.number;
    if (const auto score = round.scores.find(candidate->lowered_hash); score != round.scores.end())
      record.score = score->second;
    if (answer.timing && !record.verified_on.empty()) ++verified_twins_[record.verified_on];
    if (answer.timing && answer.disturbed.value_or(false)) ++disturbed_;
    records.push_back(std::move(record));
    results.push_back({candidate, answer.timing, answer.failure});
  }
  add(records);
  return results;
}

std::vector<Measured> Evaluator::check_again(std::span<const CandidatePtr> candidates) {
  const std::vector<Built> built = build(candidates);
  const std::vector<MeasureResult> answers = run(built, 0.0);
  std::vector<Measured> results;
  std::vector<Record> records;
  for (size_t i = 0; i < built.size(); ++i) {
    results.push_back({candidates[i], answers[i].timing, answers[i].failure});
    if (stopped() && answers[i].failure) continue;
    records.push_back(record_of(*candidates[i], answers[i]));
    records.back().kind = MeasurementKind::Bench;
  }
  add(records);
  return results;
}

void Evaluator::record_ranking(std::span<const Ranked> ranked) {
  ++rankings_;
  std::vector<Record> records;
  for (const Ranked& one : ranked) {
    Record record = record_of(*one.candidate);
    record.kind = MeasurementKind::Ranking;
    record.ranking = rankings_;
    record.verified_on = one.verified_on;
    record.failure = naming_calls(one.failure, *one.candidate);
    if (record.failure) {
      records.push_back(std::move(record));
      continue;
    }
    record.timing = make_timing(one.samples);
    record.timing->prepare = one.prepare;
    record.timing->at = one.at;
    record.seconds = one.seconds;
    record.disturbed = one.disturbed;
    records.push_back(std::move(record));
  }
  add(records);
}

void Evaluator::add(std::span<const Record> records) {
  // One sync to disk for the group; nothing is reported before it.
  store_.add(records);
  if (!hooks_.recorded) return;
  for (const Record& record : records) hooks_.recorded(record);
}

Record Evaluator::record_of(const Candidate& candidate) const {
  Record record = common_;
  record.id = make_id();
  record.trace = names_.recorded(candidate.trace).str();
  record.trace_version = kTraceVersion;
  record.lowered_hash = candidate.lowered_hash;
  record.time_ms = now_ms();
  return record;
}

double Evaluator::median_compile_seconds() const {
  if (compile_seconds_.empty()) return 0.0;
  std::vector<double> seconds = compile_seconds_;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace tunesmith

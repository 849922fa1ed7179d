#include "tune/evaluator.h"

#include <algorithm>
#include <utility>

#include "tune/stopwatch.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

constexpr const char* kSymbol = "tunesmith_candidate";

bool has_parallel_loop(const Program& program) {
  return find_first<Loop>(program.root(),
                          [](const Loop& loop) { return loop.loop_kind == LoopKind::Parallel; }) != nullptr;
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
  pool_.parallel_for(candidates.size(), [&](size_t i) {
    built[i].candidate = candidates[i];
    built[i].code = stopped() ? tl::make_unexpected(std::string("stopped by the user"))
                              : compiler_.compile(*candidates[i], kSymbol);
  });
  for (const Built& one : built) {
    if (one.code) compile_seconds_.push_back(one.code->kernel.compile_seconds);
  }
  return built;
}

std::vector<Measured> Evaluator::measure(std::span<const Built> group, double limit, int64_t index,
                                         const RoundRecord& round) {
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
  std::vector<Measured> results;
  std::vector<Record> records;
  size_t next = 0;
  for (const Built& one : group) {
    MeasureResult answer;
    if (one.code) {
      answer = std::move(answers[next++]);
    } else {
      answer.failure = CandidateFailure{FailureCause::CompileError, one.code.error()};
    }
    if (stopped() && answer.failure) continue;  // the interruption may be its cause
    Record record = record_of(*one.candidate);
    record.kind = MeasurementKind::Search;
    record.candidate = static_cast<uint64_t>(index) + records.size();
    record.round = round.number;
    if (const auto score = round.scores.find(one.candidate->lowered_hash); score != round.scores.end())
      record.score = score->second;
    record.timing = answer.timing;
    if (answer.timing) {
      record.seconds = answer.timing->min;
      record.verified_error = answer.verified_error;
    }
    if (one.code && one.code->instance) {
      record.verified_on = one.code->instance->key;
      if (answer.timing) ++verified_twins_[record.verified_on];
    }
    record.disturbed = answer.disturbed;
    if (answer.timing && answer.disturbed.value_or(false)) ++disturbed_;
    record.failure = answer.failure;
    records.push_back(std::move(record));
    results.push_back({one.candidate, answer.timing, answer.failure});
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
    record.timing = make_timing(one.samples);
    record.timing->prepare = one.prepare;
    record.seconds = one.seconds;
    record.disturbed = one.disturbed;
    record.verified_on = one.verified_on;
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

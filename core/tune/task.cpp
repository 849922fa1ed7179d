#include "tune/task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "plugin/watch.h"
#include "tune/judge_scores.h"
#include "tune/stopwatch.h"
#include "tunesmith/records/record.h"

namespace tunesmith {
namespace {

/// Weights of mutation by what is decided, as the public MetaSchedule has them for a CPU.
double mutation_weight(const SamplingDomain& domain) {
  if (domain.parts > 0) return 0.9;            // tiles
  if (domain.candidates.empty()) return 0.05;  // compute locations
  return 0.05;                                 // categories
}

}  // namespace

Task::Task(const Workload& workload, const Space& space, uint64_t seed, size_t threads)
    : workload_(workload),
      space_(space),
      seed_(seed),
      pool_(threads),
      sketches_([&] {
        const Stopwatch watch(generate_seconds_);
        return space.generate(workload.program);
      }()),
      cost_model_(space.create_cost_model()) {
  cost_model_->begin(workload, space.device());
}

Trace Task::draw(RandomStream& random) const {
  return sketches()[random.below(sketches().size())].trace().with_open_decisions();
}

std::optional<Trace> Task::mutate(const Candidate& candidate, RandomStream& random) const {
  std::vector<double> weights;
  std::vector<std::optional<Decision>> changed;
  for (const SamplingPoint& point : candidate.points) {
    changed.push_back(point.kind->mutate(point.domain, *candidate.trace[point.position].decision, random));
    weights.push_back(changed.back() ? mutation_weight(point.domain) : 0.0);
  }
  if (std::none_of(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; }))
    return std::nullopt;
  const size_t chosen = random.categorical(weights);
  return candidate.trace.with_decision(candidate.points[chosen].position, *changed[chosen]);
}

std::vector<Trace> Task::neighbours(const Candidate& candidate) const {
  std::vector<Trace> traces;
  for (const SamplingPoint& point : candidate.points) {
    for (Decision& decision :
         point.kind->enumerate(point.domain, *candidate.trace[point.position].decision)) {
      traces.push_back(candidate.trace.with_decision(point.position, std::move(decision)));
    }
  }
  return traces;
}

std::vector<CandidatePtr> Task::materialise(std::span<const Draft> drafts) {
  const KernelWork for_the_searcher;
  std::vector<tl::expected<CandidatePtr, CandidateFailure>> outcomes(drafts.size());
  pool_.parallel_for(drafts.size(), [&](size_t i) {
    outcomes[i] = space_.materialise(workload_.program, drafts[i].trace, drafts[i].random);
  });
  std::vector<CandidatePtr> candidates;
  candidates.reserve(drafts.size());
  for (auto& outcome : outcomes) {
    if (outcome && refuse_) {
      if (std::string why = refuse_(**outcome); !why.empty())
        outcome = tl::make_unexpected(CandidateFailure{FailureCause::IllegalSchedule, std::move(why)});
    }
    if (!outcome) {
      ++refusals_[outcome.error().message];
      first_refusals_.try_emplace(outcome.error().message, outcome.error().detail);
    }
    candidates.push_back(outcome ? std::move(*outcome) : nullptr);
  }
  return candidates;
}

void Task::make_features(std::span<const CandidatePtr> candidates) {
  if (!cost_model_->reads_features()) return;
  pool_.parallel_for(candidates.size(), [&](size_t i) { candidates[i]->features(space_.device()); });
}

std::vector<double> Task::blind_scores(std::span<const CandidatePtr> candidates) const {
  std::vector<double> scores;
  for (const CandidatePtr& candidate : candidates)
    scores.push_back(RandomStream(seed_, candidate->lowered_hash).uniform());
  return scores;
}

std::vector<double> Task::score(std::span<const CandidatePtr> candidates) {
  if (!model_dropped_.empty()) return blind_scores(candidates);
  const Stopwatch watch(model_seconds_);
  make_features(candidates);
  std::vector<double> scores = cost_model_->predict(candidates);
  if (scores.size() != candidates.size() ||
      !std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); })) {
    model_dropped_ = "[P25] predict did not give a finite score for each candidate";
    return blind_scores(candidates);
  }
  return scores;
}

std::optional<ModelBatch> Task::judge(std::span<const Measured> results) {
  constexpr size_t kFewest = 8;
  if (results.size() < kFewest || !model_dropped_.empty()) return std::nullopt;
  std::vector<CandidatePtr> candidates;
  std::vector<double> throughputs;
  for (const Measured& result : results) {
    candidates.push_back(result.candidate);
    throughputs.push_back(result.timing ? 1.0 / result.timing->min : 0.0);
  }
  const std::vector<double> scores = score(candidates);
  if (!model_dropped_.empty()) return std::nullopt;
  ModelBatch batch = judge_scores(scores, throughputs);
  batch.trials = static_cast<int64_t>(history_.size());
  if (watch_.worse(batch)) model_dropped_ = "it ordered three rounds in succession worse than chance";
  return batch;
}

void Task::load_model(const std::string& file) {
  if (!std::filesystem::exists(file)) return;
  std::ifstream in(file, std::ios::binary);
  const std::string saved{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw UserError({file}, "the cost model cannot be read");
  try {
    cost_model_->load(saved);
  } catch (const UserError& error) {
    throw UserError({file}, error.what(), error.remedy());
  }
}

void Task::save_model(const std::string& file) const {
  if (!model_dropped_.empty()) return;
  const std::string saved = cost_model_->save();
  if (saved.empty()) return;
  // Whole or not at all: another run may read it meanwhile.
  const std::string part = fmt::format("{}.{}", file, make_id());
  std::ofstream out(part, std::ios::binary);
  out << saved;
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(part, file, failed);
  if (!out || failed) throw EnvironmentError(fmt::format("{}: the cost model cannot be written", file));
}

void Task::begin_round(int64_t trials) {
  // More streams than a round takes, and more rounds than a run has.
  constexpr int kBits = 28;
  next_index_ = static_cast<uint64_t>(trials) << kBits;
}

void Task::note_measured(std::span<const uint64_t> lowered_hashes) {
  measured_.insert(lowered_hashes.begin(), lowered_hashes.end());
}

void Task::learn(std::span<const Measured> results) {
  for (const Measured& result : results) {
    history_.push_back(result);
    measured_.insert(result.candidate->lowered_hash);
  }
  if (!model_dropped_.empty()) return;
  const Stopwatch watch(model_seconds_);
  double best = std::numeric_limits<double>::infinity();
  for (const Measured& result : history_) {
    if (result.timing) best = std::min(best, result.timing->min);
  }
  std::vector<CandidatePtr> candidates;
  std::vector<double> throughputs;
  for (const Measured& result : history_) {
    candidates.push_back(result.candidate);
    throughputs.push_back(result.timing ? best / result.timing->min : 0.0);
  }
  make_features(candidates);
  cost_model_->update(candidates, throughputs);
}

}  // namespace tunesmith

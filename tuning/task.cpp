#include "task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "evaluate_scores.h"
#include "stopwatch.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/plugin/own_thread.h"
#include "tunesmith/plugin/watch.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
Task::Task(const Workload& workload, const Space& space, uint64_t seed, size_t threads)
    : workload_(workload),
      space_(space),
      seed_(seed),
      pool_(threads),
      sketches_([&] {
        const Stopwatch watch(generate_seconds_);
        return space.generate(workload.program);
      }()),
      promise_(sketches_.sketches),
      cost_model_(space.create_cost_model()) {
  learned_.workload = workload.key;
  unless_it_hangs([&] { cost_model_->begin(workload, space.device()); });
}

template <typename Call>
bool Task::unless_it_hangs(const Call& call) {
  try {
    call();
    return true;
  } catch (const PluginHang& hang) {
    model_dropped_ = hang.how();
    return false;
  }
}

Trace Task::draw(RandomStream& random) const {
  return sketches()[promise_.choose(random)].trace().with_open_decisions();
}

std::optional<Trace> Task::mutate(const Candidate& candidate, RandomStream& random) const {
  std::vector<double> weights;
  std::vector<std::optional<Decision>> changed;
  for (const SamplingPoint& point : candidate.points) {
    changed.push_back(point.kind->mutate(point.domain, *candidate.trace[point.position].decision, random));
    weights.push_back(changed.back() ? std::log2(static_cast<double>(point.kind->count(point.domain))) : 0.0);
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

std::vector<double> Task::blind_scores(std::span<const CandidatePtr> candidates) const {
  std::vector<double> scores;
  for (const CandidatePtr& candidate : candidates)
    scores.push_back(RandomStream(seed_, candidate->lowered_hash).uniform());
  return scores;
}

std::vector<CandidatePtr> Task::with_programs(std::span<const CandidatePtr> candidates) {
  const KernelWork for_the_searcher;
  std::vector<CandidatePtr> whole(candidates.begin(), candidates.end());
  pool_.parallel_for(whole.size(), [&](size_t i) {
    if (whole[i]->has_program()) return;
    auto again = space_.materialise(workload_.program, whole[i]->trace, RandomStream(0));
    check_invariant(again.has_value(), "what was measured can be made again");
    whole[i] = std::move(*again);
  });
  return whole;
}

std::vector<double> Task::score(std::span<const CandidatePtr> candidates) {
  if (!model_dropped_.empty()) return blind_scores(candidates);
  const Stopwatch watch(model_seconds_);
  const std::vector<CandidatePtr> whole = with_programs(candidates);
  std::vector<double> scores;
  if (!unless_it_hangs([&] { scores = cost_model_->predict(whole); })) return blind_scores(candidates);
  if (scores.size() != candidates.size() ||
      !std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); })) {
    model_dropped_ = "[P25] predict() did not return a finite score for each candidate";
    return blind_scores(candidates);
  }
  return scores;
}

std::optional<std::vector<double>> Task::foresee(std::span<const CandidatePtr> candidates) {
  std::vector<double> scores = score(candidates);
  if (!model_dropped_.empty()) return std::nullopt;
  return scores;
}

std::optional<ModelBatch> Task::evaluate_model(std::span<const Measured> results,
                                               std::span<const double> scores) {
  if (results.size() < kMinEvaluated) return std::nullopt;
  std::vector<double> throughputs;
  for (const Measured& result : results)
    throughputs.push_back(result.timing ? 1.0 / result.timing->min : 0.0);
  ModelBatch batch = evaluate_scores(scores, throughputs);
  batch.trials = static_cast<int64_t>(history_.size());
  if (watch_.worse(batch)) model_dropped_ = "its ranking was worse than chance in three successive rounds";
  return batch;
}

void Task::load_model(const std::string& file) {
  if (!std::filesystem::exists(file)) return;
  const ModelFile model = read_model_file(file);
  if (model.kind != space_.spec().cost_model.id) {
    throw UserError({file}, fmt::format("this file is of the cost model '{}', but space '{}' uses '{}'",
                                        model.kind, space_.spec().name, space_.spec().cost_model.id));
  }
  try {
    cost_model_->load(model.learned);
  } catch (const UserError& error) {
    throw UserError({file}, error.what(), error.remedy());
  }
  learned_before_ = model.tasks;
}

void Task::save_model(const std::string& file) const {
  if (!model_dropped_.empty()) return;
  ModelFile model{space_.spec().cost_model.id, "", space_.cost_model_text(), learned_before_,
                  cost_model_->save()};
  if (model.learned.empty()) return;
  model.version =
      space_.plugin_versions().at(fmt::format("{}:{}", kind_name(PluginKind::CostModel), model.kind));
  model.add(learned_);
  write_model_file(file, model);
}

std::span<const Trace> Task::seeds() {
  if (find_seeds_) seeds_ = std::exchange(find_seeds_, nullptr)();
  return seeds_.traces;
}

void Task::say(const std::string& sentence) {
  if (std::ranges::find(said_, sentence) != said_.end()) return;
  said_.push_back(sentence);
  if (say_to_) say_to_(sentence);
}

void Task::begin_round(int64_t trials) {
  // More streams than a round uses, and more rounds than a run has.
  constexpr int kBits = 28;
  next_index_ = static_cast<uint64_t>(trials) << kBits;
}

void Task::note_measured(std::span<const uint64_t> lowered_hashes) {
  measured_.insert(lowered_hashes.begin(), lowered_hashes.end());
}

void Task::learn(std::span<const Measured> results) {
  std::vector<Measured> fresh;
  for (const Measured& result : results) {
    history_.add(result);
    if (measured_.insert(result.candidate->lowered_hash).second) fresh.push_back(result);
  }
  promise_.add(results);
  if (!model_dropped_.empty()) return;
  const Stopwatch watch(model_seconds_);
  if (!unless_it_hangs([&] { cost_model_->update(fresh); })) return;
  learned_.programs += static_cast<int64_t>(fresh.size());
  for (const Measured& result : fresh)
    learned_.rows += std::ssize(collect<Store>(result.candidate->lowered.program.root()));
}

}  // namespace tunesmith

// One tuned workload: the searcher's view of it, and its results.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "evaluate_scores.h"
#include "seeds.h"
#include "sketch_promise.h"
#include "tunesmith/search/model_file.h"
#include "tunesmith/search/searcher.h"
#include "tunesmith/space/space.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

class Task final : public SearchContext {
 public:
  Task(const Workload& workload, const Space& space, uint64_t seed, size_t threads);

  const Program& program() const override { return workload_.program; }
  const std::vector<Schedule>& sketches() const override { return sketches_.sketches; }
  const DeviceModel& device() const override { return space_.device(); }
  const std::shared_ptr<const TensorIntrinsics>& intrinsics() const override { return space_.intrinsics(); }
  RandomStream next_stream() override { return RandomStream(seed_, next_index_++); }
  Trace draw(RandomStream& random) const override;
  std::optional<Trace> mutate(const Candidate& candidate, RandomStream& random) const override;
  std::vector<Trace> neighbours(const Candidate& candidate) const override;
  std::vector<CandidatePtr> materialise(std::span<const Draft> drafts) override;
  bool is_measured(uint64_t lowered_hash) const override { return measured_.count(lowered_hash) != 0; }
  std::vector<double> score(std::span<const CandidatePtr> candidates) override;
  const MeasuredHistory& history() const override { return history_; }
  std::span<const Trace> seeds() override;
  std::shared_ptr<Searcher> create_searcher(const std::string& id) const override {
    return space_.create_searcher(id);
  }
  void say(const std::string& sentence) override;

  /// TuneHooks::refuse.
  void refuse_by(std::function<std::string(const Candidate&)> refuse) { refuse_ = std::move(refuse); }
  /// Sets the source of seeds, called when the searcher next requests them. Without it there are none.
  void seed_by(std::function<Seeds()> find) { find_seeds_ = std::move(find); }
  /// TuneHooks::said.
  void say_to(std::function<void(const std::string&)> said) { say_to_ = std::move(said); }
  const std::vector<std::string>& said() const { return said_; }
  /// The seeds that the searcher got last.
  const SeedCounts& seeded() const { return seeds_.counts; }
  /// The next streams are those of candidates proposed after
  /// this many trials, so that a resumed run has the same.
  void begin_round(int64_t trials);
  /// Adds measured programs that are not in the history.
  void note_measured(std::span<const uint64_t> lowered_hashes);
  /// Adds results to the history, and trains the cost model with the new ones.
  void learn(std::span<const Measured> results);
  /// The cost model's scores for programs that it has
  /// not learned from. Nothing if the model is disabled.
  std::optional<std::vector<double>> foresee(std::span<const CandidatePtr> candidates);
  /// Cost-model accuracy on these results. `scores`: from
  /// foresee(), one for each result. Nothing if there are too few.
  std::optional<ModelBatch> evaluate_model(std::span<const Measured> results, std::span<const double> scores);

  ThreadPool& pool() { return pool_; }
  const SketchSet& sketch_set() const { return sketches_; }
  /// The duration of generating the space, in seconds.
  double generate_seconds() const { return generate_seconds_; }
  const std::map<std::string, int64_t>& refusals() const { return refusals_; }
  const std::map<std::string, std::string>& first_refusals() const { return first_refusals_; }
  /// The time spent in the cost model so far, in seconds.
  double model_seconds() const { return model_seconds_; }
  /// Why the cost model is disabled; "" if it is not.
  const std::string& model_dropped() const { return model_dropped_; }
  /// Throws UserError if the file cannot be read or contains another model.
  void load_model(const std::string& file);
  /// Writes nothing if there is nothing to save. Throws EnvironmentError.
  void save_model(const std::string& file) const;

 private:
  /// The candidates with their programs, which the history does not keep.
  std::vector<CandidatePtr> with_programs(std::span<const CandidatePtr> candidates);
  /// False if the cost model's call hung: the model is then disabled.
  template <typename Call>
  bool unless_it_hangs(const Call& call);
  /// Scores of the programs alone, without a model.
  std::vector<double> blind_scores(std::span<const CandidatePtr> candidates) const;

  const Workload& workload_;
  const Space& space_;
  const uint64_t seed_;
  uint64_t next_index_ = 0;
  ThreadPool pool_;
  double generate_seconds_ = 0.0;
  SketchSet sketches_;
  SketchPromise promise_;
  std::shared_ptr<CostModel> cost_model_;
  std::vector<ModelFile::Task> learned_before_;  // by the loaded model
  ModelFile::Task learned_;
  MeasuredHistory history_;
  std::unordered_set<uint64_t> measured_;
  std::function<std::string(const Candidate&)> refuse_;
  std::function<void(const std::string&)> say_to_;
  std::vector<std::string> said_;
  std::function<Seeds()> find_seeds_;  // null once seeds_ is up to date
  Seeds seeds_;
  std::map<std::string, int64_t> refusals_;
  std::map<std::string, std::string> first_refusals_;
  double model_seconds_ = 0.0;
  ChanceWatch watch_;
  std::string model_dropped_;
};

}  // namespace tunesmith

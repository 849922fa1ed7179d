// Checks of cost models, with candidates of the space and artificial times.
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "checks.h"

namespace tunesmith::conformance {
namespace of_cost_models {
namespace {

constexpr uint64_t kSeed = 5;

struct Data {
  std::vector<CandidatePtr> candidates;
  std::vector<Measured> results;  // one for each of the candidates
};

Measured took(const CandidatePtr& candidate, double seconds) {
  return {candidate, make_timing({seconds}), std::nullopt};
}
Measured crashed(const CandidatePtr& candidate) {
  return {candidate, std::nullopt, CandidateFailure{FailureCause::Crash, "made up"}};
}

Data data_of(const Space& space, const Workload& workload) {
  constexpr size_t kWanted = 72;  // enough for a model that learns in steps
  constexpr uint64_t kMaxDraws = 200;
  Data data;
  const SketchSet set = space.generate(workload.program);
  for (uint64_t draw = 0; draw < kMaxDraws && data.candidates.size() < kWanted; ++draw) {
    const Trace open = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
    if (auto candidate = space.materialise(workload.program, open, RandomStream(kSeed, draw))) {
      data.candidates.push_back(*candidate);
      // A seventh of the measurements fail.
      const double seconds = 1e-3 + RandomStream(kSeed, (*candidate)->lowered_hash).uniform();
      data.results.push_back(draw % 7 == 0 ? crashed(*candidate) : took(*candidate, seconds));
    }
  }
  return data;
}

using Scores = std::vector<double>;

/// A new object, which knows the columns of the space and the machine.
std::shared_ptr<CostModel> model_of(const Subject& subject, const Space& space) {
  const auto model = subject.create<CostModel>();
  model->use_columns(space.added_columns());
  model->use_execution(space.target().execution());
  return model;
}

/// Learns from the first half and predicts all, before and after.
std::vector<Scores> use(CostModel& model, const Workload& workload, const Space& space, const Data& data) {
  const size_t half = data.candidates.size() / 2;
  std::vector<Scores> scores;
  model.begin(workload, space.device());
  scores.push_back(model.predict(data.candidates));
  model.update(std::span(data.results).first(half));
  scores.push_back(model.predict(data.candidates));
  model.update(std::span(data.results).subspan(half));
  scores.push_back(model.predict(data.candidates));
  return scores;
}

/// There is one finite score for each candidate, before and after learning, and none for no candidates.
Verdict check_contract(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  const auto model = model_of(subject, space);
  for (const Workload& workload : subject.workloads()) {
    const Data data = data_of(space, workload);
    for (const Scores& scores : use(*model, workload, space, data)) {
      if (scores.size() != data.candidates.size()) {
        return failed(fmt::format("{}: {} scores for {} candidates", workload.name, scores.size(),
                                  data.candidates.size()));
      }
      for (const double score : scores) {
        if (!std::isfinite(score)) return failed(fmt::format("{}: a score is {}", workload.name, score));
      }
    }
    if (!model->predict({}).empty()) return failed("it has scores for no candidates");
  }
  return passed();
}

/// predict() changes nothing: repeated or partial calls return the same.
Verdict check_predicting_changes_nothing(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  const Workload& workload = subject.workloads().front();
  const Data data = data_of(space, workload);
  const auto model = model_of(subject, space);
  const Scores wanted = use(*model, workload, space, data).back();
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(model->predict(std::span(data.candidates).first(1)));
    if (model->predict(data.candidates) != wanted) return failed("asked again, predict() gave other scores");
  }
  return passed();
}

/// Another object that learns the same predicts the same.
Verdict check_determinism(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  for (size_t i = 0; i < 2; ++i) {
    const Workload& workload = subject.workloads()[i];
    const Data data = data_of(space, workload);
    const auto wanted = use(*model_of(subject, space), workload, space, data);
    if (use(*model_of(subject, space), workload, space, data) != wanted) {
      return failed(
          fmt::format("{}: a second object that learned the same predicts something else", workload.name));
    }
  }
  return passed();
}

/// Objects share nothing: two in two threads predict as each alone.
Verdict check_threads(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  const Workload& workload = subject.workloads().front();
  const Data data = data_of(space, workload);
  const auto wanted = use(*model_of(subject, space), workload, space, data);
  std::array<std::string, 2> faults;
  {
    std::vector<std::jthread> threads;
    for (std::string& fault : faults) {
      threads.emplace_back([&] {
        try {
          if (use(*model_of(subject, space), workload, space, data) != wanted) {
            fault = "with two objects in two threads one predicted something else";
          }
        } catch (const std::exception& error) {
          fault = fmt::format("with two objects in two threads: {}", error.what());
        }
      });
    }
  }
  for (const std::string& fault : faults) {
    if (!fault.empty()) return failed(fault);
  }
  return passed();
}

/// Scores stay finite if all failed, all are equal, there is one, or none.
Verdict check_failures(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  const Workload& workload = subject.workloads().front();
  const Data data = data_of(space, workload);
  for (const bool fails : {true, false}) {
    for (const size_t count : {data.candidates.size(), size_t{1}, size_t{0}}) {
      const auto model = model_of(subject, space);
      model->begin(workload, space.device());
      std::vector<Measured> results;
      for (size_t i = 0; i < count; ++i)
        results.push_back(fails ? crashed(data.candidates[i]) : took(data.candidates[i], 1e-3));
      model->update(results);
      for (const double score : model->predict(data.candidates)) {
        if (!std::isfinite(score)) {
          return failed(fmt::format("after {} candidates that {} a score is {}", count,
                                    fails ? "failed" : "took one time", score));
        }
      }
    }
  }
  return passed();
}

/// An object that loads another's saved state predicts the same.
Verdict check_saving(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  const Workload& workload = subject.workloads().front();
  const Data data = data_of(space, workload);
  const auto model = model_of(subject, space);
  const Scores wanted = use(*model, workload, space, data).back();
  const std::string saved = model->save();
  if (saved.empty()) return skipped("it keeps nothing of what it has learned");
  const auto loaded = model_of(subject, space);
  loaded->load(saved);
  loaded->begin(workload, space.device());
  if (loaded->predict(data.candidates) != wanted) return failed("loaded again, it gave other scores");
  return passed();
}

constexpr Check kChecks[] = {
    {"contract", "P25", &check_contract},
    {"predicting_changes_nothing", "P25", &check_predicting_changes_nothing},
    {"determinism", "P19", &check_determinism},
    {"threads", "P20", &check_threads},
    {"failures", "P25", &check_failures},
    {"saving", "P25", &check_saving},
};

}  // namespace
}  // namespace of_cost_models

std::span<const Check> cost_model_checks() { return of_cost_models::kChecks; }

}  // namespace tunesmith::conformance

// Reads a task for the searcher, and draws programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/proposals/elite_classifier.h>
#include <tunesmith/proposals/prior.h>
#include <tunesmith/search/searcher.h>

namespace tunesmith::language {

/// A task's sketches as a prior and the classifier see them. The constructor's arguments must outlive it.
class Proposer {
 public:
  /// Reports what the prior does not know of this task. `prior`: may be null.
  Proposer(SearchContext& context, std::shared_ptr<const Prior> prior, std::string prior_name);

  /// The candidate's choices. Nothing if its sketch is not in the space, or some decisions cannot be written
  /// as a sequence.
  std::optional<ChosenProgram> chosen(const Candidate& candidate) const;
  /// Draws a trace by the prior and `classifier`. Nothing if neither knows the drawn sketch, or the space
  /// refuses the decisions.
  std::optional<Trace> draw(const EliteClassifier& classifier, double temperature,
                            RandomStream& random) const;

 private:
  struct Sketch {
    Trace trace;  // with open decisions
    uint64_t key = 0;
    bool prior_knows = false;
    bool is_sequence = true;
  };
  void ask_prior(SearchContext& context);
  void find_other_decisions(SearchContext& context);

  const Program& program_;
  const std::shared_ptr<const TensorIntrinsics> intrinsics_;
  const SequenceTask task_;
  const StepReader reader_;
  std::shared_ptr<const Prior> prior_;
  const std::string prior_name_;
  std::vector<Sketch> sketches_;
  std::vector<ChoiceFeatures> features_;  // features of the choice among sketches
};

}  // namespace tunesmith::language

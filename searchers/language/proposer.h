// What of a task the searcher reads, and how it draws programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/proposals/elite_classifier.h>
#include <tunesmith/proposals/prior.h>
#include <tunesmith/search/searcher.h>

namespace tunesmith::language {

/// A task's sketches as a prior and the classifier see them. It outlives nothing that it is given.
class Proposer {
 public:
  /// Says what the prior does not know here. `prior`: null where there is none.
  Proposer(SearchContext& context, std::shared_ptr<const Prior> prior, std::string prior_name);

  /// What the candidate chose. Nothing where its sketch is none of the space, or its decisions are of a
  /// kind that has no sequence.
  std::optional<ChosenProgram> chosen(const Candidate& candidate) const;
  /// A trace that is decided by the prior and `classifier`. Nothing where neither has anything to say of the
  /// sketch that is drawn, or the space refuses what was decided.
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
  std::vector<ChoiceFeatures> features_;  // of the choice among sketches
};

}  // namespace tunesmith::language

// A cost model that knows nothing and scores all candidates alike: a start for your own. The interface is
// documented in <tunesmith/search/cost_model.h>, the properties of candidates in
// <tunesmith/search/candidate.h>.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

namespace {

using namespace tunesmith;

class NullCostModel final : public CostModel {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullCostModel(const Options& options) : score_(options.get_double("score")) {}

  // Called before anything else, once for each workload.
  void begin(const Workload& /*workload*/, const DeviceModel& /*device*/) override {}

  // Gets the results since the last call: each has a timing or a failure.
  void update(std::span<const Measured> /*results*/) override {}

  // Returns one finite score for each candidate; higher is better, and only the order counts. Must not change
  // the results of later calls.
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores(candidates.size(), score_);
    // Here: look at candidates[i]->lowered.program, and learn in update().
    return scores;
  }

 private:
  double score_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullCostModel, PluginKind::CostModel, "null_cost_model", "0.1.0",
                 "finds all candidates alike",
                 OptionSpec::real("score", 0.0, -1.0, 1.0, "what every candidate is given"));

// Random scores, which other cost models must beat. The score
// of a program depends only on the seed and the program.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

namespace {

using namespace tunesmith;

class RandomModel final : public CostModel {
 public:
  explicit RandomModel(const Options& options) : seed_(static_cast<uint64_t>(options.get_int("seed"))) {}

  void begin(const Workload& /*workload*/, const DeviceModel& /*device*/) override {}
  void update(std::span<const Measured> /*results*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates) {
      scores.push_back(RandomStream(seed_, candidate->lowered_hash).uniform());
    }
    return scores;
  }

 private:
  uint64_t seed_;
};

}  // namespace

TUNESMITH_PLUGIN(RandomModel, PluginKind::CostModel, "random", "0.1.0", "random scores",
                 OptionSpec::integer("seed", 0, 0, 1 << 30, "of the scores"));

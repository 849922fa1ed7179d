// Samples where a producer is computed: at the root, or under one of the loops around its consumers.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class RandomComputeLocation final : public TransformationModule {
 public:
  explicit RandomComputeLocation(const Options& options)
      : several_consumers_(options.get_bool("several_consumers")) {}

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& /*context*/) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (writes_output(schedule.program(), block))
      return ModuleResult::not_applicable("the block writes an output");
    // A unit's copies stay where their module placed them: at the root they are prepared ahead of calls.
    if (!is_trivially_bound(block) || block.annotations.contains(kTensorIntrinsic))
      return ModuleResult::not_applicable("another module has transformed the block");
    if (loops_above(block).empty() || enclosing_block(block) != nullptr) {
      return ModuleResult::not_applicable("the block has no loop nest of its own");
    }
    const size_t consumers = consumers_of(schedule.program(), block).size();
    if (consumers == 0) return ModuleResult::not_applicable("the block has no consumer");
    if (consumers > 1 && !several_consumers_)
      return ModuleResult::not_applicable("the block has several consumers");
    const BlockRV producer = schedule.get_block(block_name);
    const LoopRV location = schedule.sample_compute_location(producer);
    schedule.compute_at(producer, location);
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  bool several_consumers_;
};

}  // namespace

TUNESMITH_PLUGIN(RandomComputeLocation, PluginKind::Module, "random_compute_location", "0.1.0",
                 "sample the compute location of producers",
                 OptionSpec::boolean("several_consumers", true,
                                     "also producers that several blocks read, once their loops are shared"));

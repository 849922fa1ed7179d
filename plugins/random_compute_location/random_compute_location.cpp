// Samples where a producer is computed: at the root, or under one of the loops of its consumer.
#include <tunesmith/ir/regions.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/schedule/analysis.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class RandomComputeLocation final : public TransformationModule {
 public:
  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& /*context*/) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (writes_output(schedule.program(), block))
      return ModuleResult::not_applicable("the block writes an output");
    if (!is_trivially_bound(block))
      return ModuleResult::not_applicable("another module has transformed the block");
    if (loops_above(block).empty() || enclosing_block(block) != nullptr) {
      return ModuleResult::not_applicable("the block has no loop nest of its own");
    }
    if (consumers_of(schedule.program(), block).size() != 1) {
      return ModuleResult::not_applicable("the block has no consumer or several");
    }
    const BlockRV producer = schedule.get_block(block_name);
    const LoopRV location = schedule.sample_compute_location(producer);
    schedule.compute_at(producer, location);
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(RandomComputeLocation, PluginKind::Module, "random_compute_location", "0.1.0",
                 "sample where a producer is computed");

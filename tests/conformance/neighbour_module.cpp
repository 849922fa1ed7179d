// A healthy module, in one pack with the bad one: runs the outermost loop in parallel where that is right.
#include <tunesmith/analysis/blocks.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class NeighbourModule final : public TransformationModule {
 public:
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& /*context*/) override {
    const BlockRV block = schedule.get_block(name);
    if (!is_trivially_bound(schedule.block(block)))
      return ModuleResult::not_applicable("the block has been scheduled before");
    schedule.parallel(schedule.get_loops(block).front());
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(NeighbourModule, PluginKind::Module, "neighbour_module", "1.0.0",
                 "runs the outermost loop in parallel");

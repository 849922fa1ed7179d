// Moves the init of every reduction before its outermost reduction
// loop, so that the reduction's loops only accumulate. If that is
// illegal (for repeated instances, say) the init stays in its block.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class RewriteReductionInit final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/,
                     ModuleContext& /*context*/) override {
    bool applied = false;
    for (const BlockFacts& reduction : schedule.blocks()) {
      if (!reduction.has_init) continue;
      const BlockRV block = schedule.get_block(reduction.name);
      const std::vector<LoopRV> loops = schedule.get_loops(block);
      const std::vector<LoopFacts> facts = schedule.loops_of(block);
      for (size_t i = 0; i < loops.size(); ++i) {
        if (!facts[i].use.reduction) continue;
        try {
          schedule.decompose_reduction(block, loops[i]);
          applied = true;
        } catch (const ScheduleError&) {  // NOLINT(bugprone-empty-catch): the schedule is as it was
        }
        break;
      }
    }
    if (!applied) return ModuleResult::not_applicable("no reduction has an initialisation of its own");
    return ModuleResult::applied(std::move(schedule));
  }
};

}  // namespace

TUNESMITH_PLUGIN(RewriteReductionInit, PluginKind::Module, "rewrite_reduction_init", "0.1.0",
                 "finishing: split the initialisation off every reduction");

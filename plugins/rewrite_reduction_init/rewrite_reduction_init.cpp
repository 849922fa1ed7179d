// Splits the initialisation off every reduction, in front of its outermost reduction loop, so that the
// reduction's own loops only accumulate. Where that is not legal (instances that run again, say) the
// initialisation stays in its block.
#include <tunesmith/analysis/blocks.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class RewriteReductionInit final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/,
                     ModuleContext& /*context*/) override {
    bool applied = false;
    for (const std::string& name : reductions(schedule.program())) {
      const BlockRV block = schedule.get_block(name);
      for (const LoopRV& loop : schedule.get_loops(block)) {
        if (!use_of(schedule.loop(loop), schedule.block(block)).reduction) continue;
        try {
          schedule.decompose_reduction(block, loop);
          applied = true;
        } catch (const ScheduleError&) {  // NOLINT(bugprone-empty-catch): the schedule is as it was
        }
        break;
      }
    }
    if (!applied) return ModuleResult::not_applicable("no reduction has an initialisation of its own");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  static std::vector<std::string> reductions(const Program& program) {
    std::vector<std::string> names;
    for (const Block* block : program.blocks()) {
      if (block->init() != nullptr) names.push_back(block->name);
    }
    return names;
  }
};

}  // namespace

TUNESMITH_PLUGIN(RewriteReductionInit, PluginKind::Module, "rewrite_reduction_init", "0.1.0",
                 "finishing: split the initialisation off every reduction");

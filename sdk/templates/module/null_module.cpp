// A transformation module that transforms nothing: a start for your own. The interface is documented in
// <tunesmith/stable/module.h>, the instructions of schedules in <tunesmith/stable/primitives.h>.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class NullModule final : public TransformationModule {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullModule(const Options& options) : max_factor_(options.get_int("max_factor")) {}

  // Block: called for every block while the space is built. Root: once for each sketch, at the root.
  // Finishing: once for each candidate; its instructions follow a marker in the trace, and search does not
  // mutate them.
  ModuleStage stage() const override { return ModuleStage::Block; }

  // Called from several threads concurrently: keep no state between calls. Sample the decisions of the search
  // (schedule.sample_...), and transform through the schedule, which refuses illegal transformations.
  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& /*context*/) override {
    const BlockRV block = schedule.get_block(block_name);
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    // A constant sentence: `tunesmith spaces explain` counts and prints it.
    if (loops.empty() || max_factor_ == 1) return ModuleResult::not_applicable("there is nothing to split");
    // Here: sample, transform, and `return ModuleResult::applied(std::move(schedule));`
    return ModuleResult::not_applicable("this module transforms nothing yet");
  }

 private:
  int64_t max_factor_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullModule, PluginKind::Module, "null_module", "0.1.0", "transforms nothing",
                 OptionSpec::integer("max_factor", 8, 1, 64, "largest factor that may be sampled"));

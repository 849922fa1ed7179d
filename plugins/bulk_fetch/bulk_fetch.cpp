// Turns blocks annotated with `bulk_fetch` into bulk copies, each with the largest tile that divides the
// candidate's fetched region.
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/bulk_copy.h>

namespace {

using namespace tunesmith;

constexpr const char* kAnnotation = "bulk_fetch";

class BulkFetch final : public TransformationModule {
 public:
  explicit BulkFetch(const Options& options) : unit_(options.get_string("unit")) {}

  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleDescription description() const override { return {.consumes = {kAnnotation}}; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    std::vector<std::string> names;
    for (const BlockFacts& block : schedule.blocks()) {
      if (schedule.annotation(block.id, kAnnotation)) names.push_back(block.name);
    }
    if (names.empty()) return ModuleResult::not_applicable("no block is annotated to be copied in bulk");
    const std::vector<TensorIntrinsic> unit = context.intrinsics(unit_);
    for (const std::string& name : names) {
      const BlockRV copy = schedule.get_block(name);
      schedule.unannotate(copy, kAnnotation);
      tensorize_bulk_copy(schedule, copy, unit);
    }
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  std::string unit_;
};

}  // namespace

TUNESMITH_PLUGIN(BulkFetch, PluginKind::Module, "bulk_fetch", "0.1.0",
                 "finishing: make annotated copies by bulk copies of a unit",
                 OptionSpec::string("unit", "", "the extension whose bulk copies are taken"));

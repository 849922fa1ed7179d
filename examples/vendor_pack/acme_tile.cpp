// Tiles products for the Acme matrix unit: two levels of every loop, the inner parts innermost and no larger
// than the unit.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/schedule/analysis.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class AcmeTile final : public TransformationModule {
 public:
  explicit AcmeTile(const Options& options) : unit_(static_cast<int>(options.get_int("unit"))) {}

  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    if (!needs_tiling(*schedule.program().find_block(name)))
      return ModuleResult::not_applicable("the block is no product");
    const BlockRV block = schedule.get_block(name);
    std::vector<LoopRV> order;
    std::vector<LoopRV> inner;
    for (const LoopRV& loop : schedule.get_loops(block)) {
      const std::vector<IntRV> factors = schedule.sample_perfect_tile(loop, 2, unit_);
      const std::vector<LoopRV> parts = schedule.split(loop, {factors.begin(), factors.end()});
      order.push_back(parts[0]);
      inner.push_back(parts[1]);
    }
    order.insert(order.end(), inner.begin(), inner.end());
    schedule.reorder(order);
    context.claim(name, "tiled for the Acme matrix unit");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  int unit_;
};

}  // namespace

TUNESMITH_PLUGIN(AcmeTile, PluginKind::Module, "acme_tile", "1.0.0", "tile products for the Acme matrix unit",
                 OptionSpec::integer("unit", 16, 1, 64, "rows and columns of the matrix unit"));

// Gives products of matrices to a matrix unit: the intrinsics of an extension as tensor_core.yaml.
#include <tunesmith/analysis/blocks.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>
#include <tunesmith/tiling/group_tiling.h>

namespace {

using namespace tunesmith;

class TensorCore final : public TransformationModule {
 public:
  explicit TensorCore(const Options& options)
      : unit_(options.get_string("unit")), pad_(options.get_bool("pad")) {}

  ModuleDescription description() const override {
    return {.makes = {"cooperative_fetch"}, .partners = {"cooperative_fetch"}};
  }

  /// What the unit cannot do, as another type, tile_for_groups refuses, and the module declines.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    const GroupTiling warps{.unit = context.intrinsics(unit_),
                            .launch_axis = "block.x",
                            .group_axis = "warp.x",
                            .shared_scope = "shared",
                            .held_scope = "fragment",
                            .piece_bytes = pad_ ? 16 : 0};
    if (warps.unit.empty()) return ModuleResult::not_applicable("there is no such unit");
    if (!needs_tiling(*schedule.program().find_block(name)))
      return ModuleResult::not_applicable("the block is no product of matrices");
    const BlockRV call = tile_for_groups(schedule, name, warps);
    context.claim(schedule.block(call).name, "it runs on Tensor Cores");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  std::string unit_;
  bool pad_;
};

}  // namespace

TUNESMITH_PLUGIN(TensorCore, PluginKind::Module, "tensor_core", "0.1.0", "give products to Tensor Cores",
                 OptionSpec::string("unit", "tensor_core", "extension whose intrinsics have its name"),
                 OptionSpec::boolean("pad", true, "pad rows in shared memory; else another module may"));

// Gives products of matrices to the matrix unit of warpgroups: the intrinsics of hopper.yaml. Each number of
// columns of a call is a sketch, and one more where boxes of the factors can be copied in bulk.
#include <fmt/format.h>

#include <tunesmith/analysis/accesses.h>
#include <tunesmith/analysis/blocks.h>
#include <tunesmith/analysis/schedule_error.h>
#include <tunesmith/ir/annotation_keys.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>
#include <tunesmith/tiling/group_tiling.h>

namespace {

using namespace tunesmith;

class Hopper final : public TransformationModule {
 public:
  explicit Hopper(const Options& options)
      : columns_(options.get_ints("columns")), stages_(options.get_ints("stages")) {
    if (columns_.empty()) options.fail("columns", "expected at least one number of columns");
    if (stages_.empty()) options.fail("stages", "expected at least one number of steps");
  }

  /// Of boxes, bulk_fetch makes the calls; it has to be told the unit, so nobody brings it.
  ModuleDescription description() const override {
    return {.makes = {"cooperative_fetch", "bulk_fetch", kSoftwarePipeline},
            .partners = {"cooperative_fetch"}};
  }

  /// What the unit cannot do, as another type, tile_for_groups refuses, and the module declines.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    const Block& product = *schedule.program().find_block(name);
    if (!context.has_extension("hopper")) return ModuleResult::not_applicable("there is no such unit");
    if (!needs_tiling(product) || read_accesses(product).empty())
      return ModuleResult::not_applicable("the block is no product of matrices");
    const std::string type = read_accesses(product).front().buffer->dtype.str();
    std::vector<Schedule> sketches;
    std::string without_boxes;
    for (const int64_t columns : columns_) {
      const auto intrinsic = [&](const char* what) {
        return fmt::format("hopper_{}{}_{}", columns, what, type);
      };
      GroupTiling warpgroups{.product = intrinsic(""),
                             .loads = {},
                             .zero = intrinsic("_zero"),
                             .store = intrinsic("_store"),
                             .launch_axis = "block.x",
                             .group_axis = "warpgroup.x",
                             .shared_scope = "shared",
                             .held_scope = "accumulator",
                             .panel = 64};
      const auto add_sketch = [&] {
        Schedule sketch = schedule.clone();
        const BlockRV call = tile_for_groups(sketch, name, warpgroups);
        context.claim(sketch.block(call).name, "it runs on the matrix unit of warpgroups");
        sketches.push_back(std::move(sketch));
      };
      add_sketch();
      warpgroups.bulk = context.intrinsics("hopper");
      warpgroups.stages = stages_;
      try {
        add_sketch();
      } catch (const ScheduleError& refusal) {
        without_boxes += fmt::format("{}{} columns without boxes: {}", without_boxes.empty() ? "" : "; ",
                                     columns, refusal.reason());
      }
    }
    return ModuleResult::applied(std::move(sketches), without_boxes);
  }

 private:
  std::vector<int64_t> columns_, stages_;
};

}  // namespace

TUNESMITH_PLUGIN(Hopper, PluginKind::Module, "hopper", "0.2.0",
                 "give products to the matrix unit of warpgroups",
                 OptionSpec::integers("columns", {128, 256}, 128, 256,
                                      "columns of what a call computes; each is a sketch"),
                 OptionSpec::integers("stages", {2, 3, 4, 5, 6}, 2, 16,
                                      "choices for the steps that are under way at once where a producer "
                                      "copies boxes"));

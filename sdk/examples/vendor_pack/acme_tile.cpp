// Maps matrix products to the Acme unit: packs B in panels of 16 columns, of which the unit takes 4 rows at a
// time.
#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class AcmeTile final : public TransformationModule {
 public:
  explicit AcmeTile(const Options& options) : max_rows_(options.get_int("max_rows")) {}

  /// The module declines where tensorize refuses: for another type, or extents that are not multiples.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    const Block& product = *schedule.program().find_block(name);
    if (!needs_tiling(product) || product.iters().size() != 4)
      return ModuleResult::not_applicable("the block is no batch of products");
    const BlockRV block = schedule.get_block(name);
    const BlockRV panels = schedule.cache_read(block, 1, "global");
    schedule.transform_layout(block, "read", 1, "(b, k, j) -> (b, j // 16, k, j % 16)");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const std::vector<IntRV> rows = schedule.sample_perfect_tile(loops[1], 2, max_rows_);
    const std::vector<LoopRV> i = schedule.split(loops[1], {rows[0], rows[1]});
    const std::vector<LoopRV> j = schedule.split(loops[2], {std::nullopt, 16});
    const std::vector<LoopRV> k = schedule.split(loops[3], {std::nullopt, 4});
    schedule.reorder({loops[0], i[0], j[0], k[0], i[1], j[1], k[1]});
    schedule.decompose_reduction(block, k[0]);
    const BlockRV unit = schedule.tensorize(j[1], "acme_row_16x4");
    schedule.unroll(i[1]);
    context.claim(schedule.block(unit).name, "it runs on the Acme unit");
    context.claim(schedule.block(panels).name, "the unit's panels are laid out before it runs");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  int64_t max_rows_;
};

}  // namespace

TUNESMITH_PLUGIN(AcmeTile, PluginKind::Module, "acme_tile", "1.0.0", "give products to the Acme unit",
                 OptionSpec::integer("max_rows", 8, 1, 64, "rows that take a panel's steps together"));

// Maps matrix products to AMX: up to 2 x 2 tiles of sums stay in registers, A in place; B is packed in tiles.
#include <tunesmith/stable/module.h>

namespace {
using namespace tunesmith;
class AmxTile final : public TransformationModule {
 public:
  explicit AmxTile(const Options& /*options*/) {}
  /// Tensorize refuses other types, and extents that are not multiples of the tile; the module then declines.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    const Block& product = *schedule.program().find_block(name);
    if (!needs_tiling(product) || product.iters().size() != 4)
      return ModuleResult::not_applicable("the block is no batch of products");
    const bool is_bf16 = read_accesses(product).front().buffer->dtype == kBF16;
    const std::string of = is_bf16 ? "bf16" : "int8", pack = is_bf16 ? "2" : "4";
    const BlockRV block = schedule.get_block(name);
    const BlockRV tiles = schedule.cache_read(block, 1, "global");
    schedule.transform_layout(block, "read", 1,
                              "(b, k, j) -> (b, j // 16, k // " + pack + ", j % 16, k % " + pack + ")");
    const BlockRV out = schedule.cache_write(block, 0, "local");
    schedule.transform_layout(block, "write", 0, "(b, i, j) -> (b, i // 16, j // 16, i % 16, j % 16)");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const std::vector<LoopRV> i = schedule.split(loops[1], {std::nullopt, 16});
    const std::vector<LoopRV> j = schedule.split(loops[2], {std::nullopt, 16});
    const std::vector<LoopRV> k = schedule.split(loops[3], {std::nullopt, 16, is_bf16 ? 2 : 4});
    const auto tiles_of = [&](LoopRV loop) {
      const std::vector<IntRV> extents = schedule.sample_perfect_tile(loop, 2, 2);
      return schedule.split(loop, {extents[0], extents[1]});
    };
    const std::vector<LoopRV> it = tiles_of(i[0]), jt = tiles_of(j[0]);
    schedule.reorder({loops[0], it[0], jt[0], k[0], it[1], jt[1], i[1], j[1], k[1], k[2]});
    schedule.reverse_compute_at(out, jt[0]);
    const BlockRV zero = schedule.decompose_reduction(block, k[0]);
    const std::vector<LoopRV> o = schedule.get_loops(out);
    const std::vector<LoopRV> oi = schedule.split(o[3], {std::nullopt, 16});
    const std::vector<LoopRV> oj = schedule.split(o[4], {std::nullopt, 16});
    schedule.reorder({oi[0], oj[0], oi[1], oj[1]});
    const BlockRV unit = schedule.tensorize(i[1], "amx_dot_" + of);
    schedule.tensorize(schedule.get_loops(zero)[5], "amx_zero_" + of);
    const BlockRV stored = schedule.tensorize(oi[1], "amx_store_" + of);
    for (const LoopRV& loop : {it[1], jt[1], oi[0], oj[0]}) schedule.unroll(loop);
    for (const BlockRV& one : {unit, stored}) context.claim(schedule.block(one).name, "it runs on AMX");
    context.claim(schedule.block(tiles).name, "B is laid out for AMX");
    return ModuleResult::applied(std::move(schedule));
  }
};
}  // namespace

TUNESMITH_PLUGIN(AmxTile, PluginKind::Module, "amx_tile", "1.0.0", "give products to AMX");

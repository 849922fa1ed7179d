// Maps products of matrices to a matrix unit, by the intrinsics of an extension such as tensor_core.yaml. All
// threads of a block copy tiles of the factors to shared memory; warps load fragments, multiply, and store
// their sums.
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/group_tiles.h>
#include <tunesmith/tiling/layout.h>
#include <tunesmith/tiling/unit_intrinsics.h>

namespace {

using namespace tunesmith;

constexpr const char* kLaunchAxis = "block.x";
constexpr const char* kGroupAxis = "warp.x";
constexpr const char* kShared = "shared";
constexpr const char* kHeld = "fragment";
constexpr int64_t kMaxTiles = 4;  // intrinsic tiles per warp along one dimension
/// The intrinsics load rows of shared memory in pieces of this many bytes.
constexpr int64_t kPieceBytes = 16;

/// Blocks around the product.
struct Copies {
  std::vector<BlockRV> shared, held;  // copies of the factors
  BlockRV sums, result;
};

UnitIntrinsics intrinsics_for(const Schedule& schedule, BlockRV block, const MatrixForm& form,
                              const std::vector<TensorIntrinsic>& unit) {
  const std::vector<Access> reads = schedule.read_accesses(block);
  const auto type = [&](size_t factor) {
    return reads.at(static_cast<size_t>(form.reads[factor])).buffer->dtype;
  };
  const ProductTypes types{schedule.writes_of(block).front().buffer->dtype, {type(0), type(1)}};
  const std::optional<UnitIntrinsics> chosen =
      choose_intrinsics(unit, types, form.reduction_last, kHeld, kShared);
  if (!chosen) refuse_block(schedule, block, "tile_for_groups", "the unit has no product of these types");
  return *chosen;
}

Copies make_copies(Schedule& schedule, BlockRV block, const MatrixForm& form, const UnitIntrinsics& unit) {
  const ProductPadding padding = pad_product(schedule, block, *unit.product);
  Copies copies;
  copies.result = result_writer(schedule, block, form, padding.of_result, kShared);
  copies.sums = schedule.cache_write(block, 0, kHeld);
  for (const size_t factor : {0U, 1U}) {
    const bool lies = form.reduction_last[factor];
    const bool taken = takes_reduction_last(*unit.product, factor);
    const bool shared = taken != exchanges_dimensions(*unit.loads[factor]);
    copies.shared.push_back(copy_factor(schedule, block, form, factor, kShared, {lies, shared, lies}));
    copies.held.push_back(copy_factor(schedule, block, form, factor, kHeld, {shared, taken, taken}));
  }
  inline_blocks(schedule, form.copies);
  inline_blocks(schedule, padding.copies);
  return copies;
}

/// Makes the tiles held by warps contiguous, as well as tiles in shared memory whose rows
/// would otherwise be misaligned for the intrinsic; spaces out other rows of shared memory.
void lay_out(Schedule& schedule, BlockRV block, const Copies& copies, const UnitIntrinsics& unit, bool pad) {
  lay_in_tiles(schedule, block, unit.product->operands.front().buffer->shape);
  if (pad) space_out_rows(schedule, copies.sums, kPieceBytes);
  for (const size_t factor : {0U, 1U}) {
    const std::vector<TensorOperand>& operands = unit.loads[factor]->operands;
    const BufferNode& from = *operands[1].buffer;
    lay_in_tiles(schedule, copies.held[factor], operands[0].buffer->shape);
    if (from.shape.back() * from.dtype.bytes() % operands[1].alignment != 0) {
      lay_in_tiles(schedule, copies.shared[factor], from.shape);
    } else if (pad) {
      space_out_rows(schedule, copies.shared[factor], kPieceBytes);
    }
  }
}

/// Annotates copies by all threads with the number of elements per access.
void annotate_fetches(Schedule& schedule, const Copies& copies) {
  for (const BlockRV& copy : {copies.shared[0], copies.shared[1], copies.result})
    schedule.annotate(copy, "cooperative_fetch", sample_one_of(schedule, {1, 2, 4, 8}));
}

/// Returns the block that calls the product. Throws ScheduleError, with the schedule half
/// changed, if the block is no product of matrices, or the unit does not support its types.
BlockRV give_to_warps(Schedule& schedule, const std::string& name, const std::vector<TensorIntrinsic>& all,
                      bool pad) {
  const BlockRV block = schedule.get_block(name);
  const MatrixForm form = bring_to_matrix_form(schedule, block);
  const UnitIntrinsics unit = intrinsics_for(schedule, block, form, all);
  const Copies copies = make_copies(schedule, block, form, unit);
  lay_out(schedule, block, copies, unit, pad);
  annotate_fetches(schedule, copies);
  GroupTiles tiles = tile_for_groups(schedule, block, *unit.product, kMaxTiles);
  begin_with_zero(schedule, block, tiles, *unit.zero, kGroupAxis);
  cut_steps(schedule, tiles, kMaxTiles);
  for (const size_t factor : {0U, 1U}) {
    schedule.compute_at(copies.held[factor], tiles.steps.loops[1]);
    schedule.compute_at(copies.shared[factor], tiles.steps.loops[0]);
  }
  schedule.reverse_compute_at(copies.sums, tiles.columns.loops[0]);
  schedule.reverse_compute_at(copies.result, tiles.columns.loops[0]);
  bind_groups(schedule, tiles, kLaunchAxis, kGroupAxis);
  for (const size_t factor : {0U, 1U}) tensorize_tiles(schedule, copies.held[factor], *unit.loads[factor]);
  store_sums(schedule, copies.sums, tiles, *unit.product, *unit.store, kGroupAxis);
  return schedule.tensorize(tiles.tile, unit.product->name);
}

class TensorCore final : public TransformationModule {
 public:
  explicit TensorCore(const Options& options)
      : unit_(options.get_string("unit")), pad_(options.get_bool("pad")) {}

  ModuleDescription description() const override {
    return {.makes = {"cooperative_fetch", "tile_columns", "tile_group"}, .partners = {"cooperative_fetch"}};
  }

  /// If the unit does not support the block (another type), a primitive throws and the module declines.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    const std::vector<TensorIntrinsic> unit = context.intrinsics(unit_);
    if (unit.empty()) return ModuleResult::not_applicable("unknown unit");
    if (!needs_tiling(*schedule.program().find_block(name)))
      return ModuleResult::not_applicable("the block is not a matrix product");
    const BlockRV call = give_to_warps(schedule, name, unit, pad_);
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

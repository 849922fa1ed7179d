// Maps products of matrices to the matrix unit of warpgroups: the intrinsics of
// hopper.yaml, which read both factors from shared memory. Each number of columns per
// call is a sketch, and another one if boxes of the factors can be copied in bulk.
#include <string>
#include <utility>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/bulk_copy.h>
#include <tunesmith/tiling/group_tiles.h>
#include <tunesmith/tiling/layout.h>
#include <tunesmith/tiling/unit_intrinsics.h>

namespace {

using namespace tunesmith;

constexpr const char* kUnit = "hopper";
constexpr const char* kLaunchAxis = "block.x";
constexpr const char* kGroupAxis = "warpgroup.x";
constexpr const char* kThreadAxis = "thread.x";
constexpr const char* kShared = "shared";
constexpr const char* kHeld = "accumulator";
constexpr int64_t kMaxTiles = 4;     // intrinsic tiles per warpgroup along one dimension
constexpr int64_t kPieceBytes = 16;  // rows of sums begin at odd multiples of this
constexpr int64_t kRowBytes = 16;    // rows of tensors from which boxes are copied, at any
constexpr int64_t kPanel = 64;       // elements in a row of a factor in shared memory

/// Boxes of the factors, fetched by a separate producer.
struct Boxes {
  std::vector<TensorIntrinsic> unit;
  std::vector<int64_t> stages;  // choices for the number of steps in flight
};

/// One sketch, with this number of columns per call. `boxes`: null if all threads fetch the factors.
class Warpgroups {
 public:
  Warpgroups(Schedule& schedule, const std::string& block, int64_t columns, const Boxes* boxes)
      : schedule_(schedule), block_(schedule.get_block(block)), columns_(columns), boxes_(boxes) {}

  /// Returns the block that calls the product. Throws ScheduleError, with the
  /// schedule half changed, if the block is no product of matrices, the unit
  /// does not support its types, or boxes cannot fetch a factor in its layout.
  BlockRV run() {
    const std::string type = schedule_.read_accesses(block_).front().buffer->dtype.str();
    const MatrixForm form = bring_to_matrix_form(schedule_, block_);
    const TensorIntrinsic product = intrinsic(order_of(form), type);
    make_copies(form, product);
    lay_out(product);
    annotate_fetches();
    GroupTiles tiles = tile_for_groups(schedule_, block_, product, kMaxTiles);
    if (boxes_ != nullptr && schedule_.facts(tiles.reduction).extent < 2)
      refuse("the reduction is one step, and a producer of its own has nothing to run ahead of");
    begin_with_zero(schedule_, block_, tiles, intrinsic("_zero", type), kGroupAxis);
    cut_steps(schedule_, tiles, kMaxTiles);
    for (const BlockRV& copy : shared_) schedule_.compute_at(copy, tiles.steps.loops[0]);
    if (boxes_ != nullptr)
      schedule_.software_pipeline(tiles.steps.loops[0], sample_one_of(schedule_, boxes_->stages));
    schedule_.reverse_compute_at(sums_, tiles.columns.loops[0]);
    schedule_.reverse_compute_at(result_, tiles.columns.loops[0]);
    bind_groups(schedule_, tiles, kLaunchAxis, kGroupAxis);
    store_sums(schedule_, sums_, tiles, product, intrinsic("_store", type), kGroupAxis);
    const BlockRV call = schedule_.tensorize(tiles.tile, product.name);
    if (boxes_ != nullptr) check_boxes();
    return call;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    refuse_block(schedule_, block_, "tile_for_groups", reason);
  }

  TensorIntrinsic intrinsic(const std::string& what, const std::string& type) const {
    const auto found =
        schedule_.intrinsic(std::string(kUnit) + "_" + std::to_string(columns_) + what + "_" + type);
    if (!found) refuse("an intrinsic is not there");
    return *found;
  }

  /// Factors are read as they lie: "_ka" where the reduction comes first in A, "_bk" where it is last in B.
  static std::string order_of(const MatrixForm& form) {
    return std::string(form.reduction_last[0] ? "" : "_ka") + (form.reduction_last[1] ? "_bk" : "");
  }

  void make_copies(const MatrixForm& form, const TensorIntrinsic& product) {
    const ProductPadding padding = pad_product(schedule_, block_, product);
    result_ = result_writer(schedule_, block_, form, padding.of_result, kShared);
    sums_ = schedule_.cache_write(block_, 0, kHeld);
    for (const int64_t read : form.reads) shared_.push_back(schedule_.cache_read(block_, read, kShared));
    inline_blocks(schedule_, form.copies);
    for (const BlockRV& copy : padding.copies)
      boxes_ == nullptr || has_rows_for_boxes(copy) ? schedule_.compute_inline(copy) : launch_by_rows(copy);
  }

  /// Neighbouring threads copy neighbouring elements, and no index is divided.
  void launch_by_rows(const BlockRV& copy) {
    std::vector<LoopRV> rows = schedule_.get_loops(copy);
    const std::vector<LoopRV> columns = schedule_.split(rows.back(), {std::nullopt, kPanel});
    rows.pop_back();
    schedule_.bind(rows.size() == 1 ? rows.front() : schedule_.fuse(rows), kLaunchAxis);
    schedule_.bind(columns[1], kThreadAxis);
  }

  /// Do rows of what the block reads begin where boxes may? If not, boxes are copied from what it writes.
  bool has_rows_for_boxes(const BlockRV& copy) const {
    const Buffer read = schedule_.read_accesses(copy).front().buffer;
    return read->shape.back() * read->dtype.bytes() % kRowBytes == 0;
  }

  void lay_out(const TensorIntrinsic& product) {
    lay_in_tiles(schedule_, block_, product.operands.front().buffer->shape);
    space_out_rows(schedule_, sums_, kPieceBytes);
    for (const BlockRV& copy : shared_) lay_in_panels(schedule_, copy, kPanel);
  }

  void annotate_fetches() {
    const auto share_out = [&](BlockRV copy) {
      schedule_.annotate(copy, "cooperative_fetch", sample_one_of(schedule_, {1, 2, 4, 8}));
    };
    for (const BlockRV& copy : shared_) {
      if (boxes_ != nullptr) {
        schedule_.annotate(copy, "bulk_fetch", int64_t{1});
      } else {
        share_out(copy);
      }
    }
    share_out(result_);
  }

  /// The calls are made when a candidate is finished: a loop is pipelined before its copies
  /// become calls, and their size depends on sampled decisions. Whether any exist does not.
  void check_boxes() const {
    Schedule trial = schedule_.clone();
    for (const BlockRV& copy : shared_) tensorize_bulk_copy(trial, copy, boxes_->unit);
  }

  Schedule& schedule_;
  const BlockRV block_;
  const int64_t columns_;
  const Boxes* boxes_;
  std::vector<BlockRV> shared_;  // copies of the factors
  BlockRV sums_, result_;        // copies of the result
};

class Hopper final : public TransformationModule {
 public:
  explicit Hopper(const Options& options)
      : columns_(options.get_ints("columns")), stages_(options.get_ints("stages")) {
    if (columns_.empty()) options.fail("columns", "expected at least one number of columns");
    if (stages_.empty()) options.fail("stages", "expected at least one number of steps");
  }

  /// bulk_fetch makes the calls for boxes; it needs the unit as an option, so it is no partner.
  ModuleDescription description() const override {
    return {.makes = {"cooperative_fetch", "bulk_fetch", "software_pipeline", "tile_columns", "tile_group"},
            .partners = {"cooperative_fetch"}};
  }

  /// If the unit does not support the block (another type), a primitive throws and the module declines.
  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    if (!context.has_extension(kUnit)) return ModuleResult::not_applicable("unknown unit");
    const Block product = *schedule.program().find_block(name);
    if (!needs_tiling(product) || read_accesses(product).empty())
      return ModuleResult::not_applicable("the block is not a matrix product");
    const Boxes boxes{context.intrinsics(kUnit), stages_};
    std::vector<Schedule> sketches;
    std::string without_boxes;
    for (const int64_t columns : columns_) {
      const auto add_sketch = [&](const Boxes* fetched) {
        Schedule sketch = schedule.clone();
        const BlockRV call = Warpgroups(sketch, name, columns, fetched).run();
        context.claim(sketch.block(call).name, "it runs on the matrix unit of warpgroups");
        sketches.push_back(std::move(sketch));
      };
      add_sketch(nullptr);
      try {
        add_sketch(&boxes);
      } catch (const ScheduleError& refusal) {
        without_boxes += (without_boxes.empty() ? "" : "; ") + std::to_string(columns) +
                         " columns without boxes: " + refusal.reason();
      }
    }
    return ModuleResult::applied(std::move(sketches), without_boxes);
  }

 private:
  std::vector<int64_t> columns_, stages_;
};

}  // namespace

TUNESMITH_PLUGIN(Hopper, PluginKind::Module, "hopper", "0.3.0",
                 "give products to the matrix unit of warpgroups",
                 OptionSpec::integers("columns", {128, 256}, 128, 256,
                                      "columns of what a call computes; each is a sketch"),
                 OptionSpec::integers("stages", {2, 3, 4, 5, 6}, 2, 16,
                                      "choices for the steps that are under way at once where a producer "
                                      "copies boxes"));

// Register tiles for contractions: products of matrices in any form, convolutions, capsules.
//
// A tile of some rows by some vectors of columns is accumulated in registers over the whole reduction, and
// written once, through the elementwise consumers. If a unit of the processor has instructions for it,
// additional sketches use them: a tile consists of a matrix unit's tiles, or of vectors of dot products.
// Sketches differ in the outermost loop and in where the operand that moves with the columns is packed into
// panels: nowhere, inside the loop over panels, or before the nest (ahead of calls if it is constant). Sizes
// are sampled.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/sampled_tiles.h>
#include <tunesmith/tiling/vector_lanes.h>

#include "fuse_rows.h"
#include "group.h"
#include "pad_for_unit.h"
#include "panels.h"
#include "plans.h"
#include "tile.h"
#include "tile_form.h"
#include "turn_columns.h"
#include "unit.h"
#include "use_unit.h"

namespace {

using namespace tunesmith;

/// Longer floating-point sums are computed in parts, since rounding errors grow with the number of terms.
constexpr int64_t kMaxTermsInOneSum = 1024;
constexpr int64_t kMaxTermsOfPart = 256;
constexpr int64_t kMinTermsOfPart = 128;

/// Statements of one tile that may be unrolled for a whole reduction.
constexpr int64_t kMaxWrittenOut = 512;

/// Several processors execute 512-bit vectors in two halves: three half vectors are then faster than two
/// vectors.
constexpr int64_t kMinBitsToHalve = 512;

/// Do whole vectors waste more than a ninth of their lanes, and half vectors none?
bool gains_by_halves(const TileForm& form, int64_t lanes) {
  const int64_t columns = form.group_columns;
  return columns > lanes && columns % lanes == lanes / 2 && columns < 4 * lanes;
}

class RegisterTile final : public TransformationModule {
 public:
  explicit RegisterTile(const Options& options)
      : sizes_{options.get_ints("row_tiles"), options.get_ints("column_vectors"), options.get_ints("steps"),
               options.get_ints("panel_vectors")},
        prefetches_(options.get_ints("prefetch_behind")),
        units_(options.get_strings("units")) {
    for (const char* name : {"row_tiles", "column_vectors", "steps", "panel_vectors"}) {
      if (options.get_ints(name).empty()) options.fail(name, "expected at least one number");
    }
  }

  ModuleDescription description() const override {
    if (!may_prefetch()) return {};
    return {.makes = {"prefetch_behind"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block block = *schedule.program().find_block(block_name);
    if (!needs_tiling(block))
      return ModuleResult::not_applicable("the block is no reduction that reuses what it reads");
    if (!is_trivially_bound(block))
      return ModuleResult::not_applicable("another module has transformed the block");
    if (loops_above(block).size() != block.iters().size())
      return ModuleResult::not_applicable("an iterator of the block has no loop of its own");
    TileForm form;
    if (const std::string reason = match_tile_form(block, &form); !reason.empty())
      return ModuleResult::not_applicable(reason);
    const SubjectsOf with_units = [&](const Block& tiled, const TileForm& its_form) {
      std::vector<Subject> subjects;
      for (const Unit& unit : find_units(tiled, its_form, context, units_))
        subjects.push_back({its_form, unit.lanes, unit});
      return subjects;
    };
    if (auto made = make(with_units, form, schedule, block, 0, context)) return std::move(*made);
    const auto full_bits = static_cast<int64_t>(context.device().get("vector_bits"));
    const int64_t full = vector_lanes(writes_of(block).front().buffer->dtype, full_bits);
    // A partial vector is masked; one with an odd number of elements is split.
    const auto filled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(form.group_columns)));
    const int64_t lanes =
        has_groups(form, block) ? std::gcd(full, form.group_columns) : std::min(full, filled);
    if (has_groups(form, block) && 2 * lanes < full)
      return ModuleResult::not_applicable("its groups of columns fill less than half a vector");
    const SubjectsOf of_vectors = [&](const Block& tiled, const TileForm& its_form) {
      std::vector<Subject> subjects{{its_form, lanes, {}}};
      if (!has_groups(its_form, tiled) && full_bits >= kMinBitsToHalve && gains_by_halves(its_form, lanes))
        subjects.push_back({.form = its_form, .lanes = lanes / 2, .unit = {}, .half = true});
      return subjects;
    };
    const bool is_narrow = !has_groups(form, block) && 2 * form.group_columns <= full;
    if (auto made = make(of_vectors, form, schedule, block, is_narrow ? full : 0, context))
      return std::move(*made);
    return ModuleResult::not_applicable("no tile of the block is legal");
  }

 private:
  bool may_prefetch() const { return std::ranges::find(prefetches_, 1) != prefetches_.end(); }

  /// The possible tilings of a block with this form.
  using SubjectsOf = std::function<std::vector<Subject>(const Block&, const TileForm&)>;

  /// Sketches for the block with its siblings or, if that is illegal, alone; nothing if neither
  /// is legal. `turned_lanes`: lanes of vectors along rows, for additional sketches; 0: none.
  std::optional<ModuleResult> make(const SubjectsOf& subjects_of, const TileForm& form,
                                   const Schedule& schedule, const Block& block, int64_t turned_lanes,
                                   ModuleContext& context) const {
    const Program program = schedule.program();
    const Processor processor = processor_of(context.device());
    std::vector<Group> groups{group_of(program, block)};
    if (const std::optional<Group> siblings = siblings_of(program, block))
      groups.insert(groups.begin(), *siblings);
    for (const Group& group : groups) {
      std::vector<Subject> subjects = subjects_of(block, form);
      Sketches made = sketches_with_fused_rows(subjects_of, form, schedule, group, processor);
      if (!made.schedules.empty()) std::erase_if(subjects, std::not_fn(is_of_matrix_unit));
      made.add(sketches_of(subjects, schedule, group, processor));
      if (turned_lanes > 0) made.add(turned_sketches(form, schedule, group, turned_lanes, processor));
      if (made.schedules.empty()) continue;
      for (const std::string& name : group.blocks) context.claim(name, "its register tile is made");
      for (const std::string& name : made.helpers) context.claim(name, "it serves a register tile");
      return ModuleResult::applied(std::move(made.schedules), std::move(made.refusal));
    }
    return std::nullopt;
  }

  struct Sketches {
    std::vector<Schedule> schedules;
    std::set<std::string> helpers;  // names of blocks that copy panels or add partial sums
    std::string refusal;            // why there are no more sketches

    void add(Sketches more) {
      schedules.insert(schedules.end(), std::make_move_iterator(more.schedules.begin()),
                       std::make_move_iterator(more.schedules.end()));
      helpers.merge(more.helpers);
      if (!more.refusal.empty()) refusal = std::move(more.refusal);
    }
  };

  static bool is_of_matrix_unit(const Subject& subject) {
    return subject.unit && subject.unit->is_matrix_unit();
  }

  /// Empty if no rows can be fused, or for matrix units:
  /// fused rows cannot be proved to have a constant stride.
  Sketches sketches_with_fused_rows(const SubjectsOf& subjects_of, const TileForm& form, const Schedule& base,
                                    const Group& group, const Processor& processor) const {
    Group fused = group;
    const std::optional<Schedule> schedule = fuse_rows(base.clone(), fused, form);
    if (!schedule) return {};
    const Block block = *schedule->program().find_block(fused.blocks.front());
    TileForm of_fused;
    match_tile_form(block, &of_fused);
    std::vector<Subject> subjects = subjects_of(block, of_fused);
    std::erase_if(subjects, is_of_matrix_unit);
    return sketches_of(subjects, *schedule, fused, processor);
  }

  /// Empty if rows and columns cannot be exchanged.
  Sketches turned_sketches(const TileForm& form, const Schedule& base, const Group& group, int64_t lanes,
                           const Processor& processor) const {
    Group turned = group;
    const std::optional<Schedule> schedule = turn_columns(base.clone(), turned, form, lanes);
    if (!schedule) return {};
    Subject subject;
    subject.lanes = lanes;
    subject.turned = true;
    match_tile_form(*schedule->program().find_block(turned.blocks.front()), &subject.form);
    return sketches_of({subject}, *schedule, turned, processor);
  }

  /// The legal ones: a copy, for example, may be larger than its source.
  Sketches sketches_of(const std::vector<Subject>& subjects, const Schedule& base, const Group& group,
                       const Processor& processor) const {
    Sketches made;
    for (const Subject& subject : subjects) {
      for (const Plan& plan : plans_for(subject, base.program(), group, sizes_, processor)) {
        std::vector<std::string> helpers;
        try {
          made.schedules.push_back(sketch(subject, base, group, plan, &helpers));
          made.helpers.insert(helpers.begin(), helpers.end());
        } catch (const ScheduleMisuse&) {
          throw;
        } catch (const ScheduleError& refused) {
          made.refusal = refused.reason();
        }
      }
    }
    return made;
  }

  /// `helpers`: receives the names of the additional blocks.
  Schedule sketch(const Subject& subject, const Schedule& base, const Group& group, const Plan& plan,
                  std::vector<std::string>* helpers) const {
    Schedule schedule = base.clone();
    std::vector<BlockRV> blocks;
    for (const std::string& name : group.blocks) {
      blocks.push_back(schedule.get_block(name));
      if (plan.in_place) inline_padding(schedule, blocks.back());
    }
    const int64_t width = plan.sizes.vectors.front() * subject.lanes;  // of a panel
    std::optional<BlockRV> writer;
    const bool padded = is_padded(schedule.block(blocks.front()), subject, width);
    if (padded) {
      if (blocks.size() > 1) throw ScheduleError("register_tile", "siblings are not padded", "");
      writer = pad_for_unit(schedule, blocks.front(), subject, width);
    }
    const TileShape shape = draw_shape(subject, schedule, blocks.front(), plan);
    const TileNest nest = make_tiles(schedule, blocks, shape);
    std::vector<BlockRV> copies;
    if (!plan.blocks)
      copies = write_through(schedule, blocks, group.reader, writer, nest, is_of_matrix_unit(subject));
    else if (group.reader)
      schedule.reverse_compute_at(schedule.get_block(*group.reader),
                                  schedule.get_loops(blocks.front()).at(nest.columns));
    // A masked vector of results overlaps the next row if that follows directly, and would stay in memory.
    const bool masked = !subject.unit && subject.form.group_columns % subject.lanes != 0;
    for (const BlockRV block : blocks) {
      if (masked) schedule.storage_align(block, 0, -2, subject.lanes, 0);
    }
    if (plan.order == ColumnOrder::Blocks && !plan.in_place)
      pad_blocks(schedule, blocks.front(), nest, helpers);
    for (const BlockRV block : blocks) {
      if (plan.packing != Packing::None) pack(schedule, block, plan, nest, shape, padded, helpers);
      if (subject.unit) use_unit(schedule, block, nest, shape, *subject.unit);
    }
    for (const BlockRV copy : copies) {
      if (subject.unit) store_tiles(schedule, copy, nest, *subject.unit);
    }
    if (shape.part > 0) {
      for (BlockRV& block : blocks) {
        block = sum_in_parts(schedule, block, shape, nest);
        if (masked) schedule.storage_align(block, 0, -2, subject.lanes, 0);
        helpers->push_back(schedule.block(block).name);
      }
    }
    if (plan.packing == Packing::Ahead && plan.order == ColumnOrder::Outermost && !subject.unit &&
        nest.steps > 0)
      prefetch_panels(schedule, blocks, nest);
    return schedule;
  }

  /// Prefetches the next panel while tile after tile reads the current one.
  void prefetch_panels(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileNest& nest) const {
    if (!may_prefetch()) return;
    const IntArg choice = draw(schedule, prefetches_);
    for (const BlockRV block : blocks) {
      const LoopRV steps = schedule.get_loops(block).at(nest.loops + nest.steps - 1);
      std::visit([&](auto wanted) { schedule.annotate(steps, "prefetch_behind", wanted); }, choice);
    }
  }

  static void pack(Schedule& schedule, BlockRV block, const Plan& plan, const TileNest& nest,
                   const TileShape& shape, bool padded, std::vector<std::string>* helpers) {
    for (const BlockRV copy : copy_into_panels(schedule, block)) {
      if (padded) inline_padded_operand(schedule, copy);
      if (plan.packing == Packing::Inside) {
        schedule.compute_at(copy, schedule.get_loops(block).at(nest.columns));
        copy_in_squares(schedule, copy, nest.columns + 1);
      } else if (plan.blocks) {
        lay_blocks_of_panels(schedule, copy, plan.sizes.vectors.front() * shape.lanes, plan.blocks->panels,
                             plan.blocks->terms);
      } else if (plan.packing == Packing::Ahead) {
        lay_panel_by_panel(schedule, copy, plan.sizes.vectors.front() * shape.lanes, shape.depth);
      }
      helpers->push_back(schedule.block(copy).name);
    }
  }

  /// Padding is copied for one block of columns at a time: neighbours in a buffer of many columns fall into
  /// few sets of the caches.
  static void pad_blocks(Schedule& schedule, BlockRV block, const TileNest& nest,
                         std::vector<std::string>* helpers) {
    for (const std::string& name : padding_of(schedule.program(), schedule.block(block))) {
      schedule.compute_at(schedule.get_block(name), schedule.get_loops(block).at(nest.columns));
      helpers->push_back(name);
    }
  }

  static void inline_padding(Schedule& schedule, BlockRV block) {
    for (const std::string& name : padding_of(schedule.program(), schedule.block(block)))
      schedule.compute_inline(schedule.get_block(name));
  }

  /// Keeps results in registers until the tile is complete; the group's reader, or copies, which are
  /// returned, write them. An elementwise reader of a matrix unit's result reads a copy in memory, since
  /// accesses of other shapes would keep the result out of the unit's registers.
  static std::vector<BlockRV> write_through(Schedule& schedule, const std::vector<BlockRV>& blocks,
                                            const std::optional<std::string>& reader,
                                            const std::optional<BlockRV>& writer, const TileNest& nest,
                                            bool matrix_unit) {
    const LoopRV tile = schedule.get_loops(blocks.front()).at(nest.loops - 1);
    std::vector<BlockRV> copies;
    for (const BlockRV block : blocks) {
      if ((writer || reader) && !matrix_unit) {
        schedule.set_scope(block, 0, "local");
      } else {
        copies.push_back(schedule.cache_write(block, 0, "local"));
        schedule.reverse_compute_at(copies.back(), tile);
      }
    }
    if (writer)
      schedule.reverse_compute_at(*writer, tile);
    else if (reader)
      schedule.reverse_compute_at(schedule.get_block(*reader), tile);
    return copies;
  }

  TileShape draw_shape(const Subject& subject, Schedule& schedule, BlockRV block, const Plan& plan) const {
    const TileForm& form = subject.form;
    const std::vector<IterVar> iters = schedule.block(block).iters();
    TileShape shape;
    if (subject.unit) {
      shape.unit_rows = subject.unit->rows;
      shape.unit_steps = subject.unit->steps;
      shape.depth = subject.unit->depth;
    }
    shape.order = plan.order;
    shape.lanes = subject.lanes;
    shape.outer_rows = draw(schedule, plan.sizes.outer_rows);
    shape.rows = draw(schedule, plan.sizes.rows);
    shape.vectors = draw(schedule, plan.sizes.vectors);
    if (form.separate_columns) shape.whole_reductions = written_out(form, iters, plan.sizes);
    if (shape.whole_reductions > 0) return shape;
    if (plan.blocks) shape.panels_of_block = plan.blocks->panels;
    if (!subject.unit)
      shape.part = plan.blocks ? plan.blocks->terms : part_of_sum(schedule.block(block), form);
    const int64_t reduction =
        shape.part > 0 ? shape.part : iters[form.reductions.back()].extent / (shape.unit_steps * shape.depth);
    const std::vector<int64_t> steps =
        chosen(sizes_.steps, [&](int64_t count) { return reduction % count == 0; }, 1);
    if (steps.size() > 1 || steps.front() > 1) shape.steps = draw(schedule, steps);
    return shape;
  }

  /// The maximum length of equal parts of a sum; 0: the sum is not split.
  static int64_t part_of_sum(const Block& block, const TileForm& form) {
    const int64_t terms = block.iters()[form.reductions.back()].extent;
    if (form.reductions.size() > 1 || terms <= kMaxTermsInOneSum) return 0;
    if (!writes_of(block).front().buffer->dtype.is_float()) return 0;
    for (int64_t part = kMaxTermsOfPart; part >= kMinTermsOfPart; --part) {
      if (terms % part == 0) return part;
    }
    return 0;
  }

  /// Samples a decision if there are several choices.
  static IntArg draw(Schedule& schedule, const std::vector<int64_t>& choices) {
    if (choices.size() == 1) return choices.front();
    return sample_one_of(schedule, choices);
  }

  /// The number of innermost reductions that are unrolled completely.
  static size_t written_out(const TileForm& form, const std::vector<IterVar>& iters, const TileSizes& sizes) {
    int64_t statements = sizes.outer_rows.back() * sizes.rows.back() * sizes.vectors.back();
    size_t count = 0;
    while (count < form.reductions.size()) {
      statements *= iters[form.reductions[form.reductions.size() - 1 - count]].extent;
      if (statements > kMaxWrittenOut) break;
      ++count;
    }
    return count;
  }

  SizeOptions sizes_;
  std::vector<int64_t> prefetches_;
  std::vector<std::string> units_;
};

}  // namespace

TUNESMITH_PLUGIN(
    RegisterTile, PluginKind::Module, "register_tile", "0.1.0",
    "tile contractions for vector registers, with operands in panels",
    OptionSpec::integers("row_tiles", {4, 5, 6, 7, 8, 10, 12, 14}, 1, 64, "choices for the rows of a tile"),
    OptionSpec::integers("column_vectors", {1, 2, 3, 4}, 1, 16, "choices for the vectors in a row of a tile"),
    OptionSpec::integers("steps", {1, 2, 4, 8}, 1, 64,
                         "choices for the steps of the reduction that are written out"),
    OptionSpec::integers("panel_vectors", {2, 3, 4}, 1, 16,
                         "widths, in vectors, of panels that are laid ahead; sketches for each"),
    OptionSpec::integers("prefetch_behind", {0, 1}, 0, 1,
                         "choices for whether the next panel is fetched while one is read"),
    OptionSpec::strings("units", {}, {},
                        "extensions whose products a tile is made of where they compute the block's"));

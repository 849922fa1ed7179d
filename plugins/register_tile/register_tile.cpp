// Register tiles for contractions: products of matrices in any form, convolutions, capsules.
//
// A tile of some rows by some vectors of columns is accumulated in registers over the whole reduction, and
// written once, through what follows element by element. Sketches differ in which loop runs outermost and in
// where the operand that moves with the columns is laid into panels: nowhere, inside the loop over panels, or
// ahead (of the call, where it is constant). The sizes are sampled.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/sampled_tiles.h>
#include <tunesmith/tiling/vector_lanes.h>

#include "group.h"
#include "panels.h"
#include "tile.h"
#include "tile_form.h"
#include "unit.h"

namespace {

using namespace tunesmith;

enum class Packing { None, Inside, Ahead };

struct Plan {
  bool columns_outermost = true;
  Packing packing = Packing::None;
  int64_t panel = 0;      // columns in one, where packing is Ahead
  bool in_place = false;  // padding is read where it is
};

/// What the plans for a block have in common.
struct Subject {
  TileForm form;
  int64_t lanes = 1;  // of a vector of results
  std::optional<DotUnit> unit;
};

class RegisterTile final : public TransformationModule {
 public:
  explicit RegisterTile(const Options& options)
      : row_tiles_(options.get_ints("row_tiles")),
        column_vectors_(options.get_ints("column_vectors")),
        steps_(options.get_ints("steps")),
        panel_vectors_(options.get_ints("panel_vectors")),
        units_(options.get_strings("units")) {
    for (const char* name : {"row_tiles", "column_vectors", "steps", "panel_vectors"}) {
      if (options.get_ints(name).empty()) options.fail(name, "expected at least one number");
    }
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
    const std::optional<DotUnit> unit = find_unit(block, form, context, units_);
    if (unit) {
      if (auto made = make({form, unit->lanes, unit}, schedule, block, context)) return std::move(*made);
    }
    const int64_t lanes = std::min(vector_lanes(writes_of(block).front().buffer->dtype,
                                                static_cast<int64_t>(context.device().get("vector_bits"))),
                                   block.iters()[form.columns].extent);
    if (auto made = make({form, lanes, {}}, schedule, block, context)) return std::move(*made);
    return ModuleResult::not_applicable("no tile of the block is legal");
  }

 private:
  /// Of the block with its siblings or, where that is not legal, alone; nothing where neither is.
  std::optional<ModuleResult> make(const Subject& subject, const Schedule& schedule, const Block& block,
                                   ModuleContext& context) const {
    const Program program = schedule.program();
    std::vector<Group> groups{group_of(program, block)};
    if (const std::optional<Group> siblings = siblings_of(program, block))
      groups.insert(groups.begin(), *siblings);
    for (const Group& group : groups) {
      Sketches made = sketches_of(subject, schedule, group);
      if (made.schedules.empty()) continue;
      for (const std::string& name : group.blocks) context.claim(name, "its register tile is made");
      for (const std::string& name : made.copies) context.claim(name, "it copies into panels");
      return ModuleResult::applied(std::move(made.schedules), std::move(made.refusal));
    }
    return std::nullopt;
  }

  struct Sketches {
    std::vector<Schedule> schedules;
    std::set<std::string> copies;  // names of the blocks that lay panels
    std::string refusal;           // why there are not more of them
  };

  /// Those that are legal: a copy, for example, may be larger than what it copies.
  Sketches sketches_of(const Subject& subject, const Schedule& base, const Group& group) const {
    Sketches made;
    for (const Plan& plan : plans(subject, base.program(), group)) {
      std::vector<std::string> copies;
      try {
        made.schedules.push_back(sketch(subject, base, group, plan, &copies));
        made.copies.insert(copies.begin(), copies.end());
      } catch (const ScheduleMisuse&) {
        throw;
      } catch (const ScheduleError& refused) {
        made.refusal = refused.reason();
      }
    }
    return made;
  }

  std::vector<Plan> plans(const Subject& subject, const Program& program, const Group& group) const {
    bool can_pack = true;
    bool must_pack = subject.unit.has_value();
    bool constant = true;
    bool pads = false;
    for (const std::string& name : group.blocks) {
      const Block block = *program.find_block(name);
      for (const PackedRead& read : packed_reads(block, subject.form)) {
        can_pack = can_pack && read.plain;
        must_pack = must_pack || !read.in_order;
        constant = constant && read.buffer->constant;
      }
      pads = pads || !padding_of(program, block).empty();
    }
    const int64_t extent = program.find_block(group.blocks.front())->iters()[subject.form.columns].extent;
    // A call takes whole vectors, so that its panels divide the columns.
    const auto fits = [&](int64_t count) {
      return subject.unit ? extent % (count * subject.lanes) == 0 : count * subject.lanes <= extent;
    };
    const std::vector<int64_t> panels = chosen(panel_vectors_, fits, 1);
    std::vector<Plan> all;
    for (const bool in_place : {false, true}) {
      if (in_place && (!pads || subject.unit)) break;
      if (!must_pack) {
        all.push_back({true, Packing::None, 0, in_place});
        all.push_back({false, Packing::None, 0, in_place});
      }
      if (!can_pack) continue;
      if (!constant && !subject.unit) all.push_back({true, Packing::Inside, 0, in_place});
      for (const int64_t vectors : panels) {
        all.push_back({true, Packing::Ahead, vectors * subject.lanes, in_place});
        all.push_back({false, Packing::Ahead, vectors * subject.lanes, in_place});
      }
    }
    return all;
  }

  /// Producers that pad what the block alone reads: elements of a buffer, or a number.
  static std::vector<std::string> padding_of(const Program& program, const Block& block) {
    std::vector<std::string> names;
    for (const Pointer<Block>& producer : producers_of(program, block)) {
      if (!is_elementwise(*producer) || writes_output(program, *producer) ||
          consumers_of(program, *producer).size() != 1)
        continue;
      const Expr value = find_first<Store>(*producer)->value();
      if (value.is(ExprKind::Select) && value.arg(1).is(ExprKind::Load) &&
          (value.arg(2).is(ExprKind::FloatImm) || value.arg(2).is(ExprKind::IntImm)))
        names.push_back(producer->name);
    }
    return names;
  }

  /// `copies`: the names of those that it makes.
  Schedule sketch(const Subject& subject, const Schedule& base, const Group& group, const Plan& plan,
                  std::vector<std::string>* copies) const {
    Schedule schedule = base.clone();
    std::vector<BlockRV> blocks;
    for (const std::string& name : group.blocks) {
      blocks.push_back(schedule.get_block(name));
      if (plan.in_place) inline_padding(schedule, blocks.back());
    }
    const TileShape shape = draw_shape(subject, schedule, blocks.front(), plan);
    const TileNest nest = make_tiles(schedule, blocks, shape);
    write_through(schedule, blocks, group.reader, nest);
    for (const BlockRV block : blocks) {
      if (plan.packing != Packing::None) pack(schedule, block, plan, nest, shape, copies);
      if (subject.unit) use_unit(schedule, block, nest, shape, subject.unit->name);
    }
    return schedule;
  }

  static void pack(Schedule& schedule, BlockRV block, const Plan& plan, const TileNest& nest,
                   const TileShape& shape, std::vector<std::string>* copies) {
    for (const BlockRV copy : copy_into_panels(schedule, block)) {
      if (plan.packing == Packing::Inside) {
        schedule.compute_at(copy, schedule.get_loops(block).at(nest.columns));
      } else {
        lay_panel_by_panel(schedule, copy, plan.panel, shape.depth);
      }
      copies->push_back(schedule.block(copy).name);
    }
  }

  /// One call for the lanes and the depth, which are the innermost loops.
  static void use_unit(Schedule& schedule, BlockRV block, const TileNest& nest, const TileShape& shape,
                       const std::string& name) {
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    schedule.decompose_reduction(block, loops.at(nest.loops));
    schedule.tensorize(loops.at(loops.size() - (shape.depth > 1 ? 2 : 1)), name);
  }

  static void inline_padding(Schedule& schedule, BlockRV block) {
    for (const std::string& name : padding_of(schedule.program(), schedule.block(block)))
      schedule.compute_inline(schedule.get_block(name));
  }

  /// Results stay in registers until the tile is complete, and leave it through the group's reader.
  static void write_through(Schedule& schedule, const std::vector<BlockRV>& blocks,
                            const std::optional<std::string>& reader, const TileNest& nest) {
    const LoopRV tile = schedule.get_loops(blocks.front()).at(nest.loops - 1);
    if (reader) {
      for (const BlockRV block : blocks) schedule.set_scope(block, 0, "local");
      schedule.reverse_compute_at(schedule.get_block(*reader), tile);
    } else {
      schedule.reverse_compute_at(schedule.cache_write(blocks.front(), 0, "local"), tile);
    }
  }

  TileShape draw_shape(const Subject& subject, Schedule& schedule, BlockRV block, const Plan& plan) const {
    const TileForm& form = subject.form;
    const std::vector<IterVar> iters = schedule.block(block).iters();
    const int64_t lanes = subject.lanes;
    const int64_t columns = iters[form.columns].extent;
    const int64_t rows = iters[form.rows.back()].extent;
    TileShape shape;
    shape.depth = subject.unit ? subject.unit->depth : 1;
    const int64_t reduction = iters[form.reductions.back()].extent / shape.depth;
    shape.columns_outermost = plan.columns_outermost;
    shape.lanes = lanes;
    shape.rows =
        sample_one_of(schedule, chosen(row_tiles_, [&](int64_t size) { return size <= rows; }, rows));
    const auto is_filled = [&](int64_t vectors) { return (vectors - 1) * lanes < columns; };
    shape.vectors =
        sample_one_of(schedule, plan.packing == Packing::Ahead ? std::vector<int64_t>{plan.panel / lanes}
                                                               : chosen(column_vectors_, is_filled, 1));
    const std::vector<int64_t> steps =
        chosen(steps_, [&](int64_t count) { return reduction % count == 0; }, 1);
    if (steps.size() > 1) shape.steps = sample_one_of(schedule, steps);
    return shape;
  }

  /// Those of `sizes` that pass; `otherwise` where none does.
  template <typename Test>
  static std::vector<int64_t> chosen(const std::vector<int64_t>& sizes, const Test& test, int64_t otherwise) {
    std::vector<int64_t> found;
    std::ranges::copy_if(sizes, std::back_inserter(found), test);
    if (found.empty()) found.push_back(otherwise);
    return found;
  }

  std::vector<int64_t> row_tiles_;
  std::vector<int64_t> column_vectors_;
  std::vector<int64_t> steps_;
  std::vector<int64_t> panel_vectors_;
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
    OptionSpec::integers("panel_vectors", {2, 4}, 1, 16,
                         "widths, in vectors, of panels that are laid ahead; sketches for each"),
    OptionSpec::strings("units", {}, {},
                        "extensions whose dot products a tile is made of where they compute the block's"));

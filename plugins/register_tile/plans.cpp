#include "plans.h"

#include <algorithm>

namespace tunesmith {
namespace {

/// The options that the reads of a group's blocks allow.
struct Reads {
  bool can_pack_inside = true;  // the copy of a panel's source is no larger than the source
  bool can_pack_ahead = true;
  bool must_pack = false;
  bool constant = true;
  bool in_blocks = true;  // panels may contain the parts of the reduction one after another
  bool padded = false;
};

Reads reads_of(const Subject& subject, const Program& program, const Group& group) {
  Reads found;
  found.must_pack = subject.unit.has_value();
  for (const std::string& name : group.blocks) {
    const Block block = *program.find_block(name);
    for (const PackedRead& read : packed_reads(block, subject.form)) {
      found.can_pack_inside = found.can_pack_inside && read.plain;
      found.can_pack_ahead = found.can_pack_ahead && (read.plain || !read.dimensions.empty());
      found.must_pack = found.must_pack || !read.in_order;
      found.constant = found.constant && read.buffer->constant;
      const std::vector<AccessIndex> indices = read_accesses(block)[static_cast<size_t>(read.index)].indices;
      const bool terms_last = indices.size() > 1 && (!read.in_order || indices.end()[-2].iterator ==
                                                                           subject.form.reductions.back());
      found.in_blocks = found.in_blocks && terms_last;
    }
    found.padded = found.padded || !padding_of(program, block).empty();
  }
  found.in_blocks = found.in_blocks && found.constant && !subject.unit && group.blocks.size() == 1;
  return found;
}

/// Rows of separate columns reuse nothing beyond a few taps: blocks of columns
/// are distributed, and visited row by row. Siblings would draw different ones.
std::vector<ColumnOrder> orders_of(const Subject& subject, const Group& group) {
  if (subject.form.separate_columns && group.blocks.size() == 1) return {ColumnOrder::Blocks};
  return {ColumnOrder::Outermost, ColumnOrder::Innermost};
}

constexpr int64_t kMaxHalfVectors = 8;

/// Half vectors avoid idle lanes: their tiles divide the columns, regardless of the user's choices.
SizeOptions sizes_for(const Subject& subject, SizeOptions options) {
  if (!subject.half) return options;
  const int64_t vectors = subject.form.group_columns / subject.lanes;
  options.column_vectors.clear();
  for (int64_t count = 2; count <= std::min(vectors, kMaxHalfVectors); ++count) {
    if (vectors % count == 0) options.column_vectors.push_back(count);
  }
  options.panel_vectors = options.column_vectors;
  return options;
}

/// Tiles of a matrix unit in each direction: only whole ones.
std::vector<TileSizes> sizes_of_matrix_unit(const Unit& unit, int64_t rows,
                                            const std::vector<int64_t>& vectors) {
  std::vector<TileSizes> all;
  for (const int64_t count : vectors) {
    TileSizes& sizes = all.emplace_back(TileSizes{{1}, {1}, {count}});
    for (int64_t tiles = 2; fits_registers(tiles, count, unit.registers); ++tiles) {
      if (rows % (tiles * unit.rows) == 0) sizes.rows.push_back(tiles);
    }
  }
  return all;
}

// Parts with fewer terms are dominated by the sums in memory; parts with more accumulate too many rounding
// errors.
constexpr int64_t kMinTermsOfBlock = 256;
constexpr int64_t kMaxTermsOfBlock = 1024;

/// The number of panels per block that balances the cores best; of equals the largest.
int64_t panels_of_block(int64_t panels, int64_t cores, int64_t most) {
  int64_t best = 1;
  int64_t least = panels;  // the work of one core
  for (int64_t count = 1; count <= std::min(panels, most); ++count) {
    if (panels % count != 0) continue;
    const int64_t blocks_of_core = (panels / count + cores - 1) / cores;
    if (blocks_of_core * count > least) continue;
    least = blocks_of_core * count;
    best = count;
  }
  return best;
}

/// For long sums of few rows. Over the whole reduction, a panel, the next one (prefetched) and the
/// rows would evict each other from the second-level cache, so that each tile would load them again.
std::optional<SumBlocks> blocks_of_sum(const TileForm& form, const Block& block, int64_t width,
                                       const Processor& processor) {
  const std::vector<IterVar> iters = block.iters();
  const DType dtype = writes_of(block).front().buffer->dtype;
  if (!dtype.is_float() || has_groups(form, block) || form.group_columns % width != 0) return std::nullopt;
  const int64_t innermost = iters[form.reductions.back()].extent;
  int64_t terms = 1;
  for (const size_t reduction : form.reductions) terms *= iters[reduction].extent;
  int64_t row_bytes = dtype.bytes();  // of one term over all rows
  for (const size_t row : form.rows) row_bytes *= iters[row].extent;
  const int64_t panel_bytes = dtype.bytes() * width;
  const bool whole_fits = innermost * row_bytes + 2 * terms * panel_bytes <= processor.second_cache;
  if (whole_fits || 4 * kMinTermsOfBlock * row_bytes > processor.second_cache) return std::nullopt;
  // Rows may be whole pages apart, and then fall into few sets of the cache.
  const int64_t share = processor.second_cache / 8;
  const int64_t panels =
      panels_of_block(form.group_columns / width, processor.cores, 2 * share / (row_bytes * width));
  const int64_t longest =
      std::clamp(share / std::max(row_bytes, 2 * panel_bytes), kMinTermsOfBlock, kMaxTermsOfBlock);
  for (int64_t part = std::min(longest, innermost); part >= kMinTermsOfBlock; --part) {
    if (innermost % part == 0 && part < terms) return SumBlocks{part, panels};
  }
  return std::nullopt;
}

}  // namespace

Processor processor_of(const DeviceModel& device) {
  return {.vector_registers = static_cast<int64_t>(device.get_or("vector_registers_used_by_tile", 16)),
          .cores = static_cast<int64_t>(device.get_or("cores", 1)),
          .second_cache = static_cast<int64_t>(device.get_or("l2_bytes", 262144))};
}

std::vector<Plan> plans_for(const Subject& subject, const Program& program, const Group& group,
                            const SizeOptions& given, const Processor& processor) {
  const SizeOptions options = sizes_for(subject, given);
  const Reads reads = reads_of(subject, program, group);
  const Block block = *program.find_block(group.blocks.front());
  const int64_t lanes = subject.lanes;
  const int64_t columns = subject.form.group_columns;
  const bool groups = has_groups(subject.form, block);
  const bool separate = subject.form.separate_columns;
  const bool matrix_unit = subject.unit && subject.unit->is_matrix_unit();
  const int64_t registers = matrix_unit ? subject.unit->registers : processor.vector_registers;
  const int64_t rows = block.iters()[subject.form.rows.back()].extent;
  const auto sizes_of = [&](const std::vector<int64_t>& vectors) {
    if (matrix_unit) return sizes_of_matrix_unit(*subject.unit, rows, vectors);
    return tile_sizes(block, subject.form, {options.row_tiles, registers, lanes}, vectors);
  };
  const std::vector<TileSizes> any = sizes_of(chosen(
      options.column_vectors,
      [&](int64_t count) { return groups ? columns % (count * lanes) == 0 : (count - 1) * lanes < columns; },
      1));
  const int64_t fewest_rows = matrix_unit ? 1 : std::min(std::ranges::min(options.row_tiles), rows);
  // A tile is within one group. Calls take whole vectors: columns are padded, by at most a quarter.
  const auto fits = [&](int64_t count) {
    const int64_t width = count * lanes;
    if (!fits_registers(fewest_rows, count, registers)) return false;
    if (subject.unit && !groups) return (columns + width - 1) / width * width * 4 <= columns * 5;
    return groups ? columns % width == 0 : width <= columns;
  };
  const std::vector<ColumnOrder> orders = orders_of(subject, group), outermost{ColumnOrder::Outermost};
  std::vector<Plan> plans;
  const auto add = [&](const std::vector<TileSizes>& sizes, Packing packing, bool in_place,
                       const std::vector<ColumnOrder>& its_orders, std::optional<SumBlocks> blocks = {}) {
    for (const TileSizes& each : sizes) {
      for (const ColumnOrder order : its_orders) plans.push_back({each, order, packing, in_place, blocks});
    }
  };
  for (const bool in_place : {false, true}) {
    // If phases determine the padding, no cut separates it from the rest.
    if (in_place && (!reads.padded || subject.unit || subject.turned || subject.form.period > 1)) break;
    if (!reads.must_pack) add(any, Packing::None, in_place, orders);
    if (separate && !reads.must_pack) continue;
    if (reads.can_pack_inside && !reads.constant && !subject.unit)
      add(any, Packing::Inside, in_place, outermost);
    if (!reads.can_pack_ahead) continue;
    // Rows visit all columns of a block, so panels gain nothing.
    if (separate) {
      add(any, Packing::AheadAsAWhole, in_place, orders);
      continue;
    }
    for (const int64_t vectors : chosen(options.panel_vectors, fits, 1)) {
      add(sizes_of({vectors}), Packing::Ahead, in_place, orders);
      if (in_place || !reads.in_blocks) continue;
      if (const auto blocks = blocks_of_sum(subject.form, block, vectors * lanes, processor))
        add(sizes_of({vectors}), Packing::Ahead, in_place, outermost, blocks);
    }
  }
  return plans;
}

std::vector<std::string> padding_of(const Program& program, const Block& block) {
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

}  // namespace tunesmith

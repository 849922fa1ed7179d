#include "plans.h"

#include <algorithm>

namespace tunesmith {
namespace {

/// What the reads of a group's blocks allow.
struct Reads {
  bool can_pack_inside = true;  // a copy of what a panel reads is no larger than that
  bool can_pack_ahead = true;
  bool must_pack = false;
  bool constant = true;
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
    }
    found.padded = found.padded || !padding_of(program, block).empty();
  }
  return found;
}

/// Rows of separate columns use nothing again that is more than a few taps away: blocks of columns share the
/// work out, and are visited row by row. Siblings would draw different ones.
std::vector<ColumnOrder> orders_of(const Subject& subject, const Group& group) {
  if (subject.form.separate_columns && group.blocks.size() == 1) return {ColumnOrder::Blocks};
  return {ColumnOrder::Outermost, ColumnOrder::Innermost};
}

constexpr int64_t kMaxHalfVectors = 8;

/// Halves are there to leave no lane idle: their tiles divide the columns, whatever the user chose.
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

/// Tiles of a matrix unit in each direction: whole ones alone.
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

}  // namespace

std::vector<Plan> plans_for(const Subject& subject, const Program& program, const Group& group,
                            const SizeOptions& given, int64_t vector_registers) {
  const SizeOptions options = sizes_for(subject, given);
  const Reads reads = reads_of(subject, program, group);
  const Block block = *program.find_block(group.blocks.front());
  const int64_t lanes = subject.lanes;
  const int64_t columns = subject.form.group_columns;
  const bool groups = has_groups(subject.form, block);
  const bool separate = subject.form.separate_columns;
  const bool matrix_unit = subject.unit && subject.unit->is_matrix_unit();
  const int64_t registers = matrix_unit ? subject.unit->registers : vector_registers;
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
  // A tile is of one group alone. Calls take whole vectors: columns are padded, by a quarter at most.
  const auto fits = [&](int64_t count) {
    const int64_t width = count * lanes;
    if (!fits_registers(fewest_rows, count, registers)) return false;
    if (subject.unit && !groups) return (columns + width - 1) / width * width * 4 <= columns * 5;
    return groups ? columns % width == 0 : width <= columns;
  };
  const std::vector<ColumnOrder> orders = orders_of(subject, group);
  std::vector<Plan> plans;
  const auto add = [&](const std::vector<TileSizes>& sizes, Packing packing, bool in_place) {
    for (const TileSizes& each : sizes) {
      for (const ColumnOrder order : orders) plans.push_back({each, order, packing, in_place});
    }
  };
  for (const bool in_place : {false, true}) {
    // Where phases decide what is padding, no cut parts it from the rest.
    if (in_place && (!reads.padded || subject.unit || subject.turned || subject.form.period > 1)) break;
    if (!reads.must_pack) add(any, Packing::None, in_place);
    if (separate && !reads.must_pack) continue;
    if (reads.can_pack_inside && !reads.constant && !subject.unit) {
      for (const TileSizes& each : any)
        plans.push_back({each, ColumnOrder::Outermost, Packing::Inside, in_place});
    }
    if (!reads.can_pack_ahead) continue;
    // Rows visit all columns of a block: nothing is gained by panels.
    if (separate) {
      add(any, Packing::AheadAsAWhole, in_place);
      continue;
    }
    for (const int64_t vectors : chosen(options.panel_vectors, fits, 1))
      add(sizes_of({vectors}), Packing::Ahead, in_place);
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

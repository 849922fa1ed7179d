#include "tile_form.h"

#include <algorithm>

#include "iterator_use.h"

namespace tunesmith {
namespace {

bool is_plain(const Access& access) {
  return std::ranges::all_of(access.indices,
                             [](const AccessIndex& index) { return index.iterator || index.constant; });
}

/// With more phases, the operands of rows all differ.
constexpr int64_t kMaxPeriod = 4;

/// The number of columns per group; nothing if operands disagree.
std::optional<int64_t> find_groups(const Block& block, const TileForm& form) {
  const IterVar columns = block.iters()[form.columns];
  int64_t found = columns.extent;
  for (const Access& read : read_accesses(block)) {
    const IteratorUse use = use_of_iterator(block, read.buffer->name, columns);
    if (use.whole || use.quotient_by == 0) continue;
    if ((found != columns.extent && found != use.quotient_by) || columns.extent % use.quotient_by != 0)
      return std::nullopt;
    found = use.quotient_by;
  }
  return found;
}

/// The number of iterations after which the read repeats its operands; nothing if it does not, or too late.
std::optional<int64_t> repeats_after(const Block& block, const Access& read, size_t iterator) {
  if (!read.uses(iterator)) return 1;
  const IteratorUse use = use_of_iterator(block, read.buffer->name, block.iters()[iterator]);
  if (use.whole || use.quotient_by != 0 || use.remainder_by > kMaxPeriod) return std::nullopt;
  return use.remainder_by;
}

/// The position of an iterator in a panel: reductions in loop order, so that
/// the innermost moves along the panel's rows, with all others before them.
std::ptrdiff_t place_in_panel(const std::vector<IterVar>& iters, std::optional<size_t> iterator) {
  const bool reduction = iterator && iters[*iterator].kind == IterKind::Reduction;
  return reduction ? static_cast<std::ptrdiff_t>(*iterator) : -1;
}

std::vector<size_t> dimensions_of_panel(const Block& block, const TileForm& form, const Access& read) {
  const std::vector<IterVar> iters = block.iters();
  std::vector<size_t> dimensions;
  std::optional<size_t> columns;
  for (size_t i = 0; i < read.indices.size(); ++i) {
    if (read.indices[i].iterator == form.columns) {
      columns = i;
    } else {
      dimensions.push_back(i);
    }
  }
  if (!columns) return {};
  std::ranges::stable_sort(dimensions, {}, [&](size_t dimension) {
    return place_in_panel(iters, read.indices[dimension].iterator);
  });
  dimensions.push_back(*columns);
  return dimensions;
}

}  // namespace

bool moves_with_columns(const Block& block, const TileForm& form, const Access& read) {
  if (!read.uses(form.columns)) return false;
  const IteratorUse use = use_of_iterator(block, read.buffer->name, block.iters()[form.columns]);
  return use.whole || use.quotient_by != form.group_columns || use.remainder_by != 0;
}

std::string match_tile_form(const Block& block, TileForm* form) {
  const std::vector<IterVar> iters = block.iters();
  const std::vector<Access> reads = read_accesses(block);
  const Access written = write_accesses(block).front();
  if (written.indices.empty() || !written.indices.back().iterator)
    return "the result is not written along an iterator of its own";
  form->columns = *written.indices.back().iterator;
  if (iters[form->columns].kind != IterKind::Spatial || iters[form->columns].extent == 1)
    return "the result is not written along an iterator of its own";
  const std::optional<int64_t> groups = find_groups(block, *form);
  if (!groups) return "the operands have groups of columns that differ";
  form->group_columns = *groups;
  const auto moves = [&](const Access& read) { return moves_with_columns(block, *form, read); };
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::Reduction) form->reductions.push_back(i);
    if (iters[i].kind != IterKind::Spatial || i == form->columns) continue;
    std::optional<int64_t> period;
    for (const Access& read : reads) {
      if (const auto after = repeats_after(block, read, i); iters[i].extent > 1 && moves(read) && after)
        period = std::max(*after, period.value_or(1));
    }
    (period ? form->rows : form->others).push_back(i);
    if (period) form->period = *period;
  }
  if (form->rows.empty()) return "no operand is used again by the rows of a tile";
  form->separate_columns = std::ranges::all_of(reads, moves);
  return "";
}

std::vector<PackedRead> packed_reads(const Block& block, const TileForm& form) {
  std::vector<PackedRead> packed;
  const std::vector<IterVar> iters = block.iters();
  const std::vector<Access> reads = read_accesses(block);
  for (size_t i = 0; i < reads.size(); ++i) {
    const Access& read = reads[i];
    const bool used_again = std::ranges::any_of(
        form.rows, [&](size_t row) { return repeats_after(block, read, row).has_value(); });
    if (!moves_with_columns(block, form, read) || !used_again) continue;
    PackedRead& found = packed.emplace_back();
    found.index = static_cast<int64_t>(i);
    found.buffer = read.buffer;
    found.plain = is_plain(read);
    found.in_order = steps_by_one(block, read.buffer->name, read.indices.size() - 1, iters[form.columns]);
    for (const AccessIndex& index : read.indices) {
      if (index.iterator && *index.iterator != form.columns) found.order.push_back(*index.iterator);
    }
    std::ranges::stable_sort(found.order, {},
                             [&](size_t iterator) { return place_in_panel(iters, iterator); });
    found.order.push_back(form.columns);
    found.dimensions = dimensions_of_panel(block, form, read);
  }
  return packed;
}

}  // namespace tunesmith

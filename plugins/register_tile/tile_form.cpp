#include "tile_form.h"

#include <algorithm>

namespace tunesmith {
namespace {

bool is_plain(const Access& access) {
  return std::ranges::all_of(access.indices,
                             [](const AccessIndex& index) { return index.iterator || index.constant; });
}

}  // namespace

std::string match_tile_form(const Block& block, TileForm* form) {
  const std::vector<IterVar> iters = block.iters();
  const std::vector<Access> reads = read_accesses(block);
  const Access written = write_accesses(block).front();
  if (written.indices.empty() || !written.indices.back().iterator)
    return "the result is not written along an iterator of its own";
  form->columns = *written.indices.back().iterator;
  if (iters[form->columns].kind != IterKind::Spatial || iters[form->columns].extent == 1)
    return "the result is not written along an iterator of its own";
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::Reduction) form->reductions.push_back(i);
    if (iters[i].kind != IterKind::Spatial || i == form->columns) continue;
    const bool reused = iters[i].extent > 1 && std::ranges::any_of(reads, [&](const Access& read) {
                          return read.uses(form->columns) && !read.uses(i);
                        });
    (reused ? form->rows : form->others).push_back(i);
  }
  if (form->rows.empty()) return "no operand is used again by the rows of a tile";
  form->separate_columns =
      std::ranges::all_of(reads, [&](const Access& read) { return read.uses(form->columns); });
  if (form->separate_columns && !std::ranges::all_of(reads, [&](const Access& read) {
        return std::ranges::any_of(read.indices,
                                   [&](const AccessIndex& index) { return index.iterator == form->columns; });
      }))
    return "no operand is used again by the columns of a tile";
  return "";
}

std::vector<PackedRead> packed_reads(const Block& block, const TileForm& form) {
  std::vector<PackedRead> packed;
  const std::vector<Access> reads = read_accesses(block);
  for (size_t i = 0; i < reads.size(); ++i) {
    const Access& read = reads[i];
    const bool used_again = std::ranges::any_of(form.rows, [&](size_t row) { return !read.uses(row); });
    if (!read.uses(form.columns) || !used_again) continue;
    PackedRead& found = packed.emplace_back();
    found.index = static_cast<int64_t>(i);
    found.buffer = read.buffer;
    found.plain = is_plain(read);
    found.in_order = read.indices.back().iterator == form.columns;
    for (const AccessIndex& index : read.indices) {
      if (index.iterator && *index.iterator != form.columns) found.order.push_back(*index.iterator);
    }
    found.order.push_back(form.columns);
  }
  return packed;
}

}  // namespace tunesmith

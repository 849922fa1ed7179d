#include "chain.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <tunesmith/stable/analysis.h>

namespace tunesmith {
namespace {

using Rows = std::vector<size_t>;

bool contains(const Rows& rows, size_t iterator) { return std::ranges::find(rows, iterator) != rows.end(); }

bool is_simple(const Block& block) {
  return is_trivially_bound(block) && enclosing_block(block) == nullptr && writes_of(block).size() == 1;
}

Rows spatial_iters(const Block& block) {
  Rows spatial;
  const std::vector<IterVar> iters = block.iters();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::Spatial) spatial.push_back(i);
  }
  return spatial;
}

/// Has the block as many non-unit iterators as there are rows?
bool moves_with_rows_alone(const Block& block, const Rows& rows) {
  const std::vector<IterVar> iters = block.iters();
  const auto moves = [&](size_t iterator) { return iters[iterator].extent > 1; };
  return std::ranges::count_if(spatial_iters(block), moves) == std::ranges::count_if(rows, moves);
}

/// The rows of a reduction, without trailing axes of one iteration,
/// which stand for the reduced axes and are constants to most readers.
Rows rows_of(const Block& reduction) {
  const std::vector<IterVar> iters = reduction.iters();
  const Access written = writes_of(reduction).front();
  Rows rows = spatial_iters(reduction);
  for (size_t d = written.indices.size(); d-- > 0 && rows.size() > 1;) {
    const std::optional<size_t> iterator = written.indices[d].iterator;
    if (!iterator || iters[*iterator].extent > 1) break;
    std::erase(rows, *iterator);
  }
  return rows;
}

/// The dimension of the accesses in `block` whose index is exactly this iterator in all of them.
std::optional<size_t> dimension_of(const std::vector<Access>& accesses, const std::string& buffer,
                                   size_t iterator) {
  std::optional<size_t> found;
  for (const Access& access : accesses) {
    if (access.buffer->name != buffer) continue;
    const auto at = std::ranges::find_if(
        access.indices, [&](const AccessIndex& index) { return index.iterator == iterator; });
    if (at == access.indices.end()) return std::nullopt;
    const auto dimension = static_cast<size_t>(at - access.indices.begin());
    if (found && *found != dimension) return std::nullopt;
    found = dimension;
  }
  return found;
}

/// The iterator that this dimension is in all accesses to the buffer.
std::optional<size_t> iterator_of(const std::vector<Access>& accesses, const std::string& buffer,
                                  size_t dimension) {
  std::optional<size_t> found;
  for (const Access& access : accesses) {
    if (access.buffer->name != buffer) continue;
    const std::optional<size_t> here = access.indices[dimension].iterator;
    if (!here || (found && *found != *here)) return std::nullopt;
    found = here;
  }
  return found;
}

/// The rows of `to`, by the buffer that one block writes and the other reads.
std::optional<Rows> carried(const std::vector<Access>& from, const Rows& rows, const std::vector<Access>& to,
                            const Block& block, const std::string& buffer) {
  Rows result;
  const std::vector<IterVar> iters = block.iters();
  for (const size_t row : rows) {
    const std::optional<size_t> dimension = dimension_of(from, buffer, row);
    const std::optional<size_t> iterator =
        dimension ? iterator_of(to, buffer, *dimension) : std::optional<size_t>();
    if (!iterator || iters[*iterator].kind != IterKind::Spatial) return std::nullopt;
    result.push_back(*iterator);
  }
  return result;
}

class Finder {
 public:
  Finder(const Program& program, const ProductLimits& limits, Chain& chain)
      : program_(program), blocks_(program.blocks()), limits_(limits), chain_(chain) {}

  void grow(const Block& seed) {
    chain_.rows[seed.name] = rows_of(seed);
    forward();
    backward();
    forward();
    for (const Pointer<Block>& block : blocks_) {
      if (is_member(block->name)) chain_.members.push_back(block->name);
    }
    find_writers();
    for (const std::string& product : {chain_.first_product, chain_.last_product}) {
      if (!product.empty()) put_last(product);
    }
  }

 private:
  /// The rows of the product's tile go behind the others.
  void put_last(const std::string& product) {
    const Rows& its = chain_.rows.at(product);
    const size_t row = match_product(*program_.find_block(product), its)->row;
    const auto at = std::ranges::find(its, row) - its.begin();
    for (auto& [member, rows] : chain_.rows)
      std::rotate(rows.begin() + at, rows.begin() + at + 1, rows.end());
  }

  bool is_member(const std::string& name) const { return chain_.rows.contains(name); }

  /// Adds consumers of members that use nothing derived from members outside.
  void forward() {
    std::set<std::string> outside;
    for (const Pointer<Block>& block : blocks_) {
      if (is_member(block->name)) continue;
      std::optional<Rows> rows;
      bool joins = true;
      bool depends = false;
      for (const Pointer<Block>& producer : producers_of(program_, *block)) {
        const bool member = is_member(producer->name);
        depends = depends || member || outside.contains(producer->name);
        if (outside.contains(producer->name)) joins = false;
        if (!member || !joins) continue;
        const auto here = carried(writes_of(*producer), chain_.rows.at(producer->name), reads_of(*block),
                                  *block, writes_of(*producer).front().buffer->name);
        joins = here && (!rows || *rows == *here);
        rows = here;
      }
      if (!depends) continue;
      if (joins && rows && may_follow(*block, *rows)) {
        chain_.rows[block->name] = *rows;
      } else {
        outside.insert(block->name);
      }
    }
  }

  bool may_follow(const Block& block, const Rows& rows) {
    if (!is_simple(block)) return false;
    if (!chain_.last_product.empty()) {
      // After the product, only the block that writes its result.
      const Pointer<Block> reader = element_reader(program_, *program_.find_block(chain_.last_product));
      return reader && reader->name == block.name;
    }
    if (is_elementwise(block)) return true;
    if (is_row_reduction(block)) return moves_with_rows_alone(block, rows);
    if (!fits_as_product(block, rows)) return false;
    chain_.last_product = block.name;
    return true;
  }

  /// Adds producers that only members read.
  void backward() {
    for (auto at = blocks_.rbegin(); at != blocks_.rend(); ++at) {
      const Block block = **at;
      if (is_member(block.name) || !is_simple(block) || writes_output(program_, block)) continue;
      const std::vector<Pointer<Block>> consumers = consumers_of(program_, block);
      std::optional<Rows> rows;
      bool joins = !consumers.empty() && chain_.first_product.empty();
      for (const Pointer<Block>& consumer : consumers) {
        joins = joins && is_member(consumer->name) && consumer->name != chain_.last_product;
        if (!joins) break;
        const auto here = carried(reads_of(*consumer), chain_.rows.at(consumer->name), writes_of(block),
                                  block, writes_of(block).front().buffer->name);
        joins = here && (!rows || *rows == *here);
        rows = here;
      }
      if (joins && rows && may_precede(block, *rows)) chain_.rows[block.name] = *rows;
    }
  }

  bool may_precede(const Block& block, const Rows& rows) {
    if (is_row_reduction(block)) return moves_with_rows_alone(block, rows);
    if (is_elementwise(block)) return !writes_for_product_outside(block, rows);
    if (!fits_as_product(block, rows) || !is_reduced(block)) return false;
    chain_.first_product = block.name;
    return true;
  }

  /// Would a tiled reduction outside write its results through this block?
  bool writes_for_product_outside(const Block& block, const Rows& rows) const {
    for (const Pointer<Block>& producer : producers_of(program_, block)) {
      const Pointer<Block> reader = element_reader(program_, *producer);
      if (!reader || reader->name != block.name || !producer->has_reduction()) continue;
      const auto its = carried(reads_of(block), rows, writes_of(*producer), *producer,
                               writes_of(*producer).front().buffer->name);
      if (is_row_reduction(*producer) || (its && fits_as_product(*producer, *its) && is_reduced(*producer)))
        continue;
      return true;
    }
    return false;
  }

  /// Does a reduction over rows read what the block computes? Else it gains nothing from its rows' order, and
  /// may call a unit instead, such as a product of integers beside the sums that its zero points need.
  bool is_reduced(const Block& block) const {
    std::set<std::string> seen;  // residual sums would be walked twice each
    std::vector<Pointer<Block>> waiting = consumers_of(program_, block);
    while (!waiting.empty()) {
      const Pointer<Block> consumer = waiting.back();
      waiting.pop_back();
      if (is_row_reduction(*consumer)) return true;
      if (seen.insert(consumer->name).second)
        std::ranges::copy(consumers_of(program_, *consumer), std::back_inserter(waiting));
    }
    return false;
  }

  bool fits_as_product(const Block& block, const Rows& rows) const {
    if (!is_simple(block)) return false;
    const std::optional<ProductForm> form = match_product(block, rows);
    if (!form) return false;
    const std::vector<IterVar> iters = block.iters();
    const int64_t bytes =
        iters[form->column].extent * iters[form->reduction].extent * form->operand->dtype.bytes();
    return bytes <= limits_.operand_bytes && std::ranges::any_of(limits_.tile_rows, [&](int64_t max_rows) {
             return !tile_heights(iters[form->row].extent, max_rows).empty();
           });
  }

  void find_writers() {
    const auto writer_of = [&](const std::string& product) -> std::string {
      if (product.empty()) return "";
      const Pointer<Block> reader = element_reader(program_, *program_.find_block(product));
      return reader && is_member(reader->name) ? reader->name : "";
    };
    chain_.first_writer = writer_of(chain_.first_product);
    chain_.last_writer = writer_of(chain_.last_product);
  }

  const Program& program_;
  std::vector<Pointer<Block>> blocks_;
  const ProductLimits& limits_;
  Chain& chain_;
};

/// Computes the number of rows, and the data per row.
void measure(const Program& program, Chain* chain) {
  for (const std::string& name : chain->members) {
    const Block block = *program.find_block(name);
    const std::vector<IterVar> iters = block.iters();
    const Rows& rows = chain->rows.at(name);
    const bool kept = name != chain->last_product && name != chain->last_writer &&
                      (name != chain->first_product || chain->first_writer.empty());
    const int64_t bytes = writes_of(block).front().buffer->dtype.bytes();
    int64_t elements = 1;
    int64_t steps = 1;
    chain->row_count = 1;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (contains(rows, i)) {
        chain->row_count *= iters[i].extent;
      } else {
        steps *= iters[i].extent;
        if (iters[i].kind == IterKind::Spatial) elements *= iters[i].extent;
      }
    }
    if (kept && elements > 1) chain->row_bytes += elements * bytes;
    if (name != chain->first_product && name != chain->last_product)
      chain->row_length = std::max(chain->row_length, steps * bytes);
  }
}

std::string ends_refusal(const Program& program, const Chain& chain) {
  if (!chain.first_product.empty() && !chain.last_product.empty()) {
    const Rows& rows = chain.rows.at(chain.first_product);
    if (match_product(*program.find_block(chain.first_product), rows)->row != rows.back())
      return "the products of the chain have their tiles along different rows";
  }
  for (const std::string& name : chain.members) {
    if (name == chain.members.back()) continue;
    const Block block = *program.find_block(name);
    const auto outside = [&](const Pointer<Block>& consumer) { return !chain.rows.contains(consumer->name); };
    const std::vector<Pointer<Block>> consumers = consumers_of(program, block);
    if (writes_output(program, block) || std::ranges::any_of(consumers, outside))
      return "a result of the chain is used outside before its end";
  }
  return "";
}

}  // namespace

std::vector<std::string> Chain::row_part() const {
  std::vector<std::string> part;
  for (const std::string& name : members) {
    if (name != first_product && name != first_writer && name != last_product && name != last_writer)
      part.push_back(name);
  }
  return part;
}

std::vector<int64_t> tile_heights(int64_t rows, int64_t max_rows) {
  std::vector<int64_t> heights;
  for (int64_t height = std::min(rows, max_rows); height > 1 && (height > max_rows / 2 || height == rows);
       --height) {
    if (rows % height == 0) heights.push_back(height);
  }
  if (!heights.empty() || rows == 1) return heights;
  for (int64_t height = max_rows; height > max_rows / 2; --height) heights.push_back(height);
  const auto padding = [&](int64_t height) { return (rows + height - 1) / height * height - rows; };
  std::ranges::stable_sort(heights, {}, padding);
  return heights;
}

bool is_row_reduction(const Block& block) {
  if (!block.has_reduction() || block.init() == nullptr) return false;
  const std::vector<IterVar> iters = block.iters();
  size_t last = 0;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::Reduction) last = i;
  }
  return std::ranges::any_of(reads_of(block), [&](const Access& read) {
    if (read.indices.empty() || read.indices.back().iterator != last) return false;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (iters[i].extent > 1 && !read.uses(i)) return false;
    }
    return true;
  });
}

std::optional<ProductForm> match_product(const Block& block, const std::vector<size_t>& rows) {
  const std::vector<Access> reads = read_accesses(block);
  if (!block.has_reduction() || block.init() == nullptr || reads.size() != 2 || rows.empty())
    return std::nullopt;
  ProductForm form;
  const std::vector<IterVar> iters = block.iters();
  std::vector<size_t> columns;
  std::vector<size_t> reductions;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::Reduction) reductions.push_back(i);
    if (iters[i].kind == IterKind::Spatial && iters[i].extent > 1 && !contains(rows, i)) columns.push_back(i);
  }
  if (columns.size() != 1 || reductions.size() != 1) return std::nullopt;
  if (iters[reductions[0]].extent == 1) return std::nullopt;
  form.column = columns.front();
  form.reduction = reductions.front();
  form.column_read = reads[0].uses(form.column) ? 0 : 1;
  const Access& moving = reads[form.column_read];
  const Access& other = reads[1 - form.column_read];
  const auto stands_still = [&](size_t row) { return !moving.uses(row) && iters[row].extent > 1; };
  const auto row = std::ranges::find_if(rows.rbegin(), rows.rend(), stands_still);
  if (row == rows.rend()) return std::nullopt;
  form.row = *row;
  if (!moving.uses(form.column) || !moving.uses(form.reduction)) return std::nullopt;
  if (other.uses(form.column) || !other.uses(form.row) || !other.uses(form.reduction)) return std::nullopt;
  const auto is_plain = [](const AccessIndex& index) { return index.iterator || index.constant; };
  if (!std::ranges::all_of(moving.indices, is_plain)) return std::nullopt;
  const size_t dimensions = moving.indices.size();
  form.in_order = dimensions > 1 && moving.indices[dimensions - 1].iterator == form.column &&
                  moving.indices[dimensions - 2].iterator == form.reduction;
  form.operand = moving.buffer;
  return form;
}

std::string find_chain(const Program& program, const Block& block, const ProductLimits& limits,
                       Chain* chain) {
  if (!is_simple(block)) return "the block was already transformed";
  std::set<std::string> seen;
  for (const Pointer<Block>& seed : program.blocks()) {
    if (seen.contains(seed->name) || !is_simple(*seed) || !is_row_reduction(*seed)) continue;
    Chain found;
    Finder(program, limits, found).grow(*seed);
    seen.insert(found.members.begin(), found.members.end());
    if (!found.rows.contains(block.name)) continue;
    measure(program, &found);
    *chain = std::move(found);
    return ends_refusal(program, *chain);
  }
  return "the block is in no chain of reductions over one row";
}

}  // namespace tunesmith

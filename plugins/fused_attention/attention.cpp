#include "attention.h"

#include <algorithm>
#include <vector>

namespace tunesmith {
namespace {

bool stores(const Block& block, ExprKind kind) {
  const Pointer<Stmt> body = block.body();
  const Pointer<Store> store = body ? body->as<Store>() : Pointer<Store>();
  return store && store->value().is(kind);
}

bool reduces_by(const Block& block, ExprKind operation) {
  return block.has_reduction() && block.init() && stores(block, operation);
}

/// The only one of `blocks` for which `test` holds, or null.
template <typename Test>
Pointer<Block> only(const std::vector<Pointer<Block>>& blocks, const Test& test) {
  Pointer<Block> found;
  for (const Pointer<Block>& block : blocks) {
    if (!test(*block)) continue;
    if (found) return nullptr;
    found = block;
  }
  return found;
}

bool is_maximum(const Block& block) { return reduces_by(block, ExprKind::Max); }
bool is_sum(const Block& block) { return reduces_by(block, ExprKind::Add); }

bool reads_maximum(const Program& program, const Block& block) {
  return is_elementwise(block) && only(producers_of(program, block), is_maximum);
}

/// Fills in what the exponentials are of. False if that is not the result of a product.
bool find_scores(const Program& program, const Block& exponential, Attention* found) {
  const std::vector<Pointer<Block>> producers = producers_of(program, exponential);
  const Pointer<Block> maximum = only(producers, is_maximum);
  const Pointer<Block> scores = only(producers, [](const Block& block) { return !is_maximum(block); });
  if (!maximum || !scores) return false;
  found->maximum = maximum->name;
  Pointer<Block> at = scores;
  while (at && is_elementwise(*at)) {
    if (found->scores.empty()) found->scores = at->name;
    const auto producers_here = producers_of(program, *at);
    at = producers_here.size() == 1 ? producers_here.front() : nullptr;
  }
  if (!at || !is_sum(*at) || !needs_tiling(*at)) return false;
  found->product = at->name;
  return true;
}

}  // namespace

std::optional<Attention> find_attention(const Program& program, const Block& block) {
  if (!is_sum(block) || !needs_tiling(block)) return std::nullopt;
  Attention found;
  found.result = block.name;
  const auto is_exponential = [&](const Block& one) { return reads_maximum(program, one); };
  Pointer<Block> exponential = only(producers_of(program, block), is_exponential);
  if (!exponential) {
    const Pointer<Block> quotient = only(producers_of(program, block), [&](const Block& one) {
      return is_elementwise(one) && only(producers_of(program, one), is_exponential) &&
             consumers_of(program, one).size() == 1;
    });
    if (!quotient) return std::nullopt;
    found.quotient = quotient->name;
    exponential = only(producers_of(program, *quotient), is_exponential);
  }
  found.exponential = exponential->name;
  const Pointer<Block> sum = only(consumers_of(program, *exponential),
                                  [&](const Block& one) { return one.name != found.result && is_sum(one); });
  if (!sum || !find_scores(program, *exponential, &found)) return std::nullopt;
  found.sum = sum->name;
  return found;
}

std::optional<ResultAxes> result_axes(const Block& result, const std::string& weights) {
  const std::vector<Access> reads = read_accesses(result);
  if (reads.size() != 2) return std::nullopt;
  ResultAxes axes;
  axes.weights = reads[0].buffer->name == weights ? 0 : 1;
  axes.values = 1 - axes.weights;
  const std::vector<IterVar> iters = result.iters();
  std::optional<size_t> row, key, column;
  for (const AccessIndex& index : reads[axes.weights].indices) {
    if (!index.iterator) return std::nullopt;
    const size_t iterator = *index.iterator;
    axes.dimensions.push_back(iterator);
    if (iters[iterator].kind == IterKind::Reduction) {
      if (key) return std::nullopt;
      key = iterator;
    } else if (!reads[axes.values].uses(iterator) && iters[iterator].extent > 1) {
      row = iterator;
    }
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].extent == 1 || reads[axes.weights].uses(i)) continue;
    if (column || iters[i].kind != IterKind::Spatial) return std::nullopt;
    column = i;
  }
  if (!row || !key || !column || !reads[axes.values].uses(*key)) return std::nullopt;
  axes.row = *row;
  axes.key = *key;
  axes.column = *column;
  return axes;
}

}  // namespace tunesmith

// Chains of reductions over one row: softmax, layer and RMS norm, and softmax between two products.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/program.h>

namespace tunesmith {

/// Blocks, producers and consumers of each other, that have their rows in common: the iterators of a
/// reduction along the row.
struct Chain {
  std::vector<std::string> members;  // in text order; all but the last are read by members alone
  /// Positions of the rows in each member's iterators, in the same order for all; those of a product's tile
  /// are last.
  std::map<std::string, std::vector<size_t>> rows;
  std::string first_product;  // whose result is what the chain begins with; "": none
  std::string first_writer;   // the member that alone reads it, element by element; "": none
  std::string last_product;   // which consumes what the chain makes; "": none
  std::string last_writer;    // as first_writer
  int64_t row_count = 1;
  int64_t row_bytes = 0;   // of what is kept of a row, scalars aside
  int64_t row_length = 0;  // bytes of the longest pass over a row, but for products

  int64_t working_bytes() const { return row_bytes > row_length ? row_bytes : row_length; }

  /// Neither a product nor what writes its result.
  std::vector<std::string> row_part() const;
  bool has_products() const { return !first_product.empty() || !last_product.empty(); }
};

/// A reduction that reads each element of its rows once, in their order.
bool is_row_reduction(const Block& block);

/// Which products a chain takes.
struct ProductLimits {
  int64_t operand_bytes = 0;            // at most, of what moves with the columns
  std::vector<int64_t> tile_rows = {};  // at most, of the tiles that there are
};

/// Heights of tiles, all rows or more than half of `max_rows`: those that divide the rows, the tallest first;
/// where there is none, all, those first that hang least over the last row.
std::vector<int64_t> tile_heights(int64_t rows, int64_t max_rows);

/// The chain that the block is part of, or why there is none: a constant sentence.
std::string find_chain(const Program& program, const Block& block, const ProductLimits& limits, Chain* chain);

/// Which of a product's reads, as instructions count them, moves with its columns and not with its rows; the
/// iterators of its columns and of its reduction. Nothing where the block is no such product.
struct ProductForm {
  size_t column_read = 0;
  size_t row = 0;  // the last of those along which the operand stands still: a tile has several
  size_t column = 0;
  size_t reduction = 0;
  bool in_order = true;  // do columns lie together in memory, and directly behind them the next step's?
  Buffer operand;
};
std::optional<ProductForm> match_product(const Block& block, const std::vector<size_t>& rows);

}  // namespace tunesmith

// Chains of reductions over one row: softmax, layer and RMS norm, and softmax between two products.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/program.h>

namespace tunesmith {

/// Blocks, producers and consumers of each other, with common rows: the spatial iterators of a reduction
/// along the row.
struct Chain {
  std::vector<std::string> members;  // in text order; only members read all but the last
  /// The positions of the rows in each member's iterators,
  /// in a common order; those of a product's tile are last.
  std::map<std::string, std::vector<size_t>> rows;
  std::string first_product;  // the product whose result the chain begins with; "": none
  std::string first_writer;   // the only, elementwise reader of that product, a member; "": none
  std::string last_product;   // the product that consumes the chain's result; "": none
  std::string last_writer;    // as first_writer
  int64_t row_count = 1;
  int64_t row_bytes = 0;   // of the data kept per row, without scalars
  int64_t row_length = 0;  // bytes of the longest pass over a row, without products

  int64_t working_bytes() const { return row_bytes > row_length ? row_bytes : row_length; }

  /// Members that are neither a product nor its writer.
  std::vector<std::string> row_part() const;
  bool has_products() const { return !first_product.empty() || !last_product.empty(); }
};

/// A reduction that reads each element of its rows once, in their order.
bool is_row_reduction(const Block& block);

/// The products that a chain accepts.
struct ProductLimits {
  int64_t operand_bytes = 0;            // maximum for the operand that moves with the columns
  std::vector<int64_t> tile_rows = {};  // the maximum rows of each available tile
};

/// Tile heights, all rows or more than half of `max_rows`: those that divide the rows,
/// the tallest first; if there are none, all, beginning with those with the least excess.
std::vector<int64_t> tile_heights(int64_t rows, int64_t max_rows);

/// Finds the chain of the block, or returns why there is none, as a constant sentence.
std::string find_chain(const Program& program, const Block& block, const ProductLimits& limits, Chain* chain);

/// A product's read that moves with its columns and not with its rows, and the iterators of columns and
/// reduction.
struct ProductForm {
  size_t column_read = 0;
  size_t row = 0;  // the last row iterator along which the operand is invariant: a tile has several
  size_t column = 0;
  size_t reduction = 0;
  bool in_order = true;  // are columns contiguous in memory, directly followed by those of the next step?
  Buffer operand;
};
/// Nothing if the block is not such a product.
std::optional<ProductForm> match_product(const Block& block, const std::vector<size_t>& rows);

}  // namespace tunesmith

// Attention by its structure: a product, elementwise blocks (scale, mask), the exponentials of what is below
// a row's maximum, their sum, and a product of the exponentials, divided by the sum before or behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tunesmith/stable/analysis.h>

namespace tunesmith {

/// Names of blocks; "" for one that is not there.
struct Attention {
  std::string product;  // of queries and keys
  std::string scores;   // what the maximum is of: elementwise, or "" where it is the product's result
  std::string maximum;
  std::string exponential;
  std::string sum;
  std::string quotient;  // between the exponentials and the second product
  std::string result;    // the second product

  bool has(std::string_view block) const {
    return block == product || block == scores || block == maximum || block == exponential || block == sum ||
           block == result;
  }
};

/// The attention whose second product is `block`; nothing if there is none.
std::optional<Attention> find_attention(const Program& program, const Block& block);

/// Positions of iterators of the second product, where the exponentials are its read `weights`.
struct ResultAxes {
  size_t weights = 0;
  size_t values = 0;               // the other read
  std::vector<size_t> dimensions;  // the iterator of each dimension of the weights
  size_t row = 0;                  // the last one that the values do not have
  size_t key = 0;
  size_t column = 0;
};

/// `weights`: the buffer of the exponentials. Nothing if an index is not one iterator.
std::optional<ResultAxes> result_axes(const Block& result, const std::string& weights);

}  // namespace tunesmith

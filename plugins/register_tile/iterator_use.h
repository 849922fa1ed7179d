// How the loads of a block use an iterator: itself, or only its quotient or remainder by a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tunesmith/stable/module.h>

namespace tunesmith {

struct IteratorUse {
  bool whole = false;        // used in another way than the following
  int64_t quotient_by = 0;   // divided by this number; 0: nowhere
  int64_t remainder_by = 0;  // its remainder, possibly plus a constant, by this number; 0: nowhere
};

/// The uses in the indices of all loads of the buffer with this name.
IteratorUse use_of_iterator(const Block& block, std::string_view buffer, const IterVar& iter);

/// In all loads of the buffer, does the index of this dimension
/// move by one with the iterator, and no other index?
bool steps_by_one(const Block& block, std::string_view buffer, size_t dimension, const IterVar& iter);

}  // namespace tunesmith

// Tests whether a list contains a value.
#pragma once

#include <algorithm>
#include <iterator>

#pragma GCC visibility push(default)
namespace tunesmith {

template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace tunesmith
#pragma GCC visibility pop

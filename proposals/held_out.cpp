#include "tunesmith/proposals/held_out.h"

#include <bit>

#include <fmt/format.h>

#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// Makes "i0*2 + i3 - 1" and "i0*4 + i3 - 2" equal: strides and paddings vary with extents.
std::string without_numbers(const std::string& indices) {
  std::string kept;
  bool in_name = false;
  for (const char c : indices) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || in_name) kept += c;
    in_name = (c >= 'a' && c <= 'z') || (digit && in_name);
  }
  return kept;
}

}  // namespace

std::string neighbourhood(const SequenceTask& task) {
  std::string text;
  for (const SequenceBlock& block : task.blocks) {
    for (const SequenceIterator& iterator : block.iterators)
      text += fmt::format("{}{} ", iter_kind_name(iterator.kind),
                          std::bit_width(static_cast<uint64_t>(iterator.extent)));
    for (const SequenceAccess& access : block.accesses)
      text += fmt::format("{}{}[{}] ", access.writes ? "w" : "r", task.arrays[access.array].dtype.str(),
                          without_numbers(access.indices));
    for (const SequenceOperation& operation : block.operations)
      text += fmt::format("{}.{} ", operation.name, operation.dtype.str());
    text += "\n";
  }
  return text;
}

bool is_held_out(const SequenceTask& task) { return hash_bytes(neighbourhood(task)) % kHeldOutShare == 0; }

}  // namespace tunesmith

#include "primitives/shared/inlined_size.h"

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxNodes = 8192;

}  // namespace

std::optional<Refusal> inlined_size_refusal(const Block& reader, const Buffer& buffer, const Expr& value) {
  size_t nodes = 0;
  size_t loads = 0;
  walk_exprs(reader, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    ++nodes;
    if (load != nullptr && load->buffer == buffer) ++loads;
  });
  size_t of_value = 0;
  walk_expr(value, [&](const Expr&) { ++of_value; });
  if (nodes + loads * of_value <= kMaxNodes) return std::nullopt;
  return Refusal{"the expressions of the consumer would become too large",
                 fmt::format("{} nodes", nodes + loads * of_value), &reader};
}

}  // namespace tunesmith

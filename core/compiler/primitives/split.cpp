#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

/// A larger extent is a mistake, and products of extents would overflow.
constexpr int64_t kLargestExtent = int64_t{1} << 40;

/// Fills in the open factor; the product is at least the extent.
std::vector<int64_t> complete_factors(const Program& program, const Loop& loop,
                                      std::span<const std::optional<int64_t>> factors) {
  const int64_t extent = loop.const_extent();
  const auto refuse = [&](std::string_view reason, std::string detail) {
    throw ScheduleError("split", reason, std::move(detail), program, &loop);
  };
  const auto misuse = [&](std::string_view reason, std::string detail) {
    throw ScheduleMisuse("split", reason, std::move(detail), program, &loop);
  };
  if (factors.empty()) misuse("there are no factors", "");
  int64_t product = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!factors[i].has_value()) {
      if (open.has_value())
        misuse("more than one factor is None", fmt::format("factors {} and {}", *open, i));
      open = i;
      continue;
    }
    if (*factors[i] < 1) misuse("a factor is less than one", fmt::format("factor {} is {}", i, *factors[i]));
    if (__builtin_mul_overflow(product, *factors[i], &product) || product > kLargestExtent) {
      refuse("the product of the factors is too large", "more than 2^40");
    }
  }
  std::vector<int64_t> result;
  for (const auto& factor : factors) result.push_back(factor.value_or((extent + product - 1) / product));
  if (!open.has_value() && product < extent) {
    refuse("the product of the factors is less than the extent", fmt::format("{} < {}", product, extent));
  }
  return result;
}

}  // namespace

std::vector<LoopId> split(Program& program, LoopId loop_id, std::span<const std::optional<int64_t>> factors) {
  Loop& loop = loop_at(program, loop_id, "split");
  require_plain_loop(program, loop, "split");
  const std::vector<int64_t> extents = complete_factors(program, loop, factors);

  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  std::vector<Var> vars;
  Expr index = 0;
  int64_t stride = product;
  for (size_t i = 0; i < extents.size(); ++i) {
    stride /= extents[i];
    vars.emplace_back(fmt::format("{}_{}", loop.var->name, i));
    // Omits loops of one iteration, which keeps bindings short.
    if (extents[i] > 1) index = index + vars.back() * stride;
  }
  const bool exceeds = product > loop.const_extent();
  const Expr predicate = exceeds ? lt(index, loop.const_extent()) : Expr();

  const Var old = loop.var;
  StmtPtr nest = loop.take_body();
  std::vector<LoopId> ids(extents.size(), LoopId{});
  for (size_t i = extents.size(); i-- > 0;) {
    std::unique_ptr<Loop> part = program.make_loop(vars[i], extents[i], std::move(nest));
    ids[i] = part->id;
    nest = std::move(part);
  }
  Stmt& top = *nest;
  replace(loop, std::move(nest));
  replace_loop_var(top, old, index, predicate);
  return ids;
}

KindPtr split_kind() { return make_loop_transformation("split", split, {"loop", "factors"}); }

std::vector<LoopRV> Schedule::split(LoopRV loop, const std::vector<std::optional<IntArg>>& factors) {
  return as_handles<LoopRV>(execute(kind("split"), {loop, as_arg(factors)}));
}

}  // namespace tunesmith

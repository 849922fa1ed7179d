#include "text/async_copy_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/address_parts.h"
#include "tunesmith/performance/vector_access.h"

namespace tunesmith::cuda {
namespace {

bool is_zero(const Expr& value) {
  if (value.is(ExprKind::Broadcast)) return is_zero(value.arg(0));
  if (const auto* number = value.as<FloatImm>()) return number->value == 0.0 && !std::signbit(number->value);
  return is_const_int(value, 0);
}

/// The source, and the condition for copying it; null: zeros are written instead.
struct Source {
  const LoadNode* load = nullptr;
  Expr condition = bool_imm(true);
};

std::optional<Source> source_of(const Expr& value, const Analyzer& ranges) {
  Source source;
  const auto only_where = [&](const Expr& mask) {
    const Expr same = same_in_all_lanes(mask, ranges);
    if (same) source.condition = logical_and(source.condition, same);
    return static_cast<bool>(same);
  };
  Expr copied = value;
  if (value.is(ExprKind::Select)) {
    if (!is_zero(value.arg(2)) || !only_where(value.arg(0))) return std::nullopt;
    copied = value.arg(1);
  }
  source.load = copied.as<LoadNode>();
  if (source.load == nullptr) return std::nullopt;
  const Expr mask = source.load->mask();
  const bool known = !mask || (value.is(ExprKind::Select) && equal(mask, value.arg(0)));
  if (!known && !only_where(mask)) return std::nullopt;
  return source;
}

/// A scalar, or a vector accessed by one instruction.
bool is_whole(const Store& store, const AccessSite& access, const ExecutionModel& execution, int64_t bytes) {
  return !access.indices[0].dtype().is_vector() || is_one_access(store, access, execution, bytes);
}

}  // namespace

std::optional<std::string> async_copy_text(const Store& store, const ExecutionModel& execution,
                                           ExprText& exprs) {
  const Analyzer ranges = Analyzer::at(store);
  const MemoryScope* to = execution.find_scope(store.buffer->scope);
  const int64_t bytes = int64_t{store.indices[0].dtype().lanes} * store.buffer->dtype.bytes();
  if (to == nullptr || std::ranges::find(to->async_copy_bytes, bytes) == to->async_copy_bytes.end())
    return std::nullopt;
  const auto source = source_of(store.value, ranges);
  if (!source || source->load->buffer->dtype != store.buffer->dtype) return std::nullopt;
  const LoadNode& load = *source->load;
  const MemoryScope* from = execution.find_scope(load.buffer->scope);
  if (from == nullptr || execution.depth_of(*from) != 0) return std::nullopt;
  if (!is_whole(store, {store.buffer, store.indices}, execution, bytes) ||
      !is_whole(store, {load.buffer, load.indices(), &load}, execution, bytes))
    return std::nullopt;
  const Expr guard = store.mask ? same_in_all_lanes(store.mask, ranges) : bool_imm(true);
  if (!guard) return std::nullopt;

  const bool guarded = !is_const_int(guard, 1);
  std::string text = guarded ? fmt::format("if ({}) ", exprs.text(guard, ranges)) : "";
  if (guarded) exprs.hold(guard);
  const auto place = [&](const Buffer& buffer, const Expr& index) {
    return "&" + exprs.element(buffer, ranges.simplify(in_lane(index, 0)), ranges);
  };
  const AddressParts parts =
      address_parts(ranges.simplify(in_lane(store.indices[0], 0)), store, store.buffer->swizzle);
  const std::string there = is_const_int(parts.moving, 0)
                                ? place(store.buffer, store.indices[0])
                                : address_text(store.buffer, parts, "", ranges, exprs);
  const std::string addresses = there + ", " + place(load.buffer, load.indices()[0]);
  const Expr condition = ranges.simplify(source->condition);
  if (is_const_int(condition, 1) || exprs.holds(condition)) {
    text += fmt::format("cp_async{}({});", bytes, addresses);
  } else {
    text += fmt::format("cp_async{0}_zfill({1}, {2} ? {0} : 0);", bytes, addresses,
                        exprs.text(condition, ranges, ExprText::kOperand));
  }
  if (guarded) exprs.release();
  return text;
}

}  // namespace tunesmith::cuda

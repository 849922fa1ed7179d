#include <fmt/format.h>

#include "interp/machine.h"
#include "tunesmith/ir/fold.h"

namespace tunesmith::interp {
namespace {

double round_fast(DType type, double value) {
  if (type.code == TypeCode::Float && type.bits == 32) return static_cast<float>(value);
  return round_to(type, value);
}

}  // namespace

int64_t Machine::eval_int(const ExprCode& e, Values values, int lane) {
  switch (e.kind) {
    case ExprKind::IntImm:
      return e.int_value;
    case ExprKind::Var:
      return values[e.slot];
    case ExprKind::Ramp:
      return *fold_int(ExprKind::Add, eval_int(e.args[0], values, 0),
                       *fold_int(ExprKind::Mul, eval_int(e.args[1], values, 0), lane, kIndex), kIndex);
    case ExprKind::Broadcast:
      return eval_int(e.args[0], values, 0);
    case ExprKind::Not:
      return !eval_bool(e.args[0], values, lane);
    case ExprKind::Select:
      return eval_int(e.args[eval_bool(e.args[0], values, lane) ? 1 : 2], values, lane);
    case ExprKind::Cast:
      return cast_to_int(e, values, lane);
    case ExprKind::Call: {
      const int64_t value = eval_int(e.args[0], values, lane);
      if (is_bit_op(e.math)) return evaluate_bits(e.math, value, eval_int(e.args[1], values, lane), e.type);
      // Abs is the only other function of integers.
      if (e.type.is_unsigned_int()) return value;
      return value < 0 ? wrap_to(e.type, *fold_int(ExprKind::Sub, 0, value, e.type)) : value;
    }
    case ExprKind::Load: {
      Storage* from = nullptr;
      size_t offset = 0;
      return locate(e, values, lane, &from, &offset) ? from->ints[offset] : 0;
    }
    default:
      break;
  }
  if (e.operands_float) {
    return compare_float(e.kind, eval_float(e.args[0], values, lane), eval_float(e.args[1], values, lane));
  }
  const auto result =
      fold_int(e.kind, eval_int(e.args[0], values, lane), eval_int(e.args[1], values, lane), e.args[0].type);
  if (!result) fail("division by zero", values);
  return e.type.bits == 64 ? *result : wrap_to(e.type, *result);
}

double Machine::eval_float(const ExprCode& e, Values values, int lane) {
  switch (e.kind) {
    case ExprKind::FloatImm:
      return e.float_value;
    case ExprKind::Broadcast:
      return eval_float(e.args[0], values, 0);
    case ExprKind::Select:
      return eval_float(e.args[eval_bool(e.args[0], values, lane) ? 1 : 2], values, lane);
    case ExprKind::Cast:
      return cast_to_float(e, values, lane);
    case ExprKind::Call: {
      const double a = eval_float(e.args[0], values, lane);
      const double b = e.args.size() > 1 ? eval_float(e.args[1], values, lane) : 0;
      return round_fast(e.type, evaluate_math(e.math, a, b));
    }
    case ExprKind::Load: {
      Storage* from = nullptr;
      size_t offset = 0;
      return locate(e, values, lane, &from, &offset) ? from->floats[offset] : 0;
    }
    default:
      break;
  }
  const auto result =
      fold_float(e.kind, eval_float(e.args[0], values, lane), eval_float(e.args[1], values, lane));
  if (!result) fail("an operator that floats do not have", values);
  return round_fast(e.type, *result);
}

int64_t Machine::cast_to_int(const ExprCode& e, Values values, int lane) {
  if (e.operands_float) return float_to_int(eval_float(e.args[0], values, lane), e.type);
  return wrap_to(e.type, eval_int(e.args[0], values, lane));
}

double Machine::cast_to_float(const ExprCode& e, Values values, int lane) {
  if (e.operands_float) return round_to(e.type, eval_float(e.args[0], values, lane));
  const int64_t value = eval_int(e.args[0], values, lane);
  return round_to(e.type, int_to_float(value, e.args[0].type, e.type));
}

bool Machine::locate(const ExprCode& e, Values values, int lane, Storage** from, size_t* offset) {
  const size_t rank = e.args.size() - (e.masked ? 1 : 0);
  if (e.masked && !eval_bool(e.args[rank], values, lane)) return false;
  const auto slot = static_cast<size_t>(e.slot);
  Storage& storage = storages_[slot];
  *offset = offset_of(storage, std::span(e.args).first(rank), values, lane);
  *from = &storage;
  note_read(storage, slot, *offset, values);
  return true;
}

size_t Machine::existing(const Storage& target, size_t offset, Values values) const {
  if (!target.exists(offset)) {
    fail(fmt::format("{} does not exist for these values of the program's parameters",
                     element(target, offset)),
         values);
  }
  return offset;
}

size_t Machine::offset_of(const Storage& target, std::span<const ExprCode> indices, Values values, int lane) {
  const std::vector<int64_t>& shape = target.buffer->shape;
  if (indices.size() == 1 && (shape.size() != 1 || !target.buffer->strides.empty())) {  // lowered: the offset
    const int64_t flat = eval_int(indices[0], values, lane);
    if (flat >= 0 && flat < target.buffer->span()) return existing(target, static_cast<size_t>(flat), values);
    fail(fmt::format("{}[{}] is outside its {} elements", target.buffer->name, flat, target.buffer->span()),
         values);
  }
  int64_t offset = 0;
  bool inside = true;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t index = eval_int(indices[d], values, lane);
    inside = inside && index >= 0 && index < shape[d];
    // Behind an index that is out of range, the others are not multiplied, so that nothing overflows.
    if (inside) offset += index * target.strides[d];
  }
  if (inside) return existing(target, static_cast<size_t>(offset), values);
  std::vector<int64_t> position;
  for (const ExprCode& index : indices) position.push_back(eval_int(index, values, lane));
  fail(fmt::format("{}[{}] is outside its shape [{}]", target.buffer->name, fmt::join(position, ", "),
                   fmt::join(shape, ", ")),
       values);
}

}  // namespace tunesmith::interp

#include "tunesmith/ir/fold.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

/// Rounds to 11 significant bits, ties away from zero.
double round_tf32(double value) {
  if (!std::isfinite(value)) return value;
  constexpr int kDropped = 52 - 10;
  const uint64_t half = uint64_t{1} << (kDropped - 1);
  const uint64_t bits = (std::bit_cast<uint64_t>(value) + half) & ~(2 * half - 1);
  return std::bit_cast<double>(bits);
}

}  // namespace

double int_to_float(int64_t value, DType from, DType to) {
  const bool narrow = to.code == TypeCode::Float && to.bits == 32;
  if (from.is_unsigned_int()) {
    const auto number = static_cast<uint64_t>(value);
    return narrow ? static_cast<float>(number) : static_cast<double>(number);
  }
  return narrow ? static_cast<float>(value) : static_cast<double>(value);
}

int64_t evaluate_bits(MathOp op, int64_t a, int64_t b, DType type) {
  const bool beyond = static_cast<uint64_t>(b) >= static_cast<uint64_t>(type.bits);
  switch (op) {
    case MathOp::BitAnd:
      return a & b;
    case MathOp::BitOr:
      return a | b;
    case MathOp::BitXor:
      return a ^ b;
    case MathOp::ShiftLeft:
      return beyond ? 0 : wrap_to(type, static_cast<int64_t>(static_cast<uint64_t>(a) << b));
    default:
      break;
  }
  if (type.is_unsigned_int()) return beyond ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> b);
  return a >> (beyond ? 63 : b);
}

int64_t float_to_int(double value, DType type) {
  if (type.is_bool()) return value != 0;
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  const bool is_unsigned = type.code == TypeCode::UInt;
  const int magnitude_bits = is_unsigned ? type.bits : type.bits - 1;
  const double end = std::ldexp(1.0, magnitude_bits);
  const double begin = is_unsigned ? 0.0 : -end;
  if (truncated < begin) return static_cast<int64_t>(begin);
  if (magnitude_bits == 64) {
    return truncated >= end ? -1 : static_cast<int64_t>(static_cast<uint64_t>(truncated));
  }
  if (truncated >= end) {
    return magnitude_bits == 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << magnitude_bits) - 1;
  }
  return static_cast<int64_t>(truncated);
}

double evaluate_math(MathOp op, double a, double b) {
  switch (op) {
    case MathOp::Exp:
      return std::exp(a);
    case MathOp::Log:
      return std::log(a);
    case MathOp::Tanh:
      return std::tanh(a);
    case MathOp::Erf:
      return std::erf(a);
    case MathOp::Sqrt:
      return std::sqrt(a);
    case MathOp::Rsqrt:
      return 1.0 / std::sqrt(a);
    case MathOp::Pow:
      return std::pow(a, b);
    case MathOp::Abs:
      return std::abs(a);
    case MathOp::Sigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case MathOp::Floor:
      return std::floor(a);
    case MathOp::Ceil:
      return std::ceil(a);
    case MathOp::RoundTf32:
      return round_tf32(a);
    case MathOp::RoundEven:
      return std::nearbyint(a);
    case MathOp::Sin:
      return std::sin(a);
    case MathOp::Cos:
      return std::cos(a);
    case MathOp::BitAnd:
    case MathOp::BitOr:
    case MathOp::BitXor:
    case MathOp::ShiftLeft:
    case MathOp::ShiftRight:
      break;
  }
  return a;
}

}  // namespace tunesmith

#include "tunesmith/ir/dtype.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tunesmith {
namespace {

struct NamedType {
  const char* name;
  DType type;
};
constexpr NamedType kTypes[] = {{"f64", kF64}, {"f32", kF32}, {"f16", kF16},  {"bf16", kBF16}, {"i64", kI64},
                                {"i32", kI32}, {"i16", kI16}, {"i8", kI8},    {"u64", kU64},   {"u32", kU32},
                                {"u16", kU16}, {"u8", kU8},   {"bool", kBool}};

/// Rounds to `precision` bits of significand with the smallest normal number 2^min_exponent.
double round_significand(double value, int precision, int min_exponent, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int quantum = std::max(exponent - 1, min_exponent) - (precision - 1);
  // nearbyint rounds ties to even in the default rounding mode; the scalings are exact.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  if (std::abs(rounded) > largest) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

}  // namespace

std::string DType::str() const {
  std::string text;
  switch (code) {
    case TypeCode::Bool:
      text = "bool";
      break;
    case TypeCode::Int:
      text = fmt::format("i{}", bits);
      break;
    case TypeCode::UInt:
      text = fmt::format("u{}", bits);
      break;
    case TypeCode::Float:
      text = fmt::format("f{}", bits);
      break;
    case TypeCode::BFloat:
      text = fmt::format("bf{}", bits);
      break;
    case TypeCode::Index:
      text = "index";
      break;
  }
  if (lanes != 1) text += fmt::format("x{}", lanes);
  return text;
}

std::optional<DType> DType::parse(std::string_view name) {
  for (const NamedType& entry : kTypes) {
    if (name == entry.name) return entry.type;
  }
  return std::nullopt;
}

const std::vector<std::string>& DType::names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const NamedType& entry : kTypes) list.emplace_back(entry.name);
    return list;
  }();
  return all;
}

double unit_roundoff(DType type) {
  if (type.code == TypeCode::BFloat) return std::ldexp(1.0, -8);
  if (type.code != TypeCode::Float) return 0;
  switch (type.bits) {
    case 16:
      return std::ldexp(1.0, -11);
    case 32:
      return std::ldexp(1.0, -24);
    default:
      return std::ldexp(1.0, -53);
  }
}

double round_to(DType type, double value) {
  if (type.code == TypeCode::BFloat) return round_significand(value, 8, -126, 0x1.fep127);
  if (type.bits == 16) return round_significand(value, 11, -14, 65504.0);
  if (type.bits == 32) return static_cast<float>(value);
  return value;
}

int64_t wrap_to(DType type, int64_t value) {
  if (type.is_bool()) return value != 0;
  if (type.bits >= 64) return value;
  const int shift = 64 - type.bits;
  const uint64_t high = static_cast<uint64_t>(value) << shift;
  return type.code == TypeCode::UInt ? static_cast<int64_t>(high >> shift)
                                     : static_cast<int64_t>(high) >> shift;
}

}  // namespace tunesmith

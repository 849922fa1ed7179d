// Types of values: the element types f64 f32 f16 bf16, i64 i32 i16 i8, u64 u32 u16 u8, bool, and the index
// type, each with a number of vector lanes.
//
// Integers are data or indices. Data (i64 to u8) wrap around modulo 2^bits, so `a + 1 > a` may be false.
// Indices (loop and iteration variables, extents, indices of accesses) have 64 bits and never overflow:
// builders of index arithmetic ensure it, and simplifications and targets rely on it. A cast between the
// two keeps the value. Buffers contain no indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

enum class TypeCode : uint8_t { Bool, Int, UInt, Float, BFloat, Index };

struct DType {
  TypeCode code = TypeCode::Int;
  uint8_t bits = 64;
  uint16_t lanes = 1;

  bool operator==(const DType&) const = default;

  bool is_float() const { return code == TypeCode::Float || code == TypeCode::BFloat; }
  /// Data or index.
  bool is_int() const { return code == TypeCode::Int || code == TypeCode::UInt || is_index(); }
  bool is_signed_int() const { return code == TypeCode::Int || is_index(); }
  bool is_unsigned_int() const { return code == TypeCode::UInt; }
  bool is_index() const { return code == TypeCode::Index; }
  bool is_bool() const { return code == TypeCode::Bool; }
  bool is_vector() const { return lanes > 1; }
  /// Bytes of one lane in memory; a bool takes one byte.
  int bytes() const { return (bits + 7) / 8; }
  DType scalar() const { return {code, bits, 1}; }
  DType with_lanes(int n) const { return {code, bits, static_cast<uint16_t>(n)}; }
  /// "f32", "bf16x32", "bool", "index".
  std::string str() const;
  /// Parses the name of an element type.
  static std::optional<DType> parse(std::string_view name);
  /// The names that `parse` accepts, for error messages.
  static const std::vector<std::string>& names();
};

inline constexpr DType kF64{TypeCode::Float, 64}, kF32{TypeCode::Float, 32}, kF16{TypeCode::Float, 16};
inline constexpr DType kBF16{TypeCode::BFloat, 16};
inline constexpr DType kI64{TypeCode::Int, 64}, kI32{TypeCode::Int, 32}, kI16{TypeCode::Int, 16};
inline constexpr DType kI8{TypeCode::Int, 8};
inline constexpr DType kU64{TypeCode::UInt, 64}, kU32{TypeCode::UInt, 32}, kU16{TypeCode::UInt, 16};
inline constexpr DType kU8{TypeCode::UInt, 8}, kBool{TypeCode::Bool, 1};
inline constexpr DType kIndex{TypeCode::Index, 64};

/// The unit roundoff of a floating type (half the distance from 1 to the next value); 0 for other types.
double unit_roundoff(DType type);
/// The value of the floating type `type` nearest to `value`, ties to even; overflow gives an infinity.
double round_to(DType type, double value);
/// `value` wrapped to an integer type; 0 or 1 for bool; unchanged for an
/// index. A u64 is kept as the i64 with the same bits, here and in constants.
int64_t wrap_to(DType type, int64_t value);

}  // namespace tunesmith
#pragma GCC visibility pop

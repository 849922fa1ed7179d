#include "codes.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::operators_onnx {
namespace {

/// A format of ONNX. An integer's `fraction` is its number of bits.
struct Format {
  Code code;
  int64_t number;
  DType dtype;
  int exponent = 0, fraction = 0, bias = 0;
  int largest = 0;  ///< the byte of the largest finite value
  int beyond = 0;   ///< the byte of values out of range, without saturation
  int not_a_number = 0;
};

constexpr std::array<Format, 10> kFormats{{{Code::F8E4M3Fn, 17, kU8, 4, 3, 7, 0x7e, 0x7f, 0x7f},
                                           {Code::F8E4M3FnUz, 18, kU8, 4, 3, 8, 0x7f, 0x80, 0x80},
                                           {Code::F8E5M2, 19, kU8, 5, 2, 15, 0x7b, 0x7c, 0x7e},
                                           {Code::F8E5M2FnUz, 20, kU8, 5, 2, 16, 0x7f, 0x80, 0x80},
                                           {Code::U4, 21, kU8, 0, 4},
                                           {Code::I4, 22, kI8, 0, 4},
                                           {Code::F4E2M1, 23, kU8, 2, 1, 1, 0x7, 0x7, 0x8},
                                           {Code::F8E8M0, 24, kU8, 8, 0, 127, 0xfe, 0xff, 0xff},
                                           {Code::U2, 25, kU8, 0, 2},
                                           {Code::I2, 26, kI8, 0, 2}}};

const Format& format_of(Code code) {
  for (const Format& format : kFormats)
    if (format.code == code) return format;
  throw InternalError("a code of values has no format");
}

bool has_no_negative_zero(const Format& format) { return format.beyond == 0x80; }

/// 2^exponent as the language reads it.
std::string power(int exponent) { return fmt::format("{}", std::ldexp(1.0, exponent)); }

/// 2^(k - bias) for an integer `k` of `format.exponent` bits. Exact: multiplies by powers from the highest
/// bit on, so that nothing overflows.
std::string power_of(const Format& format, const std::string& k) {
  std::string value = power(-format.bias);
  for (int bit = format.exponent - 1; bit >= 0; --bit) {
    const std::string is_set = fmt::format("{} // {} % 2 == 1", k, 1 << bit);
    const std::string factor =
        bit == format.exponent - 1
            ? fmt::format("select({}, f32({}), {})", is_set, power((1 << bit) - format.bias), value)
            : fmt::format("select({}, f32({}), 1)", is_set, power(1 << bit));
    value = bit == format.exponent - 1 ? factor : fmt::format("{} * {}", value, factor);
  }
  return value;
}

}  // namespace

DType dtype_of(Code code) { return format_of(code).dtype; }

bool is_integer_code(Code code) { return code != Code::None && format_of(code).exponent == 0; }

std::optional<TensorType> type_with_code(int64_t number) {
  for (const Format& format : kFormats)
    if (format.number == number) return TensorType{format.dtype, {}, format.code};
  return std::nullopt;
}

std::string decoded(Code code, const std::string& byte) {
  const Format& format = format_of(code);
  const std::string bits = fmt::format("i32({})", byte);
  // The language has no literal for NaN; the root of a negative number is NaN.
  const std::string nan = fmt::format("sqrt(f32(-1 - {}))", bits);
  if (code == Code::F8E8M0)
    return fmt::format("select({} == 255, {}, {})", bits, nan, power_of(format, bits));
  const int ones = 1 << format.fraction, sign = 1 << (format.exponent + format.fraction);
  const std::string fraction = fmt::format("f32({} % {})", bits, ones);
  const std::string exponent = fmt::format("({} // {} % {})", bits, ones, 1 << format.exponent);
  std::string value = fmt::format("select({} == 0, {} * {}, ({} + {}) * {} * {})", exponent, fraction,
                                  power(1 - format.bias - format.fraction), fraction, ones,
                                  power_of(format, exponent), power(-format.fraction));
  value = fmt::format("select({} >= {}, -1, f32(1)) * {}", bits, sign, value);
  if (has_no_negative_zero(format)) return fmt::format("select({} == 128, {}, {})", bits, nan, value);
  if (code == Code::F4E2M1) return value;
  value = fmt::format("select({} % 128 > {}, {}, {})", bits, format.largest, nan, value);
  if (code != Code::F8E5M2) return value;
  return fmt::format("select({0} % 128 == {1}, select({0} >= 128, -inf, f32(inf)), {2})", bits, format.beyond,
                     value);
}

std::string encoded(Script& script, const Shape& shape, Code code, const std::string& value, bool saturate) {
  const Format& format = format_of(code);
  const int64_t last = (1 << format.exponent) - 1;
  const std::string x = script.here(shape, value);
  const std::string size = script.here(shape, fmt::format("abs({})", x));
  const std::string powers = script.make({last + 1}, power_of(format, "i0"));
  // The exponent is the number of powers of two that are not larger than the value.
  const std::string exponent = script.here(
      shape,
      reduction("sum", {"r0"}, {last}, fmt::format("select({} >= {}[r0 + 1], i32(1), 0)", size, powers)));
  const std::string from_one = fmt::format("max({}, 1)", exponent);
  const std::string steps =
      fmt::format("{} / ({}[at({})] * {})", size, powers, from_one, power(-format.fraction));
  const std::string code_of = script.here(
      shape, fmt::format("f32(({} - 1) * {}) + {}", from_one, 1 << format.fraction, rounded(steps)));
  const std::string magnitude =
      script.here(shape, fmt::format("select({0} <= {1}, i32({0}), select({2} >= 0, i32({3}), {4}))", code_of,
                                     format.largest, size, saturate ? format.largest : format.beyond,
                                     format.not_a_number));
  const int sign = 1 << (format.exponent + format.fraction);
  const std::string is_negative = has_no_negative_zero(format)
                                      ? fmt::format("{} < 0 and {} > 0 and {} < 128", x, magnitude, magnitude)
                                      : fmt::format("({0} < 0 or {0} == 0 and 1 / {0} < 0)", x);
  return fmt::format("u8({} + select({}, i32({}), 0))", magnitude, is_negative, sign);
}

std::string encoded_power(Script& script, const Shape& shape, const std::string& value,
                          const std::string& round_mode, bool saturate) {
  if (round_mode != "up" && round_mode != "down")
    throw UserError(fmt::format("attribute 'round_mode' is '{}'", round_mode), "expected 'up' or 'down'");
  const Format& format = format_of(Code::F8E8M0);
  const std::string size = script.here(shape, fmt::format("abs({})", value));
  const std::string powers = script.make({format.beyond}, power_of(format, "i0"));
  const bool is_up = round_mode == "up";
  const std::string below = script.here(
      shape, reduction("sum", {"r0"}, {format.beyond},
                       fmt::format("select({} {} {}[r0], i32(1), 0)", size, is_up ? ">" : ">=", powers)));
  const std::string code = is_up
                               ? fmt::format("min({}, {})", below, saturate ? format.largest : format.beyond)
                               : fmt::format("max({} - 1, 0)", below);
  return fmt::format("u8(select({} < inf, {}, {}))", size, code, format.not_a_number);
}

std::string wrapped(Code code, const std::string& integer) {
  const Format& format = format_of(code);
  const int count = 1 << format.fraction;
  if (format.dtype == kU8) return fmt::format("u8({} % {})", integer, count);
  return fmt::format("i8(({} + {}) % {} - {})", integer, count / 2, count, count / 2);
}

std::string clamped(Code code, const std::string& value) {
  const Format& format = format_of(code);
  const int count = 1 << format.fraction, least = format.dtype == kU8 ? 0 : -count / 2;
  return typed(format.dtype, fmt::format("max({}, min({}, {}))", least, least + count - 1, value));
}

}  // namespace tunesmith::operators_onnx

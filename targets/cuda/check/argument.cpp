#include "argument.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <regex>

#include <fmt/format.h>

#include "../device/float16.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

using namespace tunesmith_emulation;

struct TypeName {
  const char* name;
  ElementType type;
  size_t bytes;
};
constexpr std::array<TypeName, 5> kTypes{{{"f32", ElementType::F32, 4},
                                          {"f16", ElementType::F16, 2},
                                          {"bf16", ElementType::Bf16, 2},
                                          {"s32", ElementType::S32, 4},
                                          {"s8", ElementType::S8, 1}}};

const TypeName& type_named(const std::string& name, const std::string& text) {
  std::vector<std::string> known;
  for (const TypeName& type : kTypes) {
    if (name == type.name) return type;
    known.push_back(type.name);
  }
  throw UserError(fmt::format("--arg {}: no type '{}'", text, name), suggest(name, known));
}

size_t bytes_of(ElementType type) {
  for (const TypeName& known : kTypes)
    if (known.type == type) return known.bytes;
  throw InternalError("an element of no type");
}

template <class Value>
std::vector<unsigned char> bytes_of_value(Value value) {
  std::vector<unsigned char> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

unsigned whole(const std::string& digits) { return unsigned(std::stoul(digits)); }

double element(const CheckedArgument& argument, size_t index) {
  const size_t bytes = bytes_of(argument.type);
  std::array<unsigned char, 4> raw{};
  std::memcpy(raw.data(), argument.argument.bytes.data() + index * bytes, bytes);
  uint16_t half = 0;
  std::memcpy(&half, raw.data(), sizeof half);
  switch (argument.type) {
    case ElementType::F32:
      return double(__builtin_bit_cast(float, raw));
    case ElementType::F16:
      return double(f16_to_f32(half));
    case ElementType::Bf16:
      return double(bf16_to_f32(half));
    case ElementType::S32:
      return double(__builtin_bit_cast(int, raw));
    case ElementType::S8:
      return double(static_cast<signed char>(raw[0]));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

CheckedArgument read_argument(const std::string& text) {
  static const std::regex buffer(R"((\w+)=(?:(out|hidden):)?(\w+)\[(\d{1,9})\])");
  static const std::regex map(R"((\w+)=map:(\w+):(\d{1,9}),(\d{1,9}):(\d{1,9}),(\d{1,9}))");
  static const std::regex integer(R"((\w+)=(-?\d{1,9}))"), real(R"((\w+)=(-?\d*\.\d*(?:e-?\d+)?))");
  std::smatch match;
  CheckedArgument checked;
  EmulatedArgument& argument = checked.argument;
  if (std::regex_match(text, match, buffer)) {
    const TypeName& type = type_named(match[3], text);
    argument.kind = match[2] == "hidden" ? EmulatedArgument::Kind::Hidden : EmulatedArgument::Kind::Buffer;
    checked.output = match[2] == "out";
    checked.type = type.type;
    argument.bytes.resize(type.bytes * whole(match[4]));
  } else if (std::regex_match(text, match, map)) {
    argument.kind = EmulatedArgument::Kind::Map;
    argument.name = match[2];
    argument.tensor =
        BoxedTensor::dense({whole(match[3]), whole(match[4])}, {whole(match[5]), whole(match[6])});
    return checked;
  } else if (std::regex_match(text, match, integer)) {
    argument.bytes = bytes_of_value(std::stoi(match[2]));
  } else if (std::regex_match(text, match, real)) {
    argument.bytes = bytes_of_value(std::stof(match[2]));
  } else {
    throw UserError(
        fmt::format("--arg {}: expected NAME=TYPE[COUNT], NAME=out:TYPE[COUNT], NAME=hidden:TYPE[COUNT], "
                    "NAME=map:BUFFER:EXTENTS:BOX or NAME=NUMBER",
                    text));
  }
  argument.name = match[1];
  return checked;
}

void fill(CheckedArgument& checked, RandomStream& random) {
  EmulatedArgument& argument = checked.argument;
  if (argument.kind == EmulatedArgument::Kind::Value || argument.kind == EmulatedArgument::Kind::Map) return;
  if (checked.output) {
    std::fill(argument.bytes.begin(), argument.bytes.end(), static_cast<unsigned char>(0xff));
    return;
  }
  const size_t bytes = bytes_of(checked.type);
  for (size_t at = 0; at < argument.bytes.size(); at += bytes) {
    const float real = float(2 * random.uniform() - 1);
    const int integer = int(random.below(17)) - 8;
    const auto put = [&](auto value) { std::memcpy(argument.bytes.data() + at, &value, sizeof value); };
    switch (checked.type) {
      case ElementType::F32:
        put(real);
        break;
      case ElementType::F16:
        put(f32_to_f16(real));
        break;
      case ElementType::Bf16:
        put(f32_to_bf16(real));
        break;
      case ElementType::S32:
        put(integer);
        break;
      case ElementType::S8:
        put(static_cast<signed char>(integer));
        break;
    }
  }
}

double largest_error(const CheckedArgument& got, const CheckedArgument& expected) {
  const size_t count = expected.argument.bytes.size() / bytes_of(expected.type);
  double difference = 0, magnitude = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = element(expected, i);
    magnitude = std::max(magnitude, std::abs(value));
    const double error = std::abs(element(got, i) - value);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, error);
  }
  return difference / std::max(magnitude, std::numeric_limits<double>::min());
}

}  // namespace tunesmith::cuda

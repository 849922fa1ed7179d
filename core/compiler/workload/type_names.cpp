#include "workload/type_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 36> kOtherNames = {{
    {"float64", "f64"},   {"double", "f64"},   {"fp64", "f64"},    {"float32", "f32"},  {"float", "f32"},
    {"single", "f32"},    {"fp32", "f32"},     {"float16", "f16"}, {"half", "f16"},     {"fp16", "f16"},
    {"bfloat16", "bf16"}, {"bfloat", "bf16"},  {"int64", "i64"},   {"int64_t", "i64"},  {"long", "i64"},
    {"int32", "i32"},     {"int32_t", "i32"},  {"int", "i32"},     {"int16", "i16"},    {"int16_t", "i16"},
    {"short", "i16"},     {"int8", "i8"},      {"int8_t", "i8"},   {"s8", "i8"},        {"char", "i8"},
    {"uint64", "u64"},    {"uint64_t", "u64"}, {"uint32", "u32"},  {"uint32_t", "u32"}, {"uint16", "u16"},
    {"uint16_t", "u16"},  {"uint8", "u8"},     {"uint8_t", "u8"},  {"byte", "u8"},      {"boolean", "bool"},
    {"bool_", "bool"},
}};

}  // namespace

std::string suggest_type(std::string_view name, const std::vector<std::string>& known) {
  std::string plain(name.substr(name.rfind('.') + 1));  // of "torch.float32"
  std::ranges::transform(plain, plain.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const auto* const other =
      std::ranges::find(kOtherNames, plain, &std::pair<std::string_view, std::string_view>::first);
  const std::string_view ours = other == kOtherNames.end() ? std::string_view(plain) : other->second;
  if (ours != name && std::ranges::find(known, ours) != known.end())
    return fmt::format("did you mean '{}'?", ours);
  return suggest(name, known);
}

}  // namespace tunesmith

#include "corners.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tunesmith::conformance {
namespace {

constexpr size_t kMaxInputs = 6;

bool is_exact(const Buffer& buffer) { return buffer->dtype.is_int() && !buffer->dtype.is_index(); }

int64_t end_of(DType type, bool upper) {
  if (!type.is_signed_int()) return upper ? static_cast<int64_t>(~uint64_t{0} >> (64 - type.bits)) : 0;
  const int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - type.bits);
  return upper ? largest : -largest - 1;
}

bool is_upper(size_t corner, size_t input) { return (corner >> input) % 2 == 0; }

}  // namespace

size_t corners_of(const Program& program) {
  const bool exact =
      std::ranges::all_of(program.inputs, is_exact) && std::ranges::all_of(program.outputs, is_exact);
  if (!exact || program.inputs.empty() || program.inputs.size() > kMaxInputs) return 0;
  return size_t{1} << program.inputs.size();
}

std::vector<Tensor> corner_of(const Program& program, size_t corner) {
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    Tensor& input = arguments.emplace_back(Tensor::like(*program.inputs[i]));
    const int64_t value = end_of(input.dtype, is_upper(corner, i));
    for (int64_t element = 0; element < input.elements(); ++element) input.set_int(element, value);
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  return arguments;
}

std::string corner_text(const Program& program, size_t corner) {
  std::string text;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Buffer& input = program.inputs[i];
    text +=
        fmt::format("{}{} of {}", i == 0 ? "" : ", ", input->name, end_of(input->dtype, is_upper(corner, i)));
  }
  return text;
}

}  // namespace tunesmith::conformance

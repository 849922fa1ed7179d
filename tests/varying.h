// Compares programs for ranges of extents with those for each value.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/lower/lower.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith_test {

/// A varying workload at some values of its parameters, with the expected results.
class AtValues {
 public:
  AtValues(const tunesmith::Workload& workload, std::vector<int64_t> at)
      : values(std::move(at)), fixed(at_values(workload, values)) {
    for (const tunesmith::Buffer& input : fixed.program.inputs) {
      arguments.push_back(tunesmith::Tensor::like(*input));
      arguments.back().fill_random(arguments.size());
    }
    for (const tunesmith::Buffer& output : fixed.program.outputs)
      arguments.push_back(tunesmith::Tensor::like(*output));
    wanted = arguments;
    interpret(fixed.program, wanted);
    options.parameters = values;
  }

  /// `program`, lowered or not, on tensors of full size.
  template <typename Program>
  void expect_interpreted(const Program& lowered, const tunesmith::Program& program, double tolerance) const {
    std::vector<tunesmith::Tensor> full;
    for (const auto* list : {&program.inputs, &program.outputs}) {
      for (const tunesmith::Buffer& buffer : *list) {
        full.push_back(tunesmith::Tensor::like(*buffer));
        visit(arguments[full.size() - 1], full.back(),
              [&](std::byte* one, std::byte* whole, size_t size) { std::memcpy(whole, one, size); });
      }
    }
    // Missing lanes of a tile are computed from anything, and dropped.
    tunesmith::InterpretOptions how = options;
    how.check_uninitialized = std::is_same_v<Program, tunesmith::Program>;
    ASSERT_NO_THROW(interpret(lowered, full, how)) << text(lowered);
    for (size_t i = fixed.program.inputs.size(); i < full.size(); ++i) {
      tunesmith::Tensor got = wanted[i];
      visit(got, full[i], [&](std::byte* one, std::byte* whole, size_t size) {
        std::memcpy(one, whole, size);
        std::memset(whole, 0, size);
      });
      EXPECT_LE(max_error(got, wanted[i]), tolerance)
          << fmt::format("at [{}]\n", values.front()) << text(lowered);
      for (const std::byte byte : full[i].bytes)
        ASSERT_EQ(byte, std::byte{0}) << "an element that does not exist is written";
    }
  }

  std::vector<int64_t> values;
  tunesmith::Workload fixed;
  std::vector<tunesmith::Tensor> arguments, wanted;  // of `fixed`
  tunesmith::InterpretOptions options;

 private:
  /// Of each element of a tensor and that of the larger one which has its indices.
  template <typename Visit>
  static void visit(const tunesmith::Tensor& part, tunesmith::Tensor& full, const Visit& visit) {
    const size_t elements = static_cast<size_t>(part.elements());
    const size_t size = part.bytes.size() / elements;
    for (size_t i = 0; i < elements; ++i) {
      size_t at = 0, rest = i, step = 1;
      for (size_t d = part.shape.size(); d-- > 0;) {
        const auto extent = static_cast<size_t>(part.shape[d]);
        at += rest % extent * step;
        rest /= extent;
        step *= static_cast<size_t>(full.shape[d]);
      }
      visit(const_cast<std::byte*>(part.bytes.data()) + i * size, full.bytes.data() + at * size, size);
    }
  }

  static std::string text(const tunesmith::LoweredProgram& lowered) { return to_string(lowered.program); }
  static std::string text(const tunesmith::Program& program) { return to_string(program); }
};

/// Both ends, primes, and their neighbours.
inline std::vector<int64_t> tried_values(const tunesmith::Program& program) {
  const tunesmith::Var var = program.parameters.front().var;
  std::vector<int64_t> values;
  for (const int64_t value : {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{6}, int64_t{8}, int64_t{11},
                              int64_t{13}, int64_t{16}, int64_t{17}, var->highest - 1, var->highest}) {
    if (value >= var->lowest && value <= var->highest &&
        std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  }
  return values;
}

}  // namespace tunesmith_test

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

  /// Runs `program`, lowered or not, on tensors of full size, whose existing elements come first.
  template <typename Program>
  void expect_interpreted(const Program& lowered, const tunesmith::Program& program, double tolerance) const {
    std::vector<tunesmith::Tensor> full;
    for (const auto* list : {&program.inputs, &program.outputs}) {
      for (const tunesmith::Buffer& buffer : *list) {
        full.push_back(tunesmith::Tensor::like(*buffer));
        const tunesmith::Tensor& part = arguments[full.size() - 1];
        std::memcpy(full.back().bytes.data(), part.bytes.data(), part.bytes.size());
      }
    }
    // Missing lanes of a tile are computed from anything, and dropped.
    tunesmith::InterpretOptions how = options;
    how.check_uninitialized = std::is_same_v<Program, tunesmith::Program>;
    ASSERT_NO_THROW(interpret(lowered, full, how)) << text(lowered);
    for (size_t i = fixed.program.inputs.size(); i < full.size(); ++i) {
      tunesmith::Tensor got = wanted[i];
      std::memcpy(got.bytes.data(), full[i].bytes.data(), got.bytes.size());
      EXPECT_LE(max_error(got, wanted[i]), tolerance)
          << fmt::format("at [{}]\n", values.front()) << text(lowered);
      for (size_t at = got.bytes.size(); at < full[i].bytes.size(); ++at)
        ASSERT_EQ(full[i].bytes[at], std::byte{0}) << "an element that does not exist is written";
    }
  }

  std::vector<int64_t> values;
  tunesmith::Workload fixed;
  std::vector<tunesmith::Tensor> arguments, wanted;  // of `fixed`
  tunesmith::InterpretOptions options;

 private:
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

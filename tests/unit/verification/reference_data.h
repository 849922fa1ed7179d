// Draws data and runs the reference program on them.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/reference.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith::test {

/// Without the ends of types' ranges (edges_test.cpp).
inline DataQuestion plain_question(const Program& program, DataKind kind) {
  DataQuestion question{kind, {}, has_bound(program, kind), longest_reduction(program).terms, 7};
  question.exponentiates_below_maximum = exponentiates_below_maximum(program);
  for (const Buffer& input : program.inputs) question.arguments.push_back({input, false});
  for (const Buffer& output : program.outputs) question.arguments.push_back({output, true});
  return question;
}

/// The data that the worker would choose, with the interpreted reference.
inline DrawnData data_of(const Program& program, DataKind kind) {
  const Program reference = reference_program(program, kind);
  return choose_data(plain_question(program, kind),
                     [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
}

/// The outputs of `program`, interpreted; inputs are converted to its types.
inline std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(Tensor::like(*program.inputs[i]));
    for (int64_t at = 0; at < inputs[i].elements(); ++at) {
      if (inputs[i].dtype.is_float()) {
        arguments.back().set(at, inputs[i].get(at));
      } else {
        arguments.back().set_int(at, inputs[i].get_int(at));
      }
    }
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  interpret(program, arguments);
  return {std::make_move_iterator(arguments.begin() + static_cast<std::ptrdiff_t>(inputs.size())),
          std::make_move_iterator(arguments.end())};
}

/// The worst of all outputs.
inline double worst(const std::vector<Tensor>& got, const DrawnData& data) {
  double most = 0.0;
  for (size_t i = 0; i < got.size(); ++i)
    most = std::max(most, data.expected[i].compare(got[i].bytes.data()).worst);
  return most;
}

inline Program program_of(const std::string& compute,
                          const std::string& inputs = "X: {shape: [n], dtype: dtype}",
                          const std::string& params = "n: 64, dtype: f32") {
  return std::move(WorkloadDefinition::parse("name: t\nparams: {" + params + "}\ninputs:\n  " + inputs +
                                                 "\ncompute: |\n  " + compute + "\noutputs: [O]\n",
                                             "t.yaml")
                       .instantiate()
                       .program);
}

}  // namespace tunesmith::test

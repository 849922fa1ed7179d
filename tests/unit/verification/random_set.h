// The data on which a candidate is verified, and a program's error on them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith {

/// The draws of a program's random set, as for candidates.
inline std::vector<DrawnData> random_set(const Program& program) {
  const DataQuestion question = question_of(program, DataKind::Random);
  const Program reference = reference_program(program, DataKind::Random);
  const RunReference run = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
  DrawnData first = choose_data(question, run);
  if (first.fill.draws == 1) {
    std::vector<DrawnData> draws;
    draws.push_back(std::move(first));
    return draws;
  }
  return draw_all(question, first.fill, run);
}

/// The largest error over its bound that `program` makes on any of the draws.
inline double worst_of(const Program& program, std::vector<DrawnData>& draws) {
  double worst = 0.0;
  for (const DrawnData& draw : draws) {
    std::vector<Tensor> arguments = draw.inputs;
    for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
    interpret(program, arguments);
    for (size_t i = 0; i < draw.expected.size(); ++i)
      worst = std::max(worst, draw.expected[i].compare(arguments[draw.inputs.size() + i].bytes.data()).worst);
  }
  return worst;
}

}  // namespace tunesmith

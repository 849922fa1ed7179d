#include "numeric.h"

#include <utility>

#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith::conformance {

struct Numeric::Set {
  std::vector<Tensor> arguments;
  std::vector<ExpectedOutput> expected;
};

Numeric::Numeric(const Program& program, uint64_t seed) : inputs_(program.inputs.size()) {
  for (const DataKind kind : kDataKinds) {
    const DataQuestion question = question_of(program, kind, seed);
    const Program reference = reference_program(program, kind);
    const RunReference run = [&](std::span<Tensor> arguments) { interpret(reference, arguments); };
    std::vector<DrawnData> draws;
    draws.push_back(choose_data(question, run));
    if (draws.front().fill.draws > 1) {
      std::vector<DrawnData> all = draw_all(question, draws.front().fill, run);
      if (!all.empty()) draws = std::move(all);
    }
    for (DrawnData& drawn : draws) {
      Set& set = sets_.emplace_back();
      set.arguments = std::move(drawn.inputs);
      for (const Buffer& output : program.outputs) set.arguments.push_back(Tensor::like(*output));
      set.expected = std::move(drawn.expected);
    }
  }
}
Numeric::~Numeric() = default;

size_t Numeric::sets() const { return sets_.size(); }

std::vector<Tensor> Numeric::arguments(size_t set) const { return sets_.at(set).arguments; }

std::string Numeric::difference(size_t set, const std::vector<Tensor>& arguments) const {
  const std::vector<ExpectedOutput>& expected = sets_.at(set).expected;
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputDifference comparison = expected[i].compare(arguments.at(inputs_ + i).bytes.data());
    if (comparison.worst > 1.0) return comparison.message;
  }
  return {};
}

std::string Numeric::difference(const LoweredProgram& lowered) const {
  for (size_t set = 0; set < sets_.size(); ++set) {
    std::vector<Tensor> results = arguments(set);
    interpret(lowered, results, {.check_uninitialized = false});
    if (std::string fault = difference(set, results); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace tunesmith::conformance

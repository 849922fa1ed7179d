#include "numeric.h"

#include "measure/choose_data.h"
#include "measure/reference.h"

namespace tunesmith::conformance {

struct Numeric::Set {
  std::vector<Tensor> arguments;
  std::vector<ExpectedOutput> expected;
};

Numeric::Numeric(const Program& program, uint64_t seed) : inputs_(program.inputs.size()) {
  const LongestReduction longest = longest_reduction(program);
  DataQuestion question;
  for (const Buffer& input : program.inputs) question.arguments.push_back({input, false});
  for (const Buffer& output : program.outputs) question.arguments.push_back({output, true});
  question.most_terms = longest.terms;
  question.elements = longest.elements;
  question.seed = seed;
  for (const DataKind kind : kDataKinds) {
    question.kind = kind;
    question.has_bound = has_bound(program, kind);
    const Program reference = reference_program(program, kind);
    DrawnData drawn =
        choose_data(question, [&](std::span<Tensor> arguments) { interpret(reference, arguments); });
    Set& set = sets_.emplace_back();
    set.arguments = std::move(drawn.inputs);
    for (const Buffer& output : program.outputs) set.arguments.push_back(Tensor::like(*output));
    set.expected = std::move(drawn.expected);
  }
}
Numeric::~Numeric() = default;

size_t Numeric::sets() const { return sets_.size(); }

std::vector<Tensor> Numeric::arguments(size_t set) const { return sets_.at(set).arguments; }

std::string Numeric::difference(size_t set, const std::vector<Tensor>& arguments) const {
  const std::vector<ExpectedOutput>& expected = sets_.at(set).expected;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Comparison comparison = expected[i].compare(arguments.at(inputs_ + i).bytes.data());
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

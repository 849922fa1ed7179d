#include "measure/choose_data.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

Tensor widened(const Tensor& input) {
  if (!input.dtype.is_float()) return input;
  Tensor wide = Tensor::zeros(kF64, input.shape);
  auto* to = reinterpret_cast<double*>(wide.bytes.data());
  if (input.dtype == kF32) {
    const auto* from = reinterpret_cast<const float*>(input.bytes.data());
    std::copy(from, from + input.elements(), to);
    return wide;
  }
  for (int64_t i = 0; i < input.elements(); ++i) to[i] = input.get(i);
  return wide;
}

/// The reference's answer on one draw.
struct Trial {
  std::vector<Tensor> values;
  std::vector<Tensor> bounds;  // of the outputs that have one, in their order
  bool finite = true;
  double looseness = 0.0;          // of the worst output
  double looseness_of_term = 0.0;  // times the terms of a longest sum
  size_t loosest = 0;              // which one that is

  /// Of output i, or null.
  const Tensor* bound(const DataQuestion& question, size_t i) const {
    if (!question.has_bound[i]) return nullptr;
    const auto end = question.has_bound.begin() + static_cast<std::ptrdiff_t>(i);
    return &bounds[static_cast<size_t>(std::count(question.has_bound.begin(), end, true))];
  }

  bool usable() const { return looseness <= kLoosest; }
  /// What is infinite is compared for being so, and no more; what is too loose is no better for few terms.
  bool better_than(const Trial& other) const {
    if (finite != other.finite) return finite;
    if (usable() != other.usable()) return usable();
    return looseness_of_term < other.looseness_of_term;
  }
};

Trial try_inputs(const DataQuestion& question, const std::vector<Tensor>& inputs, const RunReference& run) {
  std::vector<Tensor> tensors;
  std::vector<DType> types;
  for (const Tensor& input : inputs) tensors.push_back(widened(input));
  for (const Argument& argument : question.arguments) {
    if (!argument.output) continue;
    types.push_back(argument.buffer->dtype);
    tensors.push_back(Tensor::zeros(types.back().is_float() ? kF64 : types.back(), argument.buffer->shape));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (question.has_bound[i]) tensors.push_back(Tensor::zeros(kF64, tensors[inputs.size() + i].shape));
  }
  run(tensors);
  Trial trial;
  const auto first = tensors.begin() + static_cast<std::ptrdiff_t>(inputs.size());
  const auto middle = first + static_cast<std::ptrdiff_t>(types.size());
  trial.values.assign(std::make_move_iterator(first), std::make_move_iterator(middle));
  trial.bounds.assign(std::make_move_iterator(middle), std::make_move_iterator(tensors.end()));
  for (size_t i = 0; i < types.size(); ++i) {
    trial.finite = trial.finite && all_finite(trial.values[i]);
    const double loose = looseness(trial.values[i], trial.bound(question, i));
    if (loose <= trial.looseness) continue;
    trial.looseness = loose;
    trial.loosest = i;
  }
  return trial;
}

}  // namespace

std::vector<Tensor> draw_inputs(const DataQuestion& question, const Fill& fill) {
  std::vector<Tensor> inputs;
  bool first = true;
  for (const Argument& argument : question.arguments) {
    if (argument.output) continue;
    inputs.push_back(Tensor::like(*argument.buffer));
    const uint64_t seed =
        hash_combine(hash_combine(question.seed, static_cast<uint64_t>(fill.kind)), inputs.size());
    draw(inputs.back(), fill, first, question.most_terms, seed);
    first = first && !inputs.back().dtype.is_float();
  }
  return inputs;
}

bool sees_every_term(const DataQuestion& question, const Fill& fill) {
  return fill.terms == 0 || static_cast<double>(fill.terms) * static_cast<double>(question.elements) >=
                                static_cast<double>(question.most_terms);
}

DrawnData choose_data(const DataQuestion& question, const RunReference& run) {
  std::vector<Buffer> buffers;
  for (const Argument& argument : question.arguments) {
    if (argument.output) buffers.push_back(argument.buffer);
  }
  Trial best;
  best.finite = false;
  best.looseness = best.looseness_of_term = std::numeric_limits<double>::infinity();
  DrawnData drawn;
  bool any = false;
  for (const Fill& fill : fills(question.kind, question.most_terms)) {
    std::vector<Tensor> inputs = draw_inputs(question, fill);
    Trial trial = try_inputs(question, inputs, run);
    trial.looseness_of_term = trial.looseness * static_cast<double>(fill.terms_of(question.most_terms));
    const bool good = trial.finite && trial.looseness <= tight_enough(fill, question.most_terms);
    if (!any || good || trial.better_than(best)) {
      any = true;
      best = std::move(trial);
      drawn.fill = fill;
      drawn.inputs = std::move(inputs);
    }
    if (good) break;
  }
  if (!best.usable()) {
    throw UserError(
        fmt::format(
            "what is computed of {} cannot be verified: rounding alone may change a typical element by "
            "{:.0f} %, whatever the inputs are (at best: {})",
            buffers[best.loosest]->name, 100.0 * best.looseness, drawn.fill.text()),
        "compute sums in a wider type");
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    drawn.expected.emplace_back(buffers[i], best.values[i], best.bound(question, i));
  return drawn;
}

}  // namespace tunesmith

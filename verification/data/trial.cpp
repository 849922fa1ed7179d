#include "data/trial.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "reference/error_bound.h"

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

/// Are all values below a few of the type's smallest normal numbers? f16 keeps denormals, so there its
/// smallest number counts.
bool is_nothing(const Tensor& value, const Tensor& bound, DType type) {
  const FloatRange range = float_range(type);
  const double most = 4.0 * (type.scalar() == kF16 ? range.smallest : std::ldexp(1.0, range.min_exponent));
  for (int64_t i = 0; i < value.elements(); ++i)
    if (!(std::abs(value.get(i)) <= most && bound.get(i) <= most)) return false;
  return true;
}

/// Elements below this share of a typical one count as zero.
constexpr double kNothing = 1e-3;
/// Exceeds the values of all types that overflow. The root of kBeyond, or a part of it, exceeds this.
constexpr double kNoFiniteBound = 1e50;

}  // namespace

double Trial::visible(const DataQuestion& question, double typical) const {
  int64_t visible = 0;
  int64_t elements = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    elements += values[i].elements();
    const Tensor* of = bound(question, i);
    for (int64_t j = 0; j < values[i].elements(); ++j) {
      const double size = std::max(std::abs(values[i].get(j)), kNothing * typical);
      if (of == nullptr || of->get(j) <= kLoosest * size) ++visible;
    }
  }
  return static_cast<double>(visible) / static_cast<double>(std::max<int64_t>(elements, 1));
}

double Trial::typical() const {
  double squares = 0.0;
  int64_t elements = 0;
  for (const Tensor& value : values) {
    for (int64_t i = 0; i < value.elements(); ++i) {
      const double v = value.get(i);
      if (!std::isfinite(v)) continue;
      squares += v * v;
      ++elements;
    }
  }
  return std::sqrt(squares / static_cast<double>(std::max<int64_t>(elements, 1)));
}

bool Trial::overflows(const DataQuestion& question) const {
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor* of = bound(question, i);
    for (int64_t j = 0; of != nullptr && j < of->elements(); ++j) {
      const double error = of->get(j);
      // An f64 value may itself exceed kNoFiniteBound.
      const bool of_its_size = error < 0.5 * kAnything && error < std::abs(values[i].get(j));
      if (!(error < kNoFiniteBound) && !of_its_size) return true;  // written so that NaN counts, too
    }
  }
  return false;
}

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
    const Tensor* const bound = trial.bound(question, i);
    double loose = looseness(trial.values[i], bound);
    // A value below the type's range is zero in each correct program, so it cannot be wrong.
    if (loose > kLoosest && bound != nullptr && is_nothing(trial.values[i], *bound, types[i])) {
      trial.vanishes = true;
      loose = 0.0;
    }
    if (loose <= trial.looseness) continue;
    trial.looseness = loose;
    trial.loosest = i;
  }
  return trial;
}

}  // namespace tunesmith

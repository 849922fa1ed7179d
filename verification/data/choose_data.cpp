#include "tunesmith/verification/choose_data.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "data/choose_edges.h"
#include "data/trial.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 20;  // of all draws of a set together

int64_t bytes_of_draw(const DataQuestion& question) {
  int64_t bytes = 0;
  for (const Argument& argument : question.arguments) bytes += argument.buffer->bytes();
  return bytes;
}

/// The number of draws of random data. In one draw a wrong element lies within rounding of the correct one
/// the more often the looser the bound is; in several draws at once it hardly ever does.
int64_t draws_for(double looseness, int64_t bytes) {
  int64_t draws = looseness > 1e-2 ? 4 : looseness > 1e-3 ? 2 : 1;
  while (draws > 1 && draws * bytes > kMaxBytes) draws /= 2;
  return draws;
}

std::vector<Buffer> outputs_of(const DataQuestion& question) {
  std::vector<Buffer> outputs;
  for (const Argument& argument : question.arguments) {
    if (argument.output) outputs.push_back(argument.buffer);
  }
  return outputs;
}

/// Arguments list inputs before outputs.
std::optional<size_t> first_floating(const DataQuestion& question) {
  for (size_t i = 0; i < question.arguments.size() && !question.arguments[i].output; ++i) {
    if (question.arguments[i].buffer->dtype.is_float()) return i;
  }
  return std::nullopt;
}

constexpr int64_t kMaxPeaks = 4;

/// Enough draws for each element of a short row to be the largest once.
int64_t peaks_for(const DataQuestion& question) {
  const std::optional<size_t> first = first_floating(question);
  if (!question.exponentiates_below_maximum || !first) return 0;
  const Buffer& input = question.arguments[*first].buffer;
  const int64_t row = input->shape.empty() ? 1 : input->shape.back();
  const int64_t rows = input->elements() / row;
  return std::min((row + rows - 1) / rows, kMaxPeaks);
}

/// Does replacing one element of the first floating input by background change the results by more than
/// rounding? Results computed from that element alone do not count.
bool sees_a_term(const DataQuestion& question, const DrawnData& drawn, const Trial& whole,
                 const RunReference& run) {
  const std::optional<size_t> first = first_floating(question);
  if (!first) return true;
  std::vector<Tensor> inputs = drawn.inputs;
  Tensor& changed = inputs[*first];
  int64_t at = changed.elements() / 2;
  // In balanced fills a term shows only in rows with few nonzero elements: every second row.
  if (drawn.fill.balanced && at / question.most_terms % 2 == 0) at += question.most_terms;
  at %= changed.elements();
  int64_t tried = 0;
  while (changed.get(at) == drawn.fill.background && ++tried < changed.elements())
    at = (at + 1) % changed.elements();
  if (changed.get(at) == drawn.fill.background) return false;  // all elements are background
  changed.set(at, drawn.fill.background);
  const Trial without = try_inputs(question, inputs, run);
  const std::vector<Buffer> outputs = outputs_of(question);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double unit = outputs[i]->dtype.is_float() ? unit_roundoff(outputs[i]->dtype) : 0.0;
    const Tensor* bound = whole.bound(question, i);
    int64_t seen = 0;
    for (int64_t j = 0; j < outputs[i]->elements(); ++j) {
      const double value = whole.values[i].get(j);
      const double allowed = unit * std::abs(value) + (bound == nullptr ? 0.0 : bound->get(j));
      if (std::abs(value - without.values[i].get(j)) >= 2.0 * allowed && value != without.values[i].get(j))
        ++seen;
    }
    if (seen > (outputs[i]->elements() == changed.elements() ? 1 : 0)) return true;
  }
  return false;
}

/// A negative number has no root: with a root, fewer negative numbers do not help.
void positive_next(std::vector<Fill>& candidates, size_t next) {
  const auto first = candidates.begin() + static_cast<std::ptrdiff_t>(next);
  const auto positive = std::find_if(first, candidates.end(), [](const Fill& fill) { return fill.positive; });
  if (positive != candidates.end()) std::rotate(first, positive, positive + 1);
}

/// The exponents available to the input that is multiplied by the most others. Integers have none.
int64_t least_exponents(const EdgeTraits& traits) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t exponents : traits.exponents) least = exponents > 0 ? std::min(least, exponents) : least;
  return least;
}

/// Removes the edges of floats; integers keep theirs.
Fill without_edges(const Fill& fill) {
  Fill plain = fill;
  plain.draws -= fill.edges.draws;
  plain.edges = {};
  plain.edges.integer_bits = fill.edges.integer_bits;
  return plain;
}

}  // namespace

DataQuestion question_of(const Program& program, DataKind kind, uint64_t seed) {
  const LongestReduction longest = longest_reduction(program);
  DataQuestion question{kind, {}, has_bound(program, kind), longest.terms, seed, longest.elements};
  question.exponentiates_below_maximum = exponentiates_below_maximum(program);
  question.edges = edge_traits(program);
  for (const Buffer& input : program.inputs) question.arguments.push_back({input, false});
  for (const Buffer& output : program.outputs) question.arguments.push_back({output, true});
  return question;
}

std::vector<Tensor> draw_inputs(const DataQuestion& question, const Fill& fill, int64_t number) {
  std::vector<Tensor> inputs;
  bool first = true;
  for (const Argument& argument : question.arguments) {
    if (argument.output) continue;
    inputs.push_back(Tensor::like(*argument.buffer));
    const uint64_t seed =
        hash_combine(hash_combine(question.seed, static_cast<uint64_t>(fill.kind)), inputs.size());
    const size_t input = inputs.size() - 1;
    const int64_t extent = input < question.edges.extents.size() ? question.edges.extents[input] : 0;
    if (extent > 0) {
      draw_indices(inputs.back(), extent, seed);
    } else {
      draw(inputs.back(), fill, first, question.most_terms, seed, fill.plain_number(number));
    }
    if (inputs.back().dtype.is_float() && input < question.edges.carried.size()) {
      const int64_t exponents = question.edges.exponents[input];
      const SliceInput slices{static_cast<int64_t>(input), question.edges.carried[input], exponents,
                              exponents > least_exponents(question.edges)};
      add_edges(inputs.back(), fill.edges, fill.edge_part(number), slices,
                hash_combine(seed, static_cast<uint64_t>(number)));
    }
    first = first && !inputs.back().dtype.is_float();
  }
  return inputs;
}

bool sees_every_term(const DataQuestion& question, const Fill& fill) {
  const bool spread = fill.kind == DataKind::Exact && fill.draws > 1 && !fill.balanced;
  if (fill.terms == 0 || spread) return true;
  auto seen = static_cast<double>(fill.terms) * static_cast<double>(question.elements);
  // Every second row has that few terms, and different ones in each draw.
  if (fill.balanced) seen *= 0.5 * static_cast<double>(fill.draws);
  return seen >= static_cast<double>(question.most_terms);
}

DrawnData choose_data(const DataQuestion& question, const RunReference& run) {
  const std::vector<Buffer> buffers = outputs_of(question);
  Trial best;
  best.finite = false;
  best.looseness = best.looseness_of_term = std::numeric_limits<double>::infinity();
  DrawnData drawn;
  bool any = false;
  // A product of many ordinary reals underflows to zero, so one factor would not show.
  std::vector<Fill> candidates =
      question.edges.multiplies ? fills_of_products(question.kind) : std::vector<Fill>();
  std::ranges::copy(fills(question.kind, question.most_terms), std::back_inserter(candidates));
  const size_t usual = candidates.size();
  std::ranges::copy(scaled_fills(question.kind), std::back_inserter(candidates));
  bool asked_for_positive = false;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Fill fill = candidates[i];
    if (i >= usual && best.usable() && !best.vanishes) break;
    // Larger data would hide what is added to them.
    if (fill.scale != 0.0 && !best.vanishes && !best.overflows(question)) break;
    std::vector<Tensor> inputs = draw_inputs(question, fill);
    Trial trial = try_inputs(question, inputs, run);
    trial.looseness_of_term = trial.looseness * static_cast<double>(fill.terms_of(question.most_terms));
    const bool good =
        trial.finite && !trial.vanishes && trial.looseness <= tight_enough(fill, question.most_terms);
    if (!trial.finite && !asked_for_positive) {
      positive_next(candidates, i + 1);
      asked_for_positive = true;
    }
    if (!any || good || trial.better_than(best)) {
      any = true;
      best = std::move(trial);
      drawn.fill = fill;
      drawn.inputs = std::move(inputs);
    }
    if (good) break;
  }
  if (!best.usable()) {
    throw UserError(fmt::format("{} cannot be verified: rounding may change a typical element by {:.3g} % "
                                "for any inputs (best data: {})",
                                buffers[best.loosest]->name, 100.0 * best.looseness, drawn.fill.text()),
                    "compute sums in a wider type");
  }
  if (question.kind == DataKind::Random) {
    const int64_t bytes = bytes_of_draw(question);
    drawn.fill.draws = draws_for(best.looseness, bytes);
    // The first draw has no peaks, nor has the last, on which candidates are timed.
    const int64_t peaks = peaks_for(question);
    if (peaks > 0 && (peaks + 2) * bytes <= kMaxBytes) {
      drawn.fill.peaks = peaks;
      drawn.fill.draws = std::max(drawn.fill.draws, peaks + 2);
    }
    choose_edges(question, kMaxBytes / std::max<int64_t>(bytes, 1) - drawn.fill.draws, drawn, best, run);
  }
  drawn.looseness = best.looseness;
  for (size_t i = 0; i < buffers.size(); ++i)
    drawn.expected.emplace_back(buffers[i], best.values[i], best.bound(question, i));
  return drawn;
}

std::vector<DrawnData> draw_all(const DataQuestion& question, const Fill& fill, const RunReference& run) {
  const std::vector<Buffer> outputs = outputs_of(question);
  std::vector<DrawnData> draws;
  for (int64_t number = 0; number < fill.draws; ++number) {
    DrawnData drawn{fill, draw_inputs(question, fill, number), {}, 0.0};
    const Trial trial = try_inputs(question, drawn.inputs, run);
    const EdgePart part = fill.edge_part(number);
    const bool chosen = part != EdgePart::None && part != EdgePart::Slices;  // the draw consists of edges
    if (!chosen && !fill.edges.any_value && (!trial.usable() || !trial.finite)) {
      // Each draw of the exact set has its own terms; in the random set, earlier draws have them.
      if (question.kind == DataKind::Exact) return {};
      if (fill.edges.in_floats() && fill.edges.draws == 0)
        return draw_all(question, without_edges(fill), run);
      if (!fill.has_peaks(fill.plain_number(number))) break;
      Fill without = fill;
      without.peaks = 0;
      return draw_all(question, without, run);
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      drawn.expected.emplace_back(outputs[i], trial.values[i], trial.bound(question, i));
    const bool exact = question.kind == DataKind::Exact;
    if (exact && number == 0 && !sees_a_term(question, drawn, trial, run)) return {};
    draws.push_back(std::move(drawn));
  }
  for (DrawnData& drawn : draws) drawn.fill.draws = static_cast<int64_t>(draws.size());
  return draws;
}

bool hides_a_term(const DataQuestion& question, const DrawnData& drawn, const RunReference& run) {
  const bool sums = question.most_terms > 1 && std::ranges::count(question.has_bound, true) > 0;
  const bool rounds_coarsely = std::ranges::any_of(question.arguments, [](const Argument& argument) {
    return argument.output && argument.buffer->dtype.is_float() && argument.buffer->dtype.bits < 32;
  });
  if (!sums || !rounds_coarsely) return false;
  return !sees_a_term(question, drawn, try_inputs(question, drawn.inputs, run), run);
}

std::vector<DrawnData> choose_several_draws(const DataQuestion& question, const RunReference& run) {
  const int64_t bytes = bytes_of_draw(question);
  const std::optional<size_t> first = first_floating(question);
  if (!first) return {};
  const DType type = question.arguments[*first].buffer->dtype;
  for (const Fill& fill : fills_in_several_draws(type, question.most_terms)) {
    if (fill.draws * bytes > kMaxBytes) continue;
    std::vector<DrawnData> draws = draw_all(question, fill, run);
    if (!draws.empty()) return draws;
  }
  return {};
}

}  // namespace tunesmith

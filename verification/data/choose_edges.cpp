#include "data/choose_edges.h"

#include <array>
#include <utility>

namespace tunesmith {
namespace {

/// Programs with at most this many operations are verified quickly: edges get draws of their own.
constexpr int64_t kFewOperations = int64_t{1} << 19;
/// With fewer slices, edges would be too large a share.
constexpr int64_t kMinSlices = 16;
/// The share of elements with tight bounds that must keep them:
/// with edges in some slices, and in a draw that consists of edges.
constexpr double kVisibleWithSlices = 0.75;
constexpr double kVisibleInDraw = 0.25;
/// Shares of the exponents available to a product of all scaled factors. The rest is for sums of many terms.
constexpr std::array<double, 8> kShares{0.9, 0.8, 0.6, 0.4, 0.25, 0.12, 0.06, 0.03};
constexpr std::array<int64_t, 3> kIntegerBits{64, 24, 15};

template <typename Holds>
bool any_input(const DataQuestion& question, const Holds& holds) {
  for (size_t i = 0; i < question.arguments.size() && !question.arguments[i].output; ++i) {
    if (holds(i, *question.arguments[i].buffer)) return true;
  }
  return false;
}

bool has_slices(const DataQuestion& question) {
  return any_input(question, [&](size_t i, const BufferNode& input) {
    int64_t slices = 1;
    for (size_t axis = 0; axis < input.shape.size(); ++axis)
      slices *= question.edges.carried[i][axis] ? input.shape[axis] : 1;
    return input.dtype.is_float() && slices >= kMinSlices;
  });
}

/// Tries other fills instead of the chosen one.
class Attempts {
 public:
  Attempts(const DataQuestion& question, const Trial& plain, const RunReference& run)
      : question_(question),
        run_(run),
        finite_(plain.finite),
        typical_(plain.typical()),
        visible_(plain.visible(question, typical_)) {}

  /// Are the bounds on draw `number` about as tight as on the plain draw?
  bool good(const Fill& fill, int64_t number) {
    inputs_ = draw_inputs(question_, fill, number);
    trial_ = try_inputs(question_, inputs_, run_);
    if (fill.edges.any_value) return true;  // compared exactly
    if (trial_.overflows(question_) || (finite_ && !trial_.finite)) return false;
    const double visible = trial_.visible(question_, typical_);
    // A separate draw takes no elements from the others, however loose its bounds are.
    if (fill.edges.draws > 0) return visible >= kVisibleInDraw * visible_;
    return trial_.usable() && visible >= kVisibleWithSlices * visible_;
  }
  std::vector<Tensor>& inputs() { return inputs_; }
  Trial& trial() { return trial_; }

 private:
  const DataQuestion& question_;
  const RunReference& run_;
  bool finite_;
  double typical_;
  double visible_;  // share of elements with tight bounds in the plain draw
  std::vector<Tensor> inputs_;
  Trial trial_;
};

Fill with_floats(const Fill& plain, double share, bool signs, const EdgeTraits& traits, int64_t draws) {
  Fill fill = plain;
  fill.edges.share = share;
  fill.edges.signs = signs;
  fill.edges.any_value = !traits.rounds;
  fill.edges.nans = fill.edges.any_value && !traits.reduces;
  fill.edges.denormals = fill.edges.any_value && traits.keeps_denormals;
  fill.edges.draws = draws;
  fill.draws += draws;
  return fill;
}

/// Adds a draw of edges behind the existing ones if its bounds are tight.
void add_draw(Fill fill, bool denormals, Attempts& attempts, Fill& chosen) {
  fill.edges.denormals = fill.edges.denormals || denormals;
  ++fill.draws;
  ++fill.edges.draws;
  if (attempts.good(fill, fill.edges.draws - 1)) chosen = fill;
}

}  // namespace

void choose_edges(const DataQuestion& question, int64_t room, DrawnData& drawn, Trial& trial,
                  const RunReference& run) {
  const EdgeTraits& traits = question.edges;
  if (traits.carried.empty()) return;
  Attempts attempts(question, trial, run);
  const auto take = [&](const Fill& fill) {
    drawn.fill = fill;
    drawn.inputs = std::move(attempts.inputs());
    trial = std::move(attempts.trial());
  };
  if (any_input(question, [](size_t, const BufferNode& input) { return input.dtype.is_int(); })) {
    for (const int64_t bits : kIntegerBits) {
      Fill fill = drawn.fill;
      fill.edges.integer_bits = bits;
      if (!attempts.good(fill, 0)) continue;
      take(fill);
      break;
    }
  }
  if (!any_input(question, [](size_t, const BufferNode& input) { return input.dtype.is_float(); })) return;
  const bool in_slices = has_slices(question) && (traits.operations > kFewOperations || room < 1);
  if (!in_slices && room < 1) return;
  for (const double share : kShares) {
    for (const bool signs : {drawn.fill.positive, false}) {
      const Fill fill = with_floats(drawn.fill, share, signs, traits, in_slices ? 0 : 1);
      if (attempts.good(fill, 0)) {
        if (in_slices) {
          take(fill);
        } else {
          drawn.fill = fill;
          if (traits.rounds && traits.keeps_denormals && room > drawn.fill.edges.draws)
            add_draw(drawn.fill, true, attempts, drawn.fill);
          if (traits.rounds && room > drawn.fill.edges.draws)
            add_draw(drawn.fill, false, attempts, drawn.fill);
        }
        return;
      }
      if (!drawn.fill.positive) break;
    }
  }
}

}  // namespace tunesmith

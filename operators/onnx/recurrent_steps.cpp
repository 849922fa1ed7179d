// RNN, GRU and LSTM: the product for all steps at once, and the loop of steps.
#include <numeric>

#include <fmt/format.h>

#include "graph.h"
#include "recurrent.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

class Steps {
 public:
  Steps(const NodeReader& node, network::Expansion& to, int64_t gates, size_t states)
      : node_(node), to_(to), graph_(to), gates_(gates), states_(states), dtype_(node.dtype(0)) {
    const std::string direction = node.choice("direction", {"forward", "reverse", "bidirectional"});
    directions_ = direction == "bidirectional" ? 2 : 1;
    is_reverse_ = direction == "reverse";
    batch_first_ = node.version() >= 14 && node.flag("layout", false);
    read_shapes();
  }

  void replace() {
    begin_body();
    for (size_t state = 0; state < states_; ++state)
      give(kFirstState + state, first_state(state), state_type());
    add_sliced();
    for (const size_t input : {kRecurrentWeights, kBias, kLengths, kPeepholes})
      if (node_.has(input) && (input != kBias || late_rows() > 0))
        give(input, node_.input(input), node_.type(input));
    end_body();
    const std::vector<TensorIndex> made = to_.repeat(
        {std::make_shared<network::Network>(std::move(body_)), steps_, states_, backwards_}, given_);
    give_results(made);
    for (const auto& [name, value] : node_.node().attributes) node_.ignore(name);
  }

 private:
  void read_shapes() {
    const Shape &x = node_.shape(0), &r = node_.shape(kRecurrentWeights);
    node_.refuse_unless(x.size() == 3 && dtype_.is_float() && r.size() == 3,
                        "expected [steps, batch, width] of floating values");
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    width_ = x[2];
    hidden_ = r[2];
    const int64_t named = node_.integer("hidden_size", hidden_);
    node_.refuse_unless(named == hidden_ && r == Shape{directions_, gates_ * hidden_, hidden_} &&
                            node_.shape(1) == Shape{directions_, gates_ * hidden_, width_},
                        "the weights have other shapes than the input and attribute 'hidden_size' ask for");
    node_.refuse_unless(element_count(x) > 0 && hidden_ > 0, "an input without elements is not taken");
    if (node_.has(kBias))
      node_.refuse_unless(node_.shape(kBias) == Shape{directions_, 2 * gates_ * hidden_},
                          "the bias is not two for each row of the weights");
    if (node_.has(kLengths))
      node_.refuse_unless(node_.shape(kLengths) == Shape{batch_} && node_.dtype(kLengths) == kI32,
                          "'sequence_lens' is not one i32 for each batch");
    for (size_t i = 1; i < kLengths; ++i)
      node_.refuse_unless(!node_.has(i) || node_.dtype(i) == dtype_, "its inputs are of different types");
    if (node_.has(kPeepholes))
      node_.refuse_unless(node_.shape(kPeepholes) == Shape{directions_, 3 * hidden_},
                          "the peepholes are not three for each hidden element");
  }

  TensorIndex widened(TensorIndex tensor) {
    return dtype_ == wide(dtype_) ? tensor : graph_.cast(tensor, wide(dtype_));
  }
  /// Swaps [batch, directions, ...] and [directions, batch, ...] if the batch comes first.
  TensorIndex turned(TensorIndex tensor) {
    return batch_first_ ? graph_.transpose(tensor, {1, 0, 2}) : tensor;
  }
  TensorType state_type() const { return {wide(dtype_), {directions_, batch_, hidden_}}; }

  TensorIndex first_state(size_t state) {
    const size_t input = kFirstState + state;
    const TensorType type = state_type();
    if (!node_.has(input))
      return to_.make_constant(make_constant(
          type.dtype, type.shape,
          std::vector<std::byte>(static_cast<size_t>(element_count(type.shape) * type.dtype.bytes()))));
    Shape expected = type.shape;
    if (batch_first_) std::swap(expected[0], expected[1]);
    node_.refuse_unless(node_.shape(input) == expected && node_.dtype(input) == dtype_,
                        "an initial state is of another shape or type");
    return widened(turned(node_.input(input)));
  }

  /// The rows of the recurrent bias that the steps add: with a late reset, it must be inside of the reset.
  int64_t late_rows() const { return gates_ == 3 && node_.flag(kResetsLate, false) ? hidden_ : 0; }

  /// The sum of both biases, except the rows that the steps add.
  TensorIndex bias() {
    const TensorIndex both = node_.input(kBias);
    const int64_t rows = gates_ * hidden_;
    const int64_t late = late_rows();
    TensorIndex recurrent = graph_.slice(both, 1, rows, 2 * rows - late);
    if (late > 0) {
      const Shape shape{directions_, late};
      const auto bytes = static_cast<size_t>(element_count(shape) * dtype_.bytes());
      recurrent = graph_.concat(
          {recurrent, to_.make_constant(make_constant(dtype_, shape, std::vector<std::byte>(bytes)))}, 1);
    }
    const TensorIndex sum = graph_.add("Add", {widened(graph_.slice(both, 1, 0, rows)), widened(recurrent)});
    return graph_.reshape(sum, {directions_ * rows});
  }

  /// All steps' inputs times all weights: [steps, batch, directions * gates * hidden].
  TensorIndex products() {
    const TensorIndex weights = graph_.reshape(node_.input(1), {directions_ * gates_ * hidden_, width_});
    const TensorIndex sums =
        graph_.add("MatMul", {widened(turned(node_.input(0))), graph_.transpose(widened(weights), {1, 0})});
    return node_.has(kBias) ? graph_.add("Add", {sums, bias()}) : sums;
  }

  /// Gives the body each direction's step of the product, and the step's number.
  void add_sliced() {
    const TensorIndex all = products();
    const auto is_backwards = [&](int64_t direction) { return is_reverse_ || direction == 1 ? 1 : 0; };
    for (int64_t direction = 0; direction < directions_; ++direction) {
      give(static_cast<size_t>(direction), all, {wide(dtype_), {batch_, directions_ * gates_ * hidden_}});
      backwards_.push_back(is_backwards(direction));
    }
    if (!node_.has(kLengths)) return;
    std::vector<int64_t> numbers(static_cast<size_t>(steps_));
    std::iota(numbers.begin(), numbers.end(), 0);
    const TensorIndex counted = to_.make_constant(make_constant(kI32, {steps_}, numbers));
    for (int64_t direction = 0; direction < directions_; ++direction) {
      give(kStepNumbers + static_cast<size_t>(direction), counted, {kI32, {}});
      backwards_.push_back(is_backwards(direction));
    }
  }

  // ---- The body: one node

  void begin_body() {
    body_.name = node_.node().name;
    step_ = {"step", node_.op(), node_.version(), node_.node().attributes, {}, {}, nullptr};
    step_.attributes[kStep] = int64_t{1};
    step_.inputs.assign(kStepNumbers + 2, kAbsent);
  }

  TensorIndex add_tensor(const std::string& name, const TensorType& type) {
    return body_.add(
        {name, type.dtype, std::vector<network::Extent>(type.shape.begin(), type.shape.end()), nullptr});
  }

  /// Adds an input to the body's node, fed by `tensor` outside.
  void give(size_t input, TensorIndex tensor, const TensorType& type) {
    step_.inputs[input] = add_tensor(fmt::format("in{}", input), type);
    body_.inputs.push_back(step_.inputs[input]);
    given_.push_back(tensor);
  }

  void end_body() {
    for (size_t state = 0; state < states_; ++state)
      step_.outputs.push_back(add_tensor(fmt::format("state{}", state), state_type()));
    for (int64_t direction = 0; node_.wants(0) && direction < directions_; ++direction) {
      step_.outputs.push_back(add_tensor(fmt::format("out{}", direction), {dtype_, {1, batch_, hidden_}}));
      backwards_.push_back(is_reverse_ || direction == 1 ? 1 : 0);
    }
    body_.outputs = step_.outputs;
    body_.nodes.push_back(std::move(step_));
  }

  void give_results(const std::vector<TensorIndex>& made) {
    for (size_t state = 0; state < states_; ++state) {
      if (!node_.wants(1 + state)) continue;
      const TensorIndex last = turned(made[state]);
      to_.give(1 + state, dtype_ == wide(dtype_) ? last : graph_.cast(last, dtype_));
    }
    if (!node_.wants(0)) return;
    const TensorIndex all =
        graph_.concat({made.begin() + static_cast<std::ptrdiff_t>(states_), made.end()}, 1);
    to_.give(0, batch_first_ ? graph_.transpose(all, {2, 0, 1, 3}) : all);
  }

  const NodeReader& node_;
  network::Expansion& to_;
  Graph graph_;
  int64_t gates_;
  size_t states_;
  DType dtype_;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, width_ = 0, hidden_ = 0;
  bool is_reverse_ = false, batch_first_ = false;
  network::Network body_;
  network::Node step_;
  std::vector<TensorIndex> given_;  // in the order of the body's inputs
  std::vector<int64_t> backwards_;
};

}  // namespace

Expand in_steps(int64_t gates, size_t states) {
  return [gates, states](const NodeReader& node, network::Expansion& to) {
    if (node.has_attribute(kStep)) return false;
    Steps(node, to, gates, states).replace();
    return true;
  };
}

}  // namespace tunesmith::operators_onnx

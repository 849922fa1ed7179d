// RNN, GRU and LSTM: the statements of a step.
#include "recurrent.h"

#include <fmt/format.h>

#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// One step of all directions, for RNN, GRU and LSTM. `gates`: rows of the weights for each hidden element.
/// Arrays are [directions, batch, ...]; states have the type of sums.
class Recurrence {
 public:
  Recurrence(const NodeReader& node, int64_t gates, const std::vector<std::string>& activations)
      : node_(node), gates_(gates), dtype_(node.dtype(kRecurrentWeights)), type_(wide(dtype_)) {
    for (const char* name : {kStep, "direction", "layout", "hidden_size", "output_sequence"})
      node.ignore(name);
    const Shape& state = node.shape(kFirstState);
    directions_ = state.at(0);
    batch_ = state.at(1);
    hidden_ = state.at(2);
    activations_ = read_activations(node, static_cast<size_t>(directions_), activations);
    if (node.has_attribute("clip")) clip_ = literal(node, node.number("clip", 0));
  }
  virtual ~Recurrence() = default;

  /// Outputs are the states, then each direction's result of this step, [1, batch, hidden].
  Computation run() {
    State before;
    for (size_t i = kFirstState; node_.has(i) && i < kFirstState + states(); ++i) before.push_back(in(i));
    const State after = step(before);
    Computation made;
    for (size_t i = 0; i < after.size(); ++i) {
      std::string value = element(after[i], here());
      // After its end a sequence keeps its state.
      if (node_.has(kLengths))
        value = fmt::format("select({}, {}, {})", is_inside("i1", "i0"), value, element(before[i], here()));
      script_.text += statement(out(i), shape(), value);
      made.outputs.push_back({type_, shape()});
    }
    for (int64_t direction = 0; direction < directions_; ++direction) {
      const size_t output = after.size() + static_cast<size_t>(direction);
      std::string value = element(after[0], {std::to_string(direction), "i1", "i2"});
      if (node_.has(kLengths))
        value = fmt::format("select({}, {}, 0)", is_inside("i1", std::to_string(direction)), value);
      if (output >= node_.output_count()) break;
      script_.text += statement(out(output), {1, batch_, hidden_}, from_wide(dtype_, value));
      made.outputs.push_back({dtype_, {1, batch_, hidden_}});
    }
    made.compute = script_.text;
    return made;
  }

 protected:
  /// The names of the states' arrays, [directions, batch, hidden].
  using State = std::vector<std::string>;

  virtual State step(const State& before) = 0;
  virtual size_t states() const { return 1; }

  const NodeReader& node() const { return node_; }
  Script& script() { return script_; }
  Shape shape() const { return {directions_, batch_, hidden_}; }
  int64_t hidden() const { return hidden_; }
  static Indices here() { return {"i0", "i1", "i2"}; }

  std::string activated(size_t which, const std::string& x) const {
    const size_t count = activations_.size() / static_cast<size_t>(directions_);
    std::string value = fmt::format("({})", x);
    if (!clip_.empty()) value = fmt::format("max(-{0}, min({0}, {1}))", clip_, value);
    const std::string first = activations_[which](value),
                      second = directions_ == 2 ? activations_[count + which](value) : first;
    return first == second ? fmt::format("({})", first)
                           : fmt::format("select(i0 == 0, {}, {})", first, second);
  }

  std::string wide_element(size_t input, const Indices& at) const {
    return to_wide(dtype_, element(in(input), at));
  }

  /// The input's contribution to this gate, at `here`.
  std::string input_of_gate(int64_t gate) const {
    const std::string first = element(in(0), {"i1", gate_row(gate, "i2")});
    if (directions_ == 1) return first;
    return fmt::format("select(i0 == 0, {}, {})", first,
                       element(in(1), {"i1", gate_row(gates_ + gate, "i2")}));
  }

  /// The product of `state` with the recurrent weights of gates `first` to before `first` + `count`.
  std::string products_of_gates(int64_t first, int64_t count, const std::string& state) {
    const std::string term = element(state, {"i0", "i1", "r0"}) + " * " +
                             wide_element(kRecurrentWeights, {"i0", gate_row(first, "i2"), "r0"});
    return script_.make({directions_, batch_, count * hidden_}, reduction("sum", {"r0"}, {hidden_}, term));
  }

  /// The input's contribution plus the recurrent product, [directions, batch, gates * hidden].
  std::string sums_of_gates(int64_t gates, const std::string& state) {
    const std::string products = products_of_gates(0, gates, state);
    return script_.make({directions_, batch_, gates * hidden_},
                        element(products, here()) + " + " + input_of_gate(0));
  }

  std::string gate_row(int64_t gate, const std::string& row) const {
    return gate == 0 ? row : fmt::format("{} + {}", row, gate * hidden_);
  }

  std::string late_bias(int64_t gate) const {
    return node_.has(kBias) ? wide_element(kBias, {"i0", gate_row(gates_ + gate, "i2")}) : "";
  }

 private:
  std::string is_inside(const std::string& batch, const std::string& direction) const {
    const std::string first = element(in(kStepNumbers), {"0"});
    std::string number = first;
    if (directions_ == 2)
      number = fmt::format("select({} == 0, {}, {})", direction, first, element(in(kStepNumbers + 1), {"0"}));
    return fmt::format("in{}[{}] > {}", kLengths, batch, number);
  }

  const NodeReader& node_;
  int64_t gates_;
  DType dtype_, type_;
  int64_t directions_ = 1, batch_ = 0, hidden_ = 0;
  std::string clip_;
  std::vector<Activation> activations_;
  Script script_;
};

class Rnn final : public Recurrence {
 public:
  explicit Rnn(const NodeReader& node) : Recurrence(node, 1, {"Tanh"}) {}

 private:
  State step(const State& before) override {
    return {script().make(shape(), activated(0, element(sums_of_gates(1, before[0]), here())))};
  }
};

/// Gates: update, reset, and the candidate state.
class Gru final : public Recurrence {
 public:
  explicit Gru(const NodeReader& node)
      : Recurrence(node, 3, {"Sigmoid", "Tanh"}), resets_late_(node.flag(kResetsLate, false)) {}

 private:
  State step(const State& before) override {
    // With a late reset, the candidate's product is computed with those of the other gates.
    const std::string products = products_of_gates(0, resets_late_ ? 3 : 2, before[0]);
    const auto product = [&](int64_t which) {
      return element(products, {"i0", "i1", gate_row(which, "i2")});
    };
    const auto gate = [&](int64_t which) {
      return script().here(shape(), activated(0, product(which) + " + " + input_of_gate(which)));
    };
    const std::string update = gate(0), reset = gate(1), old = element(before[0], here());
    std::string fresh = input_of_gate(2);
    if (resets_late_) {
      const std::string bias = late_bias(2);
      fresh += fmt::format(" + {} * ({}{})", reset, product(2), bias.empty() ? "" : " + " + bias);
    } else {
      const std::string kept = script().make(shape(), fmt::format("{} * {}", reset, old));
      fresh += " + " + element(products_of_gates(2, 1, kept), here());
    }
    fresh = script().here(shape(), activated(1, fresh));
    return {script().make(shape(), fmt::format("(1 - {0}) * {1} + {0} * {2}", update, fresh, old))};
  }

  bool resets_late_ = false;
};

/// Gates: input, output, forget, cell.
class Lstm final : public Recurrence {
 public:
  explicit Lstm(const NodeReader& node) : Recurrence(node, 4, {"Sigmoid", "Tanh", "Tanh"}) {
    couples_ = node.flag("input_forget", false);
  }

 private:
  size_t states() const override { return 2; }

  /// A gate's sum plus its peephole, if any; `which` peephole: input, output, forget.
  std::string gate(int64_t which, const std::string& sums, const std::string& cells) {
    std::string sum = element(sums, {"i0", "i1", gate_row(which, "i2")});
    if (node().has(kPeepholes))
      sum += fmt::format(" + {} * {}", wide_element(kPeepholes, {"i0", gate_row(which, "i2")}), cells);
    return script().here(shape(), activated(0, sum));
  }

  State step(const State& before) override {
    const std::string sums = sums_of_gates(4, before[0]), old = element(before[1], here());
    const std::string input = gate(0, sums, old);
    const std::string fresh =
        script().here(shape(), activated(1, element(sums, {"i0", "i1", gate_row(3, "i2")})));
    const std::string forget = couples_ ? fmt::format("(1 - {})", input) : gate(2, sums, old);
    const std::string cells =
        script().make(shape(), fmt::format("{} * {} + {} * {}", input, fresh, forget, old));
    const std::string now = element(cells, here()), output = gate(1, sums, now);
    return {script().make(shape(), fmt::format("{} * {}", output, activated(2, now))), cells};
  }

  bool couples_ = false;
};

}  // namespace

std::vector<Row> recurrent_operators() {
  return {{"RNN", 1, [](const NodeReader& node) { return Rnn(node).run(); }, false, false, in_steps(1, 1)},
          {"GRU", 3, [](const NodeReader& node) { return Gru(node).run(); }, false, false, in_steps(3, 1)},
          {"LSTM", 1, [](const NodeReader& node) { return Lstm(node).run(); }, false, false, in_steps(4, 2)}};
}

}  // namespace tunesmith::operators_onnx

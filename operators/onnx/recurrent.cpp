// RNN, GRU and LSTM: the statements of a few steps, one after the other.
#include "recurrent.h"

#include <algorithm>

#include <fmt/format.h>

#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// What the three have in common. `gates`: rows of the weights for each hidden element.
class Recurrence {
 public:
  Recurrence(const NodeReader& node, int64_t gates, const std::vector<std::string>& activations)
      : node_(node), gates_(gates), dtype_(node.dtype(0)), type_(wide(dtype_)) {
    const std::string direction = node.text("direction", "forward");
    node.refuse_unless(direction == "forward" || direction == "reverse" || direction == "bidirectional",
                       fmt::format("attribute 'direction' is '{}'", direction));
    directions_ = direction == "bidirectional" ? 2 : 1;
    is_reverse_ = direction == "reverse";
    batch_first_ = node.version() >= 14 && node.flag("layout", false);
    if (node.version() < 7) node.ignore("output_sequence");
    read_shapes();
    activations_ = read_activations(node, static_cast<size_t>(directions_), activations);
    if (node.has_attribute("clip")) clip_ = literal(node, node.number("clip", 0));
  }
  virtual ~Recurrence() = default;

  /// `states`: how many outputs a step leaves: hidden elements, and of an LSTM its cells.
  Computation run(size_t states) {
    for (int64_t direction = 0; direction < directions_; ++direction) run_direction(direction);
    Shape all{steps_, directions_, batch_, hidden_}, last{directions_, batch_, hidden_};
    if (batch_first_) {
      all = {batch_, steps_, directions_, hidden_};
      last = {batch_, directions_, hidden_};
    }
    if (node_.wants(0)) script_.text += statement(out(0), all, all_steps());
    for (size_t state = 0; state < states; ++state) {
      if (node_.wants(1 + state)) script_.text += statement(out(1 + state), last, last_state(state));
    }
    Computation made{{{dtype_, all}, {dtype_, last}, {dtype_, last}}, {}, script_.text};
    made.outputs.resize(std::max<size_t>(node_.output_count(), 1), {dtype_, last});
    return made;
  }

 protected:
  /// The arrays [batch, hidden] of a step's state.
  using State = std::vector<std::string>;

  /// The state after a step, of what `gates` has of the input at i0 and the gate's row.
  virtual State step(int64_t direction, const State& before) = 0;
  virtual State first_state(int64_t direction) = 0;
  /// The rows of the bias of the recurrent weights that are added to the product of these alone.
  virtual int64_t late_bias_rows() const { return 0; }

  const NodeReader& node() const { return node_; }
  Script& script() { return script_; }
  Shape shape() const { return {batch_, hidden_}; }
  int64_t hidden() const { return hidden_; }

  std::string activated(int64_t direction, size_t which, const std::string& x) const {
    const size_t count = activations_.size() / static_cast<size_t>(directions_);
    std::string value = fmt::format("({})", x);
    if (!clip_.empty()) value = fmt::format("max(-{0}, min({0}, {1}))", clip_, value);
    return fmt::format("({})", activations_[static_cast<size_t>(direction) * count + which](value));
  }

  /// An input that is [directions, batch, hidden], or zeros.
  std::string given_state(size_t input, int64_t direction) {
    if (!node_.has(input)) return "";
    Shape expected{directions_, batch_, hidden_};
    if (batch_first_) std::swap(expected[0], expected[1]);
    node_.refuse_unless(node_.shape(input) == expected && node_.dtype(input) == dtype_,
                        "an initial state is of another shape or type");
    const std::string d = fmt::format("{}", direction);
    return script_.make(shape(),
                        wide_element(input, batch_first_ ? Indices{"i0", d, "i1"} : Indices{d, "i0", "i1"}));
  }

  std::string wide_element(size_t input, const Indices& at) const {
    return convert(dtype_, type_, element(in(input), at));
  }

  /// At [i0, i1]: what the input gives to gate number `gate` in this step.
  std::string input_of_gate(int64_t gate) const {
    return element(inputs_, {fmt::format("{}", now_), "i0", gate_row(gate, "i1")});
  }

  /// At [i0, i1]: the sum over `state` times the recurrent weights of a gate; "" of zeros.
  std::string product_of_gate(int64_t direction, int64_t gate, const std::string& state) {
    if (state.empty()) return "";
    const std::string term = element(state, {"i0", "r0"}) + " * " +
                             wide_element(2, {fmt::format("{}", direction), gate_row(gate, "i1"), "r0"});
    return script_.here(shape(), reduction("sum", {"r0"}, {hidden_}, term));
  }

  /// Of `gates` gates at once, an array [batch, gates * hidden]: input and recurrent product.
  std::string sums_of_gates(int64_t direction, int64_t gates, const std::string& state) {
    const Shape all{batch_, gates * hidden_};
    const std::string given = element(inputs_, {fmt::format("{}", now_), "i0", "i1"});
    if (state.empty()) return script_.make(all, given);
    const std::string term =
        element(state, {"i0", "r0"}) + " * " + wide_element(2, {fmt::format("{}", direction), "i1", "r0"});
    return script_.make(all, script_.here(all, reduction("sum", {"r0"}, {hidden_}, term)) + " + " + given);
  }

  std::string gate_row(int64_t gate, const std::string& row) const {
    return gate == 0 ? row : fmt::format("{} + {}", row, gate * hidden_);
  }

  std::string late_bias(int64_t direction, int64_t gate) const {
    return node_.has(3) ? wide_element(3, {fmt::format("{}", direction), gate_row(gates_ + gate, "i1")}) : "";
  }

 private:
  void read_shapes() {
    const Shape& x = node_.shape(0);
    const Shape& r = node_.shape(2);
    node_.refuse_unless(x.size() == 3 && dtype_.is_float() && r.size() == 3,
                        "expected [steps, batch, width] of floating values");
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    hidden_ = r[2];
    const int64_t named = node_.integer("hidden_size", hidden_);
    node_.refuse_unless(named == hidden_ && r == Shape{directions_, gates_ * hidden_, hidden_} &&
                            node_.shape(1) == Shape{directions_, gates_ * hidden_, x[2]},
                        "the weights have other shapes than the input and attribute 'hidden_size' ask for");
    if (node_.has(3))
      node_.refuse_unless(node_.shape(3) == Shape{directions_, 2 * gates_ * hidden_},
                          "the bias is not two for each row of the weights");
    if (node_.has(4))
      node_.refuse_unless(node_.shape(4) == Shape{batch_} && node_.dtype(4) == kI32,
                          "'sequence_lens' is not one i32 for each batch");
    for (size_t i = 1; i < 4; ++i)
      node_.refuse_unless(!node_.has(i) || node_.dtype(i) == dtype_, "its inputs are of different types");
  }

  /// What the input gives to all gates in all steps is one product.
  void add_inputs(int64_t direction) {
    const Shape shape{steps_, batch_, gates_ * hidden_};
    const std::string d = fmt::format("{}", direction);
    const std::string term =
        wide_element(0, batch_first_ ? Indices{"i1", "i0", "r0"} : Indices{"i0", "i1", "r0"}) + " * " +
        wide_element(1, {d, "i2", "r0"});
    inputs_ = script_.make(shape, reduction("sum", {"r0"}, {node_.shape(0)[2]}, term));
    if (!node_.has(3)) return;
    const int64_t rows = gates_ * hidden_;
    std::string bias = wide_element(3, {d, fmt::format("i2 + {}", rows)});
    if (late_bias_rows() > 0) bias = fmt::format("select(i2 < {}, {}, 0)", rows - late_bias_rows(), bias);
    inputs_ = script_.make(
        shape, broadcast(inputs_, shape, shape) + " + " + wide_element(3, {d, "i2"}) + " + " + bias);
  }

  void run_direction(int64_t direction) {
    add_inputs(direction);
    State state = first_state(direction);
    const bool backwards = is_reverse_ || direction == 1;
    std::vector<std::string> hidden(static_cast<size_t>(steps_));
    for (int64_t i = 0; i < steps_; ++i) {
      now_ = backwards ? steps_ - 1 - i : i;
      State after = step(direction, state);
      if (node_.has(4)) {
        // Behind its end a sequence keeps its state.
        for (size_t k = 0; k < after.size(); ++k)
          after[k] = script_.make(
              shape(), fmt::format("select(in4[i0] > {}, {}, {})", now_, element(after[k], {"i0", "i1"}),
                                   state[k].empty() ? "0" : element(state[k], {"i0", "i1"})));
      }
      hidden[static_cast<size_t>(now_)] = after[0];
      state = after;
    }
    hidden_states_.push_back(hidden);
    last_states_.push_back(state);
  }

  /// At the indices of output 0, the step's hidden elements; behind a sequence's end zeros.
  std::string all_steps() const {
    const std::string b = batch_first_ ? "i0" : "i2", t = batch_first_ ? "i1" : "i0",
                      d = batch_first_ ? "i2" : "i1";
    const auto of_direction = [&](size_t direction) {
      std::string value;
      for (size_t i = hidden_states_[direction].size(); i-- > 0;) {
        const std::string here = element(hidden_states_[direction][i], {b, "i3"});
        value = value.empty() ? here : fmt::format("select({} == {}, {}, {})", t, i, here, value);
      }
      return value;
    };
    std::string value = of_direction(0);
    if (directions_ == 2) value = fmt::format("select({} == 0, {}, {})", d, value, of_direction(1));
    if (node_.has(4)) value = fmt::format("select(i64({}) < i64(in4[{}]), {}, 0)", t, b, value);
    return convert(type_, dtype_, value);
  }

  std::string last_state(size_t which) const {
    const std::string b = batch_first_ ? "i0" : "i1", d = batch_first_ ? "i1" : "i0";
    std::string value = element(last_states_[0][which], {b, "i2"});
    if (directions_ == 2)
      value = fmt::format("select({} == 0, {}, {})", d, value, element(last_states_[1][which], {b, "i2"}));
    return convert(type_, dtype_, value);
  }

  const NodeReader& node_;
  int64_t gates_;
  DType dtype_, type_;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, hidden_ = 0, now_ = 0;
  bool is_reverse_ = false, batch_first_ = false;
  std::string clip_, inputs_;
  std::vector<Activation> activations_;
  Script script_;
  std::vector<std::vector<std::string>> hidden_states_;
  std::vector<State> last_states_;
};

class Rnn final : public Recurrence {
 public:
  explicit Rnn(const NodeReader& node) : Recurrence(node, 1, {"Tanh"}) {}

 private:
  State first_state(int64_t direction) override { return {given_state(5, direction)}; }
  State step(int64_t direction, const State& before) override {
    const std::string sum = element(sums_of_gates(direction, 1, before[0]), {"i0", "i1"});
    return {script().make(shape(), activated(direction, 0, sum))};
  }
};

/// Gates: update, reset, and what is new.
class Gru final : public Recurrence {
 public:
  explicit Gru(const NodeReader& node) : Recurrence(node, 3, {"Sigmoid", "Tanh"}) {
    resets_late_ = node.version() >= 3 && node.flag("linear_before_reset", false);
  }

 private:
  State first_state(int64_t direction) override { return {given_state(5, direction)}; }
  int64_t late_bias_rows() const override { return node().flag("linear_before_reset", false) ? hidden() : 0; }

  State step(int64_t direction, const State& before) override {
    const std::string sums = sums_of_gates(direction, 2, before[0]);
    const auto gate = [&](int64_t which) {
      return script().here(shape(), activated(direction, 0, element(sums, {"i0", gate_row(which, "i1")})));
    };
    const std::string update = gate(0);
    const std::string old = before[0].empty() ? "" : element(before[0], {"i0", "i1"});
    std::string fresh = input_of_gate(2);
    if (resets_late_) {
      std::string product = product_of_gate(direction, 2, before[0]);
      const std::string bias = late_bias(direction, 2);
      if (product.empty() || bias.empty())
        product += bias;
      else
        product += " + " + bias;
      if (!product.empty()) fresh += fmt::format(" + {} * ({})", gate(1), product);
    } else if (!old.empty()) {
      const std::string kept = script().make(shape(), fmt::format("{} * {}", gate(1), old));
      fresh += " + " + product_of_gate(direction, 2, kept);
    }
    fresh = script().here(shape(), activated(direction, 1, fresh));
    std::string value = fmt::format("(1 - {}) * {}", update, fresh);
    if (!old.empty()) value += fmt::format(" + {} * {}", update, old);
    return {script().make(shape(), value)};
  }

  bool resets_late_ = false;
};

/// Gates: input, output, forget, and the cell's.
class Lstm final : public Recurrence {
 public:
  explicit Lstm(const NodeReader& node) : Recurrence(node, 4, {"Sigmoid", "Tanh", "Tanh"}) {
    if (node.has(7))
      node.refuse_unless(node.rank(7) == 2 && node.shape(7)[1] == 3 * hidden(),
                         "the peepholes are not three for each hidden element");
    couples_ = node.flag("input_forget", false);
  }

 private:
  State first_state(int64_t direction) override {
    return {given_state(5, direction), given_state(6, direction)};
  }

  /// A gate's sum, with what it sees of the cells; `which` of the peepholes: input, output, forget.
  std::string gate(int64_t direction, int64_t which, const std::string& sums, const std::string& cells) {
    std::string sum = element(sums, {"i0", gate_row(which, "i1")});
    if (node().has(7) && !cells.empty())
      sum += fmt::format(" + {} * {}", wide_element(7, {fmt::format("{}", direction), gate_row(which, "i1")}),
                         cells);
    return script().here(shape(), activated(direction, 0, sum));
  }

  State step(int64_t direction, const State& before) override {
    const std::string sums = sums_of_gates(direction, 4, before[0]);
    const std::string old = before[1].empty() ? "" : element(before[1], {"i0", "i1"});
    const std::string input = gate(direction, 0, sums, old);
    const std::string fresh =
        script().here(shape(), activated(direction, 1, element(sums, {"i0", gate_row(3, "i1")})));
    std::string value = fmt::format("{} * {}", input, fresh);
    if (!old.empty()) {
      const std::string forget = couples_ ? fmt::format("(1 - {})", input) : gate(direction, 2, sums, old);
      value += fmt::format(" + {} * {}", forget, old);
    }
    const std::string cells = script().make(shape(), value);
    const std::string now = element(cells, {"i0", "i1"});
    const std::string output = gate(direction, 1, sums, now);
    return {script().make(shape(), fmt::format("{} * {}", output, activated(direction, 2, now))), cells};
  }

  bool couples_ = false;
};

}  // namespace

std::vector<Row> recurrent_operators() {
  return {
      {"RNN", 1, [](const NodeReader& node) { return Rnn(node).run(1); }, false, false, in_steps_of_nodes(1)},
      {"GRU", 3, [](const NodeReader& node) { return Gru(node).run(1); }, false, false, in_steps_of_nodes(1)},
      {"LSTM", 1, [](const NodeReader& node) { return Lstm(node).run(2); }, false, false,
       in_steps_of_nodes(2)}};
}

}  // namespace tunesmith::operators_onnx

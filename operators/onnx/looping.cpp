// Loop and Scan: their steps, one after the other.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "graph.h"

namespace tunesmith::operators_onnx {
namespace {

constexpr int64_t kMaxLoopSteps = 2048;
constexpr int64_t kMaxTrips = 1 << 20;  // a constant holds the steps' numbers
constexpr int64_t kMaxStepsInLine = 8;  // with conditions that each step may make known

void check_steps(const NodeReader& node, int64_t steps) {
  if (steps > kMaxLoopSteps)
    node.refuse(fmt::format("it has {} steps", steps),
                fmt::format("at most {} are written out", kMaxLoopSteps));
}

// ---- Loop

// Attribute of a Loop whose first steps are written out: their number. The last inputs are then what each of
// these steps gave to the outputs that gather all steps.
constexpr const char* kDone = "tunesmith.done";

struct LoopState {
  int64_t done = 0;                                ///< number of finished steps
  std::vector<TensorIndex> carried;                ///< tensors that the next step reads
  std::vector<std::vector<TensorIndex>> per_step;  ///< for each output, a tensor of each finished step
};

/// Inputs are the trip count, the condition, the carried values, and what each finished step gave.
LoopState read_loop_state(const NodeReader& node, size_t scanned) {
  LoopState state;
  state.done = node.integer(kDone, 0);
  const std::vector<TensorIndex>& inputs = node.node().inputs;
  const auto steps = static_cast<size_t>(state.done);
  const size_t own = node.own_count();
  node.refuse_unless(own >= 2 + steps * scanned, "its inputs are missing");
  const auto at = [&](size_t i) { return inputs.begin() + static_cast<int64_t>(i); };
  const size_t end = own - steps * scanned;
  state.carried.assign(at(2), at(end));
  state.per_step.resize(scanned);
  for (size_t step = 0; step < steps; ++step)
    for (size_t i = 0; i < scanned; ++i) state.per_step[i].push_back(inputs[end + step * scanned + i]);
  return state;
}

/// The outputs are the carried values, then those that gather all steps.
void end_loop(const NodeReader& node, network::Expansion& to, const LoopState& state) {
  Graph graph(to);
  for (size_t i = 0; i < state.carried.size(); ++i) to.give(i, state.carried[i]);
  for (size_t i = 0; i < state.per_step.size(); ++i) {
    node.refuse_unless(!state.per_step[i].empty() || !node.wants(state.carried.size() + i),
                       "it does no step, and the shapes of its outputs of all steps are not known");
    if (!state.per_step[i].empty()) to.give(state.carried.size() + i, graph.stack(state.per_step[i], 0));
  }
}

/// The maximum number of steps, if it is known.
std::optional<int64_t> trip_count(const NodeReader& node) {
  if (!node.has(0)) return std::nullopt;
  if (node.constant(0) == nullptr && node.has(1) && node.constant(1) &&
      integer_elements(*node.constant(1))[0] == 0)
    return 0;
  return node.integer_of(0, "trip count");
}

/// Is this output of the body always true if its input `before` is?
bool stays_true(const network::Network& body, TensorIndex output, TensorIndex before) {
  while (output != before) {
    const Constant* known = body.tensor(output).constant.get();
    if (known != nullptr) return integer_elements(*known)[0] != 0;
    const auto made = std::ranges::find_if(body.nodes, [&](const network::Node& each) {
      return each.op == "Identity" && each.outputs.front() == output;
    });
    if (made == body.nodes.end()) return false;
    output = made->inputs.front();
  }
  return true;
}

/// The body as a repetition takes it: its inputs are the carried values, the step's number and the captured
/// values. If the condition is data, it is carried, too, and steps behind the end change nothing.
network::Network body_of_loop(const network::Body& body, size_t carried, bool by_data) {
  network::Network made = *body.network;
  const std::vector<TensorIndex> inputs = made.inputs, outputs = made.outputs;
  const TensorIndex number = inputs[0], condition = inputs[1];
  const auto states = inputs.begin() + 2;
  made.inputs.assign(states, states + static_cast<std::ptrdiff_t>(carried));
  made.outputs.erase(made.outputs.begin());
  if (by_data) {
    const auto add = [&](const std::string& op, int64_t version, std::vector<TensorIndex> of) {
      const auto result = static_cast<TensorIndex>(made.tensors.size());
      const std::string name = fmt::format("tunesmith/{}", result);
      made.tensors.push_back({name, std::nullopt, std::nullopt, nullptr});
      made.nodes.push_back({name, op, version, {}, std::move(of), {result}, nullptr});
      return result;
    };
    for (size_t i = 0; i < carried; ++i)
      made.outputs[i] = add("If", 1, {condition, outputs[1 + i], made.inputs[i]});
    made.outputs.insert(made.outputs.begin(), add("And", 7, {condition, outputs[0]}));
    made.inputs.insert(made.inputs.begin(), condition);
  } else {
    network::Tensor& known = made.tensor(condition);
    known.constant = make_constant(kBool, {}, std::vector<int64_t>{1});
    known.dtype = kBool;
    known.shape = std::vector<network::Extent>();
  }
  made.inputs.push_back(number);
  made.inputs.insert(made.inputs.end(), states + static_cast<std::ptrdiff_t>(carried), inputs.end());
  return made;
}

/// Does each step's condition follow from constants and the step's number?
bool is_foreseen(const NodeReader& node, const network::Body& body) {
  const network::Network& inner = *body.network;
  std::set<TensorIndex> known{kAbsent, inner.inputs[0], inner.inputs[1]};
  const size_t own = inner.inputs.size() - body.captured.size();
  for (size_t i = 0; i < body.captured.size(); ++i)
    if (node.constant(body.captured[i]) != nullptr) known.insert(inner.inputs[own + i]);
  const auto is_known = [&](TensorIndex index) {
    return known.contains(index) || inner.tensor(index).constant != nullptr;
  };
  for (const network::Node& each : inner.nodes)
    if (std::ranges::all_of(each.inputs, is_known)) known.insert(each.outputs.begin(), each.outputs.end());
  return is_known(inner.outputs[0]);
}

/// Makes a loop of `trips` steps. Returns false where the number of steps is smaller and known ahead.
bool repeat_loop(const NodeReader& node, network::Expansion& to, const LoopState& state, int64_t trips) {
  const network::Body& body = node.body("body");
  const network::Network& inner = *body.network;
  const bool always =
      (!node.has(1) || node.constant(1) != nullptr) && stays_true(inner, inner.outputs[0], inner.inputs[1]);
  const bool by_data = !always;
  if (trips > (always ? kMaxTrips : kMaxLoopSteps)) return false;
  if (by_data && (!state.per_step.empty() || is_foreseen(node, body))) return false;
  std::vector<TensorIndex> inputs = state.carried;
  if (by_data) inputs.insert(inputs.begin(), node.has(1) ? node.input(1) : Graph(to).truth(true));
  const size_t carried = inputs.size();
  inputs.push_back(Graph(to).range(trips));
  for (const size_t captured : body.captured) inputs.push_back(node.input(captured));
  const std::vector<TensorIndex> made =
      to.repeat({std::make_shared<network::Network>(body_of_loop(body, state.carried.size(), by_data)), trips,
                 carried, std::vector<int64_t>(1 + state.per_step.size(), 0)},
                std::move(inputs));
  for (size_t i = by_data ? 1 : 0; i < made.size(); ++i) to.give(i - (by_data ? 1 : 0), made[i]);
  return true;
}

/// Writes out the next step, followed by a Loop of the others.
bool replace_loop(const NodeReader& node, network::Expansion& to) {
  const network::Body& body = node.body("body");
  const size_t body_outputs = body.network->outputs.size();
  const size_t carried = body.network->inputs.size() - body.captured.size() - 2;
  node.refuse_unless(body.network->inputs.size() >= body.captured.size() + 2 && body_outputs >= 1 + carried,
                     "its body is not of a trip number, a condition and what is carried");
  const size_t scanned = body_outputs - 1 - carried;
  LoopState state = read_loop_state(node, scanned);
  node.refuse_unless(state.carried.size() == carried && node.output_count() <= carried + scanned,
                     "it carries other values than its body");
  const std::optional<int64_t> trips = trip_count(node);
  const Constant* condition = node.constant(1);
  const bool is_data = node.has(1) && condition == nullptr;
  if ((trips && state.done >= *trips) || (condition && integer_elements(*condition)[0] == 0)) {
    end_loop(node, to, state);
    return true;
  }
  if (state.done == 0 && trips && *trips > kMaxStepsInLine && repeat_loop(node, to, state, *trips))
    return true;
  check_steps(node, state.done + 1);
  if (is_data && (!trips || scanned > 0))
    node.values(1, "condition");  // refuses: the number of steps would depend on data
  Graph graph(to);
  const TensorIndex before = node.has(1) ? node.input(1) : graph.truth(true);
  std::vector<TensorIndex> inputs{graph.integer(state.done), before};
  inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
  std::vector<TensorIndex> made = to.add_body(body, inputs);
  if (is_data) {
    // A step behind the end changes nothing.
    made[0] = graph.add("And", {before, made[0]});
    for (size_t i = 0; i < carried; ++i)
      made[1 + i] = graph.add("If", {before, made[1 + i], state.carried[i]});
  }
  network::Node rest = node.node();
  const auto captured = std::vector<TensorIndex>(rest.inputs.begin() + static_cast<int64_t>(node.own_count()),
                                                 rest.inputs.end());
  rest.inputs.resize(2);
  if (!trips && !node.has(1)) node.refuse("it has neither a trip count nor a condition, and does not end");
  rest.inputs[1] = made[0];
  rest.inputs.insert(rest.inputs.end(), made.begin() + 1, made.begin() + 1 + static_cast<int64_t>(carried));
  for (size_t step = 0; step < static_cast<size_t>(state.done); ++step)
    for (const auto& of_output : state.per_step) rest.inputs.push_back(of_output[step]);
  rest.inputs.insert(rest.inputs.end(), made.begin() + 1 + static_cast<int64_t>(carried), made.end());
  for (size_t i = 0; i < captured.size(); ++i) rest.bodies[0].captured[i] = rest.inputs.size() + i;
  rest.inputs.insert(rest.inputs.end(), captured.begin(), captured.end());
  rest.attributes[kDone] = state.done + 1;
  to.add(std::move(rest));
  return true;
}

// ---- Scan

struct ScanEnds {
  size_t states = 0, inputs = 0, outputs = 0;  ///< inputs and outputs have an axis of steps
  int64_t steps = 0;
};

std::vector<int64_t> or_zeros(const std::optional<std::vector<int64_t>>& given, size_t count) {
  return given.value_or(std::vector<int64_t>(count, 0));
}

ScanEnds read_scan_ends(const NodeReader& node, const network::Body& body, size_t first) {
  ScanEnds ends;
  const int64_t scanned = node.integer("num_scan_inputs", 0);
  const size_t given = node.own_count() - first;
  node.refuse_unless(scanned >= 1 && static_cast<size_t>(scanned) <= given,
                     "attribute 'num_scan_inputs' is not the number of some inputs");
  ends.inputs = static_cast<size_t>(scanned);
  ends.states = given - ends.inputs;
  node.refuse_unless(body.network->inputs.size() == given + body.captured.size() &&
                         body.network->outputs.size() >= ends.states,
                     "its body takes other inputs");
  ends.outputs = body.network->outputs.size() - ends.states;
  node.refuse_unless(node.output_count() <= ends.states + ends.outputs, "its body gives fewer outputs");
  return ends;
}

/// Moves `axis` to the front, or with `back` the first axis to `axis`.
TensorIndex move_axis(Graph& graph, TensorIndex tensor, size_t rank, size_t axis, bool back) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  const auto first = order.begin(), at = first + static_cast<std::ptrdiff_t>(axis);
  if (back)
    std::rotate(first, first + 1, at + 1);
  else
    std::rotate(first, at, at + 1);
  return axis == 0 ? tensor : graph.transpose(tensor, order);
}

/// The outputs of all steps, whose number follows from shapes. Behind the states, the first axis of `inputs`
/// and of outputs enumerates steps.
std::vector<TensorIndex> scan(const NodeReader& node, network::Expansion& to, const ScanEnds& ends,
                              std::vector<TensorIndex> inputs) {
  std::vector<int64_t> backwards = or_zeros(
      node.integers(node.has_attribute("directions") ? "directions" : "scan_input_directions"), ends.inputs);
  const std::vector<int64_t> prepends = or_zeros(node.integers("scan_output_directions"), ends.outputs);
  node.refuse_unless(backwards.size() == ends.inputs && prepends.size() == ends.outputs,
                     "its directions are not one for each input or output");
  backwards.insert(backwards.end(), prepends.begin(), prepends.end());
  const network::Body& body = node.body("body");
  for (const size_t captured : body.captured) inputs.push_back(node.input(captured));
  return to.repeat({body.network, ends.steps, ends.states, std::move(backwards)}, std::move(inputs));
}

/// Moves the axis of steps to `axis`: transposes if the output's rank is known, else stacks the steps.
TensorIndex with_steps_at(const NodeReader& node, Graph& graph, TensorIndex tensor, int64_t axis,
                          int64_t steps, size_t output) {
  if (axis == 0) return tensor;
  const network::Network& body = *node.body("body").network;
  const auto& shape = body.tensor(body.outputs[output]).shape;
  if (shape) return move_axis(graph, tensor, shape->size() + 1, node.axis(axis, shape->size() + 1), true);
  std::vector<TensorIndex> rows;
  for (int64_t step = 0; step < steps; ++step) rows.push_back(graph.take(tensor, 0, step));
  return graph.stack(rows, axis);
}

bool replace_scan(const NodeReader& node, network::Expansion& to) {
  const network::Body& body = node.body("body");
  ScanEnds ends = read_scan_ends(node, body, 0);
  std::vector<int64_t> axes = or_zeros(node.integers("scan_input_axes"), ends.inputs);
  const std::vector<int64_t> to_axes = or_zeros(node.integers("scan_output_axes"), ends.outputs);
  node.refuse_unless(axes.size() == ends.inputs && to_axes.size() == ends.outputs,
                     "its axes are not one for each input or output");
  const std::vector<TensorIndex>& inputs = node.node().inputs;
  for (size_t i = 0; i < ends.inputs; ++i) {
    const Shape& shape = node.shape(ends.states + i);
    const size_t axis = node.axis(axes[i], shape.size());
    node.refuse_unless(i == 0 || shape[axis] == ends.steps, "its inputs have different numbers of steps");
    ends.steps = shape[axis];
  }
  node.refuse_unless(ends.steps > 0, "an input without steps is not taken");
  Graph graph(to);
  std::vector<TensorIndex> given(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(ends.states));
  for (size_t i = 0; i < ends.inputs; ++i) {
    const size_t rank = node.rank(ends.states + i);
    given.push_back(move_axis(graph, inputs[ends.states + i], rank, node.axis(axes[i], rank), false));
  }
  const std::vector<TensorIndex> made = scan(node, to, ends, std::move(given));
  for (size_t i = 0; i < made.size(); ++i)
    to.give(i, i < ends.states
                   ? made[i]
                   : with_steps_at(node, graph, made[i], to_axes[i - ends.states], ends.steps, i));
  return true;
}

/// Before version 9 all inputs had a first axis of batches, and each batch had its own number of steps.
bool replace_scan_of_batches(const NodeReader& node, network::Expansion& to) {
  const network::Body& body = node.body("body");
  ScanEnds ends = read_scan_ends(node, body, 1);
  node.refuse_unless(!node.has(0), "its input 'sequence_lens' is not taken");
  const std::vector<TensorIndex>& inputs = node.node().inputs;
  const int64_t batches = node.rank(1) > 0 ? node.shape(1)[0] : 0;
  for (size_t i = 0; i < ends.states + ends.inputs; ++i) {
    const Shape& shape = node.shape(1 + i);
    node.refuse_unless(shape.size() >= (i < ends.states ? 1 : 2) && shape[0] == batches && batches > 0,
                       "expected inputs with an axis of batches, and of steps");
    if (i >= ends.states) {
      node.refuse_unless(i == ends.states || shape[1] == ends.steps,
                         "its inputs have different numbers of steps");
      ends.steps = shape[1];
    }
  }
  node.refuse_unless(ends.steps > 0, "an input without steps is not taken");
  Graph graph(to);
  std::vector<std::vector<TensorIndex>> of_batches(ends.states + ends.outputs);
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::vector<TensorIndex> given;
    for (size_t i = 0; i < ends.states + ends.inputs; ++i)
      given.push_back(graph.take(inputs[1 + i], 0, batch));
    const std::vector<TensorIndex> made = scan(node, to, ends, std::move(given));
    for (size_t i = 0; i < made.size(); ++i) of_batches[i].push_back(made[i]);
  }
  for (size_t i = 0; i < of_batches.size(); ++i)
    if (node.wants(i)) to.give(i, graph.stack(of_batches[i], 0));
  return true;
}

}  // namespace

std::vector<Row> looping_operators() {
  return {{"Loop", 1, never_defined, true, false, replace_loop},
          {"Scan", 8, never_defined, true, false, replace_scan_of_batches},
          {"Scan", 9, never_defined, true, false, replace_scan}};
}

}  // namespace tunesmith::operators_onnx

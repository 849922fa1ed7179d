// Loop and Scan: their steps, one after the other.
#include <algorithm>

#include <fmt/format.h>

#include "graph.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

constexpr int64_t kMaxLoopSteps = 2048;

void check_steps(const NodeReader& node, int64_t steps) {
  if (steps > kMaxLoopSteps)
    node.refuse(fmt::format("it has {} steps", steps),
                fmt::format("at most {} are written out", kMaxLoopSteps));
}

// ---- Loop

// Of a Loop of which some steps are done: how many, and how many of its last inputs are what these gave to
// outputs that have all steps.
constexpr const char* kDone = "tunesmith.done";

struct LoopState {
  int64_t done = 0;                                ///< steps
  std::vector<TensorIndex> carried;                ///< from step to step
  std::vector<std::vector<TensorIndex>> per_step;  ///< by output: of each step
};

/// The inputs of a node are trip count, condition, what is carried, and then for each step what it gave.
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

/// Steps are `carried`'s outputs, then those with all steps.
void end_loop(const NodeReader& node, network::Expansion& to, const LoopState& state) {
  Graph graph(to);
  for (size_t i = 0; i < state.carried.size(); ++i) to.give(i, state.carried[i]);
  for (size_t i = 0; i < state.per_step.size(); ++i) {
    node.refuse_unless(!state.per_step[i].empty() || !node.wants(state.carried.size() + i),
                       "it does no step, and the shapes of its outputs of all steps are not known");
    if (!state.per_step[i].empty()) to.give(state.carried.size() + i, graph.stack(state.per_step[i], 0));
  }
}

/// How many steps there are at most, where that is known.
std::optional<int64_t> trip_count(const NodeReader& node) {
  if (!node.has(0)) return std::nullopt;
  if (node.constant(0) == nullptr && node.has(1) && node.constant(1) &&
      integer_elements(*node.constant(1))[0] == 0)
    return 0;
  return node.integer_of(0, "trip count");
}

/// Does the next step: its nodes, and then a Loop of the others.
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
  check_steps(node, state.done + 1);
  if (is_data && (!trips || scanned > 0))
    node.values(1, "condition");  // how many steps there are would be data
  Graph graph(to);
  const TensorIndex before = node.has(1) ? node.node().inputs[1] : graph.truth(true);
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
  size_t states = 0, inputs = 0, outputs = 0;  ///< carried; with an axis of steps; of all steps
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

/// All steps at once: how many there are follows from shapes.
void scan(const NodeReader& node, network::Expansion& to, ScanEnds ends, std::vector<TensorIndex> state,
          const std::vector<TensorIndex>& scanned, const std::vector<int64_t>& axes,
          std::vector<std::vector<TensorIndex>>& all) {
  Graph graph(to);
  const std::vector<int64_t> backwards = or_zeros(
      node.integers(node.has_attribute("directions") ? "directions" : "scan_input_directions"), ends.inputs);
  const std::vector<int64_t> prepends = or_zeros(node.integers("scan_output_directions"), ends.outputs);
  node.refuse_unless(backwards.size() == ends.inputs && prepends.size() == ends.outputs,
                     "its directions are not one for each input or output");
  all.assign(ends.states + ends.outputs, {});
  for (int64_t step = 0; step < ends.steps; ++step) {
    std::vector<TensorIndex> inputs = state;
    for (size_t i = 0; i < ends.inputs; ++i)
      inputs.push_back(graph.take(scanned[i], axes[i], backwards[i] != 0 ? ends.steps - 1 - step : step));
    const std::vector<TensorIndex> made = to.add_body(node.body("body"), inputs);
    state.assign(made.begin(), made.begin() + static_cast<int64_t>(ends.states));
    for (size_t i = 0; i < ends.outputs; ++i) all[ends.states + i].push_back(made[ends.states + i]);
  }
  for (size_t i = 0; i < ends.states; ++i) all[i] = {state[i]};
  for (size_t i = 0; i < ends.outputs; ++i)
    if (prepends[i] != 0) std::ranges::reverse(all[ends.states + i]);
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
  check_steps(node, ends.steps);
  const auto first_scanned = inputs.begin() + static_cast<int64_t>(ends.states);
  std::vector<std::vector<TensorIndex>> all;
  scan(node, to, ends, {inputs.begin(), first_scanned},
       {first_scanned, first_scanned + static_cast<int64_t>(ends.inputs)}, axes, all);
  Graph graph(to);
  for (size_t i = 0; i < ends.states; ++i) to.give(i, all[i][0]);
  for (size_t i = 0; i < ends.outputs; ++i)
    if (node.wants(ends.states + i)) to.give(ends.states + i, graph.stack(all[ends.states + i], to_axes[i]));
  return true;
}

/// Before version 9 all inputs have an axis of batches in front, each with its number of steps.
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
  check_steps(node, ends.steps);
  Graph graph(to);
  std::vector<std::vector<TensorIndex>> of_batches(ends.states + ends.outputs);
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::vector<TensorIndex> given;
    for (size_t i = 0; i < ends.states + ends.inputs; ++i)
      given.push_back(graph.take(inputs[1 + i], 0, batch));
    const auto first_scanned = given.begin() + static_cast<int64_t>(ends.states);
    std::vector<std::vector<TensorIndex>> all;
    scan(node, to, ends, {given.begin(), first_scanned}, {first_scanned, given.end()},
         std::vector<int64_t>(ends.inputs, 0), all);
    for (size_t i = 0; i < all.size(); ++i)
      of_batches[i].push_back(i < ends.states ? all[i][0] : graph.stack(all[i], 0));
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

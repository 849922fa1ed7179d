// NonMaxSuppression: each step of a loop chooses the best remaining box of each batch and class.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "counted.h"
#include "first_rows.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

// Attribute of a node that is one step. Its inputs are the boxes that are left (of each batch and class a
// bool for each box), all boxes, their scores and the threshold; its outputs are what is left, and the chosen
// boxes, or -1.
constexpr const char* kSuppressionStep = "tunesmith.step";
constexpr int64_t kVersionOfSuppression = 11;

/// The lowest and highest coordinate of an array's box along an axis, 0 for y or 1 for x.
struct Side {
  std::string low, high;
};

Side side(const std::string& array, const Indices& at, int axis, bool by_centre) {
  const auto number = [&](int place) {
    Indices all = at;
    all.push_back(fmt::format("{}", place));
    return element(array, all);
  };
  if (!by_centre)
    return {fmt::format("min({}, {})", number(axis), number(axis + 2)),
            fmt::format("max({}, {})", number(axis), number(axis + 2))};
  const int centre = 1 - axis;  // they are x, y, width, height
  return {fmt::format("({} - {} * 0.5)", number(centre), number(centre + 2)),
          fmt::format("({} + {} * 0.5)", number(centre), number(centre + 2))};
}

std::string area(const Side& y, const Side& x) {
  return fmt::format("({} - {}) * ({} - {})", y.high, y.low, x.high, x.low);
}

std::string meet(const Side& a, const Side& b) {
  return fmt::format("min({}, {}) > max({}, {})", a.high, b.high, a.low, b.low);
}

/// The extent that both sides share: 0 or below where they do not meet.
std::string shared(const Side& a, const Side& b) {
  return fmt::format("(min({}, {}) - max({}, {}))", a.high, b.high, a.low, b.low);
}

Computation suppression_step(const NodeReader& node) {
  node.integer(kSuppressionStep, 0);
  const bool by_centre = node.flag("center_point_box", false);
  const Shape& left = node.shape(0);
  const Shape chosen{left[0], left[1]}, coordinates{left[0], left[1], 4};
  Script script;
  // The first of the best ones; a score that is NaN is never left.
  const std::string best =
      script.make(chosen, fmt::format("max(r0<{}) select(in0[i0, i1, r0], in2[i0, i1, r0], lowest({}))",
                                      left[2], node.dtype(2).str()));
  const std::string place = script.make(
      chosen,
      fmt::format("min(r0<{0}) i64(select(in0[i0, i1, r0] and in2[i0, i1, r0] == {1}[i0, i1], r0, {0}))",
                  left[2], best));
  const std::string box = script.make(coordinates, fmt::format("in1[i0, at({}[i0, i1]), i2]", place));
  const Side y = side(box, {"i0", "i1"}, 0, by_centre), x = side(box, {"i0", "i1"}, 1, by_centre);
  const Side other_y = side(in(1), {"i0", "i2"}, 0, by_centre),
             other_x = side(in(1), {"i0", "i2"}, 1, by_centre);
  const std::string intersection =
      script.here(left, fmt::format("max({}, 0) * max({}, 0)", shared(y, other_y), shared(x, other_x)));
  const std::string both =
      script.here(left, fmt::format("{} + {} - {}", area(y, x), area(other_y, other_x), intersection));
  // Comparisons, which no rounding changes, exclude boxes without an area and boxes that do not meet.
  const std::string overlap =
      script.here(left, fmt::format("select({} and {} and {} and {}, {} / {}, -1)", meet(y, y), meet(x, x),
                                    meet(y, other_y), meet(x, other_x), intersection, both));
  script.text += statement(
      out(0), left, fmt::format("in0[i0, i1, i2] and i2 != {}[i0, i1] and not {} > in3[0]", place, overlap));
  script.text +=
      statement(out(1), chosen, fmt::format("select({0}[i0, i1] < {1}, {0}[i0, i1], -1)", place, left[2]));
  return {{{kBool, left}, {kI64, chosen}}, {}, script.text};
}

/// The body of the loop, which is one step.
std::shared_ptr<const network::Network> body_of_suppression(const NodeReader& node, const Shape& left) {
  const Shape& boxes = node.shape(0);
  network::Network body;
  body.name = node.node().name;
  const auto add = [&](const char* name, DType dtype, const Shape& shape) {
    body.tensors.push_back({name, dtype, std::vector<network::Extent>(shape.begin(), shape.end()), nullptr});
    return static_cast<TensorIndex>(body.tensors.size() - 1);
  };
  body.inputs = {add("left", kBool, left), add("boxes", kF32, boxes), add("scores", kF32, left),
                 add("threshold", kF32, {1})};
  body.outputs = {add("still left", kBool, left), add("chosen", kI64, {left[0], left[1]})};
  body.nodes.push_back(
      {"step",
       node.op(),
       kVersionOfSuppression,
       {{kSuppressionStep, int64_t{1}}, {"center_point_box", node.integer("center_point_box", 0)}},
       body.inputs,
       body.outputs,
       nullptr});
  return std::make_shared<const network::Network>(std::move(body));
}

/// The boxes that may be chosen at first: bools like the scores, without NaNs.
TensorIndex candidates(const NodeReader& node, Graph& graph, TensorIndex scores) {
  const bool limited = node.has(4);
  const TensorIndex least = limited ? graph.reshape(node.input(4), {})
                                    : graph.number(kF32, -std::numeric_limits<double>::infinity());
  const TensorIndex good = graph.add(limited ? "Greater" : "GreaterOrEqual", {scores, least});
  const auto count = node.count(1);
  if (!count) return good;
  const TensorIndex places = graph.range(node.shape(1)[2]);
  return graph.add("And", {good, graph.add("Less", {places, count->by})});
}

void check_boxes(const NodeReader& node) {
  node.ignore("center_point_box");  // the steps read it
  const Shape &boxes = node.shape(0), &scores = node.shape(1);
  node.refuse_unless(boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 && boxes[0] == scores[0] &&
                         boxes[1] == scores[2] && node.dtype(0) == kF32 && node.dtype(1) == kF32,
                     "expected boxes [batch, boxes, 4] and scores [batch, classes, boxes] of f32");
  for (const size_t input : {3, 4})
    node.refuse_unless(
        !node.has(input) || (node.dtype(input) == kF32 && element_count(node.shape(input)) == 1),
        "a threshold is not a single f32");
  const auto of_boxes = node.count(0), of_scores = node.count(1);
  const bool alike =
      of_boxes && of_scores && of_boxes->axis == 1 && of_scores->axis == 2 && of_boxes->by == of_scores->by;
  node.refuse_unless((!of_boxes && !of_scores) || alike,
                     "the extent of boxes or scores is data, and not the number of boxes of both");
}

bool replace_suppression(const NodeReader& node, network::Expansion& to) {
  if (node.has_attribute(kSuppressionStep)) return false;
  check_boxes(node);
  const Shape& left = node.shape(1);
  const int64_t most = node.has(2) ? node.integer_of(2, "max_output_boxes_per_class") : 0;
  int64_t trips = std::clamp<int64_t>(most, 0, left[2]);
  // A trip gives each batch and class one row at most, in their order.
  if (const auto rows = first_rows_read(to, node.node().outputs[0])) trips = std::min(trips, *rows);
  Graph graph(to);
  if (trips * left[0] * left[1] == 0) {
    to.give(0, to.make_constant(make_constant(kI64, {0, 3}, Shape())));
    return true;
  }
  const auto& inputs = node.node().inputs;
  const TensorIndex boxes = to.whole(inputs[0]), scores = to.whole(inputs[1]);
  const TensorIndex threshold =
      node.has(3) ? graph.reshape(inputs[3], {1}) : graph.reshape(graph.number(kF32, 0), {1});
  const std::vector<TensorIndex> made =
      to.repeat({body_of_suppression(node, left), trips, 1, {0}},
                {candidates(node, graph, scores), boxes, scores, threshold});
  // In the order of batches, classes and steps.
  const TensorIndex chosen = graph.transpose(made[1], {1, 2, 0});
  const TensorIndex there = graph.add("GreaterOrEqual", {chosen, graph.integer(0)});
  const TensorIndex places = graph.transpose(graph.add("NonZero", {there}), {1, 0});
  const TensorIndex picked = graph.unsqueeze(graph.add("GatherND", {chosen, places}), 1);
  to.give(0, graph.concat({graph.slice(places, 1, 0, 2), picked}, 1));
  return true;
}

}  // namespace

std::vector<Row> suppression_operators() {
  return {{"NonMaxSuppression", 10, suppression_step, true, false, replace_suppression}};
}

}  // namespace tunesmith::operators_onnx

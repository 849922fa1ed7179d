// TopK: the first elements of an order, by their ranks.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// With fewer elements, or less than this many for each chosen one, all are compared with each other.
constexpr int64_t kMinExtent = 128;
constexpr int64_t kMinExtentOfChosen = 4;

/// Chooses along one axis of arrays whose other axes are alike. Of two elements the larger one comes first
/// (or the smaller one), of equal ones that at the lower place. Only given elements are compared, so no
/// rounding changes a choice.
class Choice {
 public:
  Choice(Script& script, const NodeReader& node, size_t axis)
      : script_(script),
        shape_(node.shape(0)),
        axis_(axis),
        here_(fmt::format("i{}", axis)),
        largest_(node.flag("largest", true)),
        last_(fmt::format("{}({})", largest_ ? "lowest" : "highest", node.dtype(0).str())) {}

  /// The value that comes last.
  const std::string& last() const { return last_; }

  /// An element at this place of the axis.
  std::string at(const std::string& array, const std::string& place) const {
    Indices indices = axis_names(shape_.size());
    indices[axis_] = place;
    return element(array, indices);
  }

  /// The i32 places of the first `count` elements, in their order.
  std::string first(const std::string& values, int64_t extent, int64_t count) {
    return extent <= kMinExtent || extent / count < kMinExtentOfChosen ? of_all(values, extent, count)
                                                                       : of_blocks(values, extent, count);
  }

 private:
  std::string make(int64_t extent, const std::string& value) {
    Shape shape = shape_;
    shape[axis_] = extent;
    return script_.make(shape, value);
  }

  /// Of `items` the one of each rank.
  std::string in_order(const std::string& ranks, const std::string& item, int64_t extent, int64_t count) {
    return make(count,
                fmt::format("sum(r0<{}) select({} == i32({}), {}, 0)", extent, at(ranks, "r0"), here_, item));
  }

  /// Compares each with each: an element's rank is the number of those before it.
  std::string of_all(const std::string& values, int64_t extent, int64_t count) {
    const std::string other = at(values, "r0"), own = at(values, here_);
    const std::string ranks =
        make(extent, fmt::format("sum(r0<{0}) select({1} {2} {3} or {1} == {3} and r0 < {4}, i32(1), 0)",
                                 extent, other, largest_ ? ">" : "<", own, here_));
    return in_order(ranks, "i32(r0)", extent, count);
  }

  /// The first element of each block says which blocks are chosen: the elements of another block come after
  /// the first ones of `count` blocks.
  std::string of_blocks(const std::string& values, int64_t extent, int64_t count) {
    const auto size =
        static_cast<int64_t>(std::sqrt(static_cast<double>(extent) / static_cast<double>(count)));
    const int64_t blocks = (extent + size - 1) / size;
    const std::string place = fmt::format("{}*{} + r0", here_, size);
    const std::string best =
        make(blocks, fmt::format("{}(r0<{}) select({} < {}, {}, {})", largest_ ? "max" : "min", size, place,
                                 extent, at(values, place), last_));
    const std::string chosen = ascending(first(best, blocks, count), count);
    // They stay in the order of their places, which decides between equal ones.
    const int64_t candidates = count * size;
    const std::string places =
        make(candidates, fmt::format("{0} * {1} + i32({2} % {1})",
                                     at(chosen, fmt::format("{} // {}", here_, size)), size, here_));
    const std::string from = at(places, here_);
    const std::string kept = make(candidates, fmt::format("select({} < {}, {}, {})", from, extent,
                                                          at(values, fmt::format("at({})", from)), last_));
    const std::string found = first(kept, candidates, count);
    return make(count, at(places, fmt::format("at({})", at(found, here_))));
  }

  /// Sorts different numbers.
  std::string ascending(const std::string& numbers, int64_t count) {
    const std::string ranks = make(count, fmt::format("sum(r0<{}) select({} < {}, i32(1), 0)", count,
                                                      at(numbers, "r0"), at(numbers, here_)));
    return in_order(ranks, at(numbers, "r0"), count, count);
  }

  Script& script_;
  const Shape shape_;
  const size_t axis_;
  const std::string here_;
  const bool largest_;
  const std::string last_;
};

/// A third input, which ONNX does not have, is the number of elements that exist.
Computation top_k(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  node.ignore("sorted");  // sorted output is one of the allowed orders
  const Shape& shape = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", -1), shape.size());
  const int64_t count = node.integer_of(1, "K");
  node.refuse_unless(count >= 1 && count <= shape[axis], "'K' is not between 1 and the axis' extent");
  node.refuse_unless(shape[axis] <= std::numeric_limits<int32_t>::max(), "the axis is too long");
  Script script;
  Choice choice(script, node, axis);
  std::string values = in(0);
  if (node.has(2))
    values = script.make(shape, fmt::format("select(i{} < in2[0], {}, {})", axis,
                                            element(values, axis_names(shape.size())), choice.last()));
  const std::string places = choice.first(values, shape[axis], count);
  const std::string place = choice.at(places, fmt::format("i{}", axis));
  Shape result = shape;
  result[axis] = count;
  if (node.wants(0)) script.text += statement(out(0), result, choice.at(in(0), fmt::format("at({})", place)));
  if (node.wants(1)) script.text += statement(out(1), result, fmt::format("i64({})", place));
  return {{{dtype, result}, {kI64, result}}, {}, script.text};
}

/// Where K, or the number of elements to choose from, is data: the highest K, and a count.
bool top_k_by_data(const NodeReader& node, network::Expansion& to) {
  const size_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  const auto count = node.count(0);
  const bool along = count && count->axis == axis;
  if (node.has(2) || (!along && node.constant(1) != nullptr)) return false;
  node.refuse_unless(element_count(node.shape(1)) == 1, "'K' is not a single value");
  Graph graph(to);
  int64_t bound = node.shape(0)[axis];
  const std::optional<int64_t> most =
      node.constant(1) != nullptr ? std::optional(node.integer_of(1, "K")) : node.highest(1);
  if (most) bound = std::clamp<int64_t>(*most, 1, bound);
  std::vector<TensorIndex> inputs{along ? to.whole(node.input(0)) : node.input(0), graph.integers({bound})};
  if (along) inputs.push_back(count->by);
  const auto made = graph.add_all("TopK", inputs, node.node().attributes, 2);
  const TensorIndex existing = along ? count->by : graph.integer(bound);
  const TensorIndex chosen = graph.add("Min", {graph.reshape(node.input(1), {}), existing});
  for (const auto& [name, value] : node.node().attributes) node.ignore(name);
  for (size_t i = 0; i < 2; ++i)
    if (node.wants(i)) to.give(i, counted(to, made[i], axis, bound, chosen));
  return true;
}

}  // namespace

std::vector<Row> top_k_operators() { return {{"TopK", 10, top_k, false, false, top_k_by_data}}; }

}  // namespace tunesmith::operators_onnx

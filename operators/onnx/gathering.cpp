// Gathers elements: known indices become part of the expression, others are loaded.
#include <optional>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// From position `begin` on, the indices are first, first + step, ...
struct Run {
  int64_t begin;
  int64_t first;
  int64_t step;
};

std::vector<Run> runs_of(const std::vector<int64_t>& values) {
  std::vector<Run> runs;
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t i = 0; i < count;) {
    Run run{i, values[static_cast<size_t>(i)], 0};
    ++i;
    if (i < count) run.step = values[static_cast<size_t>(i)] - run.first;
    while (i < count && values[static_cast<size_t>(i)] == run.first + (i - run.begin) * run.step) ++i;
    runs.push_back(run);
  }
  return runs;
}

std::string index_in(const Run& run, const std::string& position) {
  if (run.step == 0) return fmt::format("{}", run.first);
  const std::string offset =
      run.begin == 0 ? fmt::format("({})", position) : fmt::format("({} - {})", position, run.begin);
  return run.step < 0 ? fmt::format("{} - {}*{}", run.first, offset, -run.step)
                      : fmt::format("{} + {}*{}", run.first, offset, run.step);
}

/// With more runs, the indices are loaded like unknown ones.
constexpr size_t kMaxRuns = 32;

/// The indices, counted from the front; nothing if they are unknown or have too many runs.
std::optional<std::vector<int64_t>> known_indices(const NodeReader& node, int64_t extent) {
  const Constant* constant = node.constant(1);
  if (constant == nullptr) return std::nullopt;
  std::vector<int64_t> indices = integer_elements(*constant);
  for (int64_t& index : indices) {
    node.refuse_unless(index >= -extent && index < extent,
                       fmt::format("the index {} is out of range", index));
    if (index < 0) index += extent;
  }
  return runs_of(indices).size() <= kMaxRuns ? std::optional(std::move(indices)) : std::nullopt;
}

/// An index that is loaded, counted from the end if it is negative.
std::string at_data(const std::string& index, int64_t extent) {
  return fmt::format("at(select({0} < 0, {0} + {1}, {0}))", index, extent);
}

void check_indices(const NodeReader& node) {
  const DType dtype = node.dtype(1);
  if (dtype != kI64 && dtype != kI32)
    node.refuse(fmt::format("indices of type {} are not taken", dtype.str()));
}

Computation gather(const NodeReader& node) {
  const Shape& from = node.shape(0);
  node.refuse_unless(!from.empty(), "a single value has no axis");
  const size_t axis = node.axis(node.integer("axis", 0), from.size());
  check_indices(node);
  const std::optional<std::vector<int64_t>> indices = known_indices(node, from[axis]);
  const Shape& of_indices = node.shape(1);
  Shape shape(from.begin(), from.begin() + static_cast<int64_t>(axis));
  shape.insert(shape.end(), of_indices.begin(), of_indices.end());
  shape.insert(shape.end(), from.begin() + static_cast<int64_t>(axis) + 1, from.end());
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");

  const Indices names = axis_names(shape.size());
  const auto chosen = names.begin() + static_cast<int64_t>(axis);
  const auto behind = chosen + static_cast<int64_t>(of_indices.size());
  if (!indices) {
    node.refuse_unless(from[axis] > 0, "there is no element to take");
    Indices at(names.begin(), chosen);
    at.push_back(at_data(element(in(1), Indices(chosen, behind)), from[axis]));
    at.insert(at.end(), behind, names.end());
    return copied(node, shape, element(in(0), at));
  }
  const std::vector<Run> runs = runs_of(*indices);
  const std::string position = linear(Indices(chosen, behind), of_indices);
  const auto choose = [&](const auto& self, size_t first, size_t last) -> std::string {
    if (last - first == 1) {
      Indices at(names.begin(), chosen);
      const std::string index = index_in(runs[first], position);
      // A select does not bound an index that depends on several axes, so clamp it.
      at.push_back(runs.size() > 1 && of_indices.size() > 1
                       ? fmt::format("max(0, min({}, {}))", from[axis] - 1, index)
                       : index);
      at.insert(at.end(), behind, names.end());
      return element(in(0), at);
    }
    const size_t middle = (first + last) / 2;
    return fmt::format("select({} < {}, {}, {})", position, runs[middle].begin, self(self, first, middle),
                       self(self, middle, last));
  };
  return copied(node, shape, choose(choose, 0, runs.size()));
}

/// Each element of the result has its own index along the axis.
Computation gather_elements(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const Shape& shape = node.shape(1);
  check_indices(node);
  node.refuse_unless(!from.empty() && from.size() == shape.size(),
                     "'indices' has not as many axes as the data");
  const size_t axis = node.axis(node.integer("axis", 0), from.size());
  for (size_t i = 0; i < from.size(); ++i)
    node.refuse_unless(i == axis || shape[i] <= from[i], "'indices' is larger than the data");
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");
  Indices at = axis_names(shape.size());
  at[axis] = at_data(element(in(1), axis_names(shape.size())), from[axis]);
  return copied(node, shape, element(in(0), at));
}

/// The last axis of the indices enumerates axes of the data, starting behind the batch axes.
Computation gather_nd(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const Shape& of_indices = node.shape(1);
  check_indices(node);
  const int64_t batch = node.version() >= 12 ? node.integer("batch_dims", 0) : 0;
  node.refuse_unless(!of_indices.empty() && batch >= 0 && batch < static_cast<int64_t>(of_indices.size()) &&
                         batch < static_cast<int64_t>(from.size()),
                     "'batch_dims' is not below the numbers of axes");
  const int64_t indexed = of_indices.back();
  node.refuse_unless(indexed >= 1 && batch + indexed <= static_cast<int64_t>(from.size()),
                     "the last extent of 'indices' is not a number of axes that the data have");
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
    node.refuse_unless(from[i] == of_indices[i], "the batches of the data and of 'indices' differ");
  Shape shape(of_indices.begin(), of_indices.end() - 1);
  const auto tuples = static_cast<int64_t>(shape.size());
  shape.insert(shape.end(), from.begin() + batch + indexed, from.end());
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");
  const Indices names = axis_names(shape.size());
  Indices at(names.begin(), names.begin() + batch);
  for (int64_t i = 0; i < indexed; ++i) {
    Indices tuple(names.begin(), names.begin() + tuples);
    tuple.push_back(fmt::format("{}", i));
    at.push_back(at_data(element(in(1), tuple), from[static_cast<size_t>(batch + i)]));
  }
  at.insert(at.end(), names.begin() + tuples, names.end());
  return copied(node, shape, element(in(0), at));
}

/// Reverses the first elements of each sequence, as many as its length says.
Computation reverse_sequence(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(shape.size() >= 2, "expected at least two axes");
  const size_t batch = node.axis(node.integer("batch_axis", 1), 2);
  const size_t time = node.axis(node.integer("time_axis", 0), 2);
  node.refuse_unless(batch != time, "'batch_axis' and 'time_axis' are the same");
  node.refuse_unless(node.dtype(1) == kI64 && node.shape(1) == Shape{shape[batch]},
                     "'sequence_lens' is not one i64 for each sequence");
  Indices at = axis_names(shape.size());
  const std::string length = element(in(1), {at[batch]});
  at[time] = fmt::format("at(select({0} < {1}, {1} - 1 - {0}, i64({0})))", at[time], length);
  return copied(node, shape, element(in(0), at));
}

}  // namespace

std::vector<Row> gathering_operators() {
  return {{"Gather", 1, gather, true, false, gather_of_counted},
          {"GatherElements", 11, gather_elements},
          {"GatherND", 11, gather_nd},
          {"ReverseSequence", 10, reverse_sequence}};
}

}  // namespace tunesmith::operators_onnx

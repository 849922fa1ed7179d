// Gather, as far as its indices are known.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Indices first, first + step, ..., from position `begin` on.
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

Computation gather(const NodeReader& node) {
  constexpr size_t kMaxRuns = 32;
  const Shape& from = node.shape(0);
  node.refuse_unless(!from.empty(), "a single value has no axis");
  const size_t axis = node.axis(node.integer("axis", 0), from.size());
  std::vector<int64_t> indices =
      node.integers_of(1, "indices: a read at an index that is data is not in the workload language yet");
  for (int64_t& index : indices) {
    node.refuse_unless(index >= -from[axis] && index < from[axis],
                       fmt::format("the index {} is out of range", index));
    if (index < 0) index += from[axis];
  }
  const Shape& of_indices = node.shape(1);
  Shape shape(from.begin(), from.begin() + static_cast<int64_t>(axis));
  shape.insert(shape.end(), of_indices.begin(), of_indices.end());
  shape.insert(shape.end(), from.begin() + static_cast<int64_t>(axis) + 1, from.end());
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");

  const std::vector<Run> runs = runs_of(indices);
  node.refuse_unless(runs.size() <= kMaxRuns,
                     fmt::format("its indices are {} arithmetic progressions: a read at an index that is "
                                 "data is not in the workload language yet",
                                 runs.size()));
  const Indices names = axis_names(shape.size());
  const auto chosen = names.begin() + static_cast<int64_t>(axis);
  const auto behind = chosen + static_cast<int64_t>(of_indices.size());
  const std::string position = linear(Indices(chosen, behind), of_indices);
  const auto choose = [&](const auto& self, size_t first, size_t last) -> std::string {
    if (last - first == 1) {
      Indices at(names.begin(), chosen);
      const std::string index = index_in(runs[first], position);
      // Of a position of several axes, a select does not bound the index.
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

}  // namespace

std::vector<Row> gathering_operators() { return {{"Gather", 1, gather, true}}; }

}  // namespace tunesmith::operators_onnx

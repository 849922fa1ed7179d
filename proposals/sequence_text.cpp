#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "role_names.h"
#include "tunesmith/proposals/sequence.h"

namespace tunesmith {
namespace {

std::string extents_text(const std::vector<int64_t>& extents) {
  return extents.empty() ? "scalar" : fmt::format("{}", fmt::join(extents, "x"));
}

std::string choice_text(const SequenceStep& step, size_t place) {
  if (step.values.empty()) return std::to_string(step.choices[place]);
  return fmt::format("{}={}", step.choices[place], step.values[place]);
}

std::string step_text(const SequenceStep& step) {
  std::vector<std::string> choices;
  for (size_t i = 0; i < step.choices.size(); ++i) choices.push_back(choice_text(step, i));
  const auto chosen = std::ranges::find(step.choices, step.chosen);
  check_invariant(chosen != step.choices.end(), "what is chosen is a choice");
  return fmt::format("  {}.{} {} of {}\n", step.instruction, step.element,
                     choices[static_cast<size_t>(chosen - step.choices.begin())], fmt::join(choices, " "));
}

}  // namespace

std::string to_text(const SequenceTask& task) {
  std::string text;
  for (const auto& [name, value] : task.machine) text += fmt::format("machine {} {}\n", name, value);
  for (const SequenceArray& array : task.arrays) {
    text += fmt::format("array {} {} {}", sequence::role_name(array.role), array.dtype.str(),
                        extents_text(array.shape));
    if (!array.strides.empty()) text += " strides " + extents_text(array.strides);
    text += "\n";
  }
  for (const SequenceBlock& block : task.blocks) {
    text += fmt::format("block {}\n", block.name);
    for (const SequenceIterator& iterator : block.iterators)
      text += fmt::format("  iterator {} {}\n", iter_kind_name(iterator.kind), iterator.extent);
    for (const SequenceAccess& access : block.accesses)
      text += fmt::format("  {} {} [{}]\n", access.writes ? "write" : "read", access.array, access.indices);
    for (const SequenceOperation& operation : block.operations)
      text += fmt::format("  operation {} {} {}\n", operation.name, operation.dtype.str(), operation.count);
  }
  return text;
}

std::string to_text(const Sequence& sequence) {
  std::string text = fmt::format("# tunesmith sequence {}\n", kSequenceVersion) + to_text(sequence.task);
  text += "sketch\n" + sequence.sketch.str() + "decisions\n";
  for (const SequenceStep& step : sequence.steps) text += step_text(step);
  return text;
}

}  // namespace tunesmith

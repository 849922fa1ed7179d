#include "tunesmith/trace/trace.h"

#include <algorithm>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

void for_each_var(const Arg& arg, const auto& visit) {
  if (const auto* var = std::get_if<TraceVar>(&arg)) visit(*var);
  if (const auto* list = std::get_if<ArgList>(&arg)) {
    for (const Arg& item : *list) for_each_var(item, visit);
  }
}

Arg renumber(const Arg& arg, const std::vector<uint32_t>& numbers) {
  if (const auto* var = std::get_if<TraceVar>(&arg)) return TraceVar{numbers[var->index]};
  const auto* list = std::get_if<ArgList>(&arg);
  if (list == nullptr) return arg;
  ArgList result;
  for (const Arg& item : *list) result.push_back(renumber(item, numbers));
  return result;
}

const InstructionKind* finishing_marker() {
  static const InstructionKind* const marker = InstructionRegistry::global().find(kFinishingMarker);
  return marker;
}

}  // namespace

bool Trace::operator==(const Trace& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a == b || (a->kind == b->kind && a->args == b->args && a->outputs == b->outputs &&
                      a->decision == b->decision);
  };
  return std::equal(instructions_.begin(), instructions_.end(), other.instructions_.begin(),
                    other.instructions_.end(), same);
}

uint64_t Trace::hash() const { return hash_bytes(str()); }

size_t Trace::finishing() const {
  const auto marker = std::find_if(instructions_.begin(), instructions_.end(), [](const auto& instruction) {
    return instruction->kind == finishing_marker();
  });
  return static_cast<size_t>(marker - instructions_.begin());
}

Trace Trace::searchable() const {
  Trace result;
  result.instructions_.assign(instructions_.begin(),
                              instructions_.begin() + static_cast<std::ptrdiff_t>(finishing()));
  return result;
}

std::vector<size_t> Trace::sampling() const {
  std::vector<size_t> positions;
  const size_t end = finishing();
  for (size_t i = 0; i < end; ++i) {
    if (instructions_[i]->kind->sort() == InstructionSort::Sampling) positions.push_back(i);
  }
  return positions;
}

Trace Trace::with_decision(size_t position, Decision decision) const {
  Trace result = searchable();
  check_invariant(
      position < result.size() && instructions_[position]->kind->sort() == InstructionSort::Sampling,
      "a decision belongs to a sampling instruction before the marker");
  auto changed = std::make_shared<Instruction>(*instructions_[position]);
  changed->decision = std::move(decision);
  result.instructions_[position] = std::move(changed);
  return result;
}

Trace Trace::with_open_decisions() const {
  Trace result = searchable();
  for (auto& instruction : result.instructions_) {
    if (!instruction->decision.has_value()) continue;
    auto open = std::make_shared<Instruction>(*instruction);
    open->decision.reset();
    instruction = std::move(open);
  }
  return result;
}

Trace Trace::simplified() const {
  uint32_t count = 0;
  for (const auto& instruction : instructions_) {
    for (const TraceVar& output : instruction->outputs) count = std::max(count, output.index + 1);
  }
  std::vector<bool> used(count, false);
  std::vector<bool> kept(size(), false);
  for (size_t i = size(); i-- > 0;) {
    const Instruction& instruction = *instructions_[i];
    kept[i] = instruction.kind->sort() == InstructionSort::Transformation ||
              std::any_of(instruction.outputs.begin(), instruction.outputs.end(),
                          [&](TraceVar output) { return used[output.index]; });
    if (!kept[i]) continue;
    for (const Arg& arg : instruction.args) for_each_var(arg, [&](TraceVar var) { used[var.index] = true; });
  }

  Trace result;
  std::vector<uint32_t> numbers(count, 0);
  uint32_t next = 0;
  for (size_t i = 0; i < size(); ++i) {
    if (!kept[i]) continue;
    auto instruction = std::make_shared<Instruction>(*instructions_[i]);
    for (Arg& arg : instruction->args) arg = renumber(arg, numbers);
    for (TraceVar& output : instruction->outputs) {
      numbers[output.index] = next;
      output.index = next++;
    }
    result.append(std::move(instruction));
  }
  return result;
}

}  // namespace tunesmith

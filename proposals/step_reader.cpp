#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/proposals/prior.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

float log2_of(double number) { return static_cast<float>(std::log2(std::max(1.0, std::abs(number)))); }

/// A hash of the computation that is independent of extents.
uint64_t name_of_task(const SequenceTask& task) {
  uint64_t name = 0;
  for (const SequenceBlock& block : task.blocks) {
    for (const SequenceIterator& iterator : block.iterators)
      name = hash_combine(name, static_cast<uint64_t>(iterator.kind));
    for (const SequenceOperation& operation : block.operations)
      name = hash_combine(name, hash_bytes(operation.name + operation.dtype.str()));
    name = hash_combine(name, block.accesses.size());
  }
  return name;
}

double iterations_of(const SequenceBlock& block) {
  double iterations = 1.0;
  for (const SequenceIterator& iterator : block.iterators) iterations *= static_cast<double>(iterator.extent);
  return iterations;
}

uint64_t named(uint64_t what, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  return hash_combine(hash_combine(hash_combine(what, a), b), c);
}

}  // namespace

uint64_t sketch_name(const Trace& sketch) {
  uint64_t name = 1;
  for (size_t i = 0; i < sketch.size(); ++i) name = hash_combine(name, hash_bytes(sketch[i].kind->name()));
  return name;
}

std::string machine_text(const std::map<std::string, double>& quantities) {
  const auto quantity = [&](const char* name) {
    const auto found = quantities.find(name);
    return found == quantities.end() ? 0.0 : found->second;
  };
  return fmt::format("{} bits of vectors, {} cores", quantity("vector_bits"), quantity("cores"));
}

StepReader::StepReader(const SequenceTask& task) : task_name_(name_of_task(task)) {
  const auto quantity = [&](const char* name) {
    const auto found = task.machine.find(name);
    return log2_of(found == task.machine.end() ? 1.0 : found->second);
  };
  of_task_[0] = quantity("vector_bits");
  of_task_[1] = quantity("cores");
  const auto largest = std::ranges::max_element(task.blocks, {}, iterations_of);
  if (largest == task.blocks.end()) return;
  of_task_[2] = log2_of(iterations_of(*largest));
  double spatial = 1.0;
  double reduction = 1.0;
  for (const SequenceIterator& iterator : largest->iterators) {
    const bool sums = iterator.kind == IterKind::Reduction;
    (sums ? reduction : spatial) *= static_cast<double>(iterator.extent);
    if (!sums) of_task_[5] = log2_of(static_cast<double>(iterator.extent));  // the last one
  }
  of_task_[3] = log2_of(spatial);
  of_task_[4] = log2_of(reduction);
}

std::vector<ChoiceFeatures> StepReader::sketches(std::span<const Trace> sketches) const {
  std::vector<ChoiceFeatures> choices;
  for (const Trace& sketch : sketches) {
    ChoiceFeatures& one = choices.emplace_back();
    std::ranges::copy(of_task_, one.numbers.begin());
    one.numbers[6] = log2_of(static_cast<double>(sketch.size()));
    const uint64_t name = sketch_name(sketch);
    const auto extents = static_cast<uint64_t>(of_task_[4] / 2);
    const uint64_t names[kPriorNames] = {named(11, name),
                                         named(12, name, task_name_),
                                         named(13, name, task_name_, extents),
                                         named(14, sketch.size()),
                                         named(15, 0),
                                         named(16, name, static_cast<uint64_t>(of_task_[5] / 2)),
                                         named(17, 0)};
    std::ranges::transform(names, one.names.begin(),
                           [](uint64_t hash) { return static_cast<uint32_t>(hash); });
  }
  return choices;
}

void StepReader::begin(const Trace& sketch) {
  sketch_ = &sketch;
  sketch_name_ = sketch_name(sketch);
  instruction_ = sketch.size();
  steps_ = 0;
  levels_ = {};
}

std::vector<ChoiceFeatures> StepReader::choices(const SequenceStep& step) const {
  const size_t level = step.instruction == instruction_ ? steps_ : 0;
  const uint64_t kind = hash_bytes((*sketch_)[step.instruction].kind->name());
  const uint64_t slot = named(sketch_name_, step.instruction, step.element);
  const float most = log2_of(static_cast<double>(*std::ranges::max_element(step.choices)));
  std::vector<ChoiceFeatures> choices;
  for (size_t i = 0; i < step.choices.size(); ++i) {
    const int64_t value = step.values.empty() ? step.choices[i] : step.values[i];
    const float size = log2_of(static_cast<double>(value));
    ChoiceFeatures& one = choices.emplace_back();
    std::ranges::copy(of_task_, one.numbers.begin());
    one.numbers[6] = size;
    one.numbers[7] = most;
    one.numbers[8] = most > 0 ? size / most : 0;
    one.numbers[9] = value <= 1 ? 1.0F : 0.0F;
    one.numbers[10] = value % 16 == 0 ? 1.0F : 0.0F;
    one.numbers[11] = value % 8 == 0 ? 1.0F : 0.0F;
    one.numbers[12] = static_cast<float>(level);
    one.numbers[13] = levels_[std::min<size_t>(level, 3)];
    one.numbers[14] = levels_[std::min<size_t>(level, 3)] + size;
    one.numbers[15] = levels_[0];
    one.numbers[16] = levels_[0] + levels_[1];
    one.numbers[17] = size * size / 8;
    one.numbers[18] = static_cast<float>(step.element);
    one.numbers[19] = value < 0 ? 1.0F : 0.0F;
    const auto rank = static_cast<uint64_t>(std::lround(2 * size)) + (value < 0 ? 1000 : 0);
    const auto inner = static_cast<uint64_t>(std::lround(levels_[0]));
    const uint64_t names[kPriorNames] = {named(1, kind, level, rank),
                                         named(2, slot, rank),
                                         named(3, kind, level, static_cast<uint64_t>(value)),
                                         named(4, slot, task_name_, rank),
                                         named(5, slot, static_cast<uint64_t>(most), rank),
                                         named(6, slot, inner, rank),
                                         named(7, slot, static_cast<uint64_t>(value))};
    std::ranges::transform(names, one.names.begin(),
                           [](uint64_t hash) { return static_cast<uint32_t>(hash); });
  }
  return choices;
}

void StepReader::chose(const SequenceStep& step) {
  steps_ = step.instruction == instruction_ ? steps_ : 0;
  instruction_ = step.instruction;
  if (step.values.empty() && step.chosen > 0)
    levels_[std::min<size_t>(steps_, 3)] += log2_of(static_cast<double>(step.chosen));
  ++steps_;
}

}  // namespace tunesmith

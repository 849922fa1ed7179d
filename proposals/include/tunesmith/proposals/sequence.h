// Sequences (docs/proposals.md): a task's computation and machine, a sketch, and each of its decisions with
// the choices that were legal given all earlier ones. They are the training data of priors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/target/device_model.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// Raise it with every change of the contents or text of sequences: models trained on another version are
/// invalid. Other versions are not read.
inline constexpr int kSequenceVersion = 1;

struct SequenceArray {
  enum class Role : uint8_t { Input, Constant, Output, Intermediate };
  Role role = Role::Input;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty: without gaps
  bool operator==(const SequenceArray&) const = default;
};

struct SequenceIterator {
  IterKind kind = IterKind::Spatial;
  int64_t extent = 1;
  bool operator==(const SequenceIterator&) const = default;
};

/// An array at indices over the block's iterators i0, i1, ...: "i0*2 + i3 - 1, i1".
struct SequenceAccess {
  bool writes = false;
  size_t array = 0;
  std::string indices;
  bool operator==(const SequenceAccess&) const = default;
};

/// The number of one kind of operation per element of the iterators' domain.
struct SequenceOperation {
  std::string name;
  DType dtype;  // of the operands
  int64_t count = 0;
  bool operator==(const SequenceOperation&) const = default;
};

struct SequenceBlock {
  std::string name;  // for look-up by the sketch only; not a feature
  std::vector<SequenceIterator> iterators;
  std::vector<SequenceAccess> accesses;  // writes first
  std::vector<SequenceOperation> operations;
  bool operator==(const SequenceBlock&) const = default;
};

/// The computation and the machine.
struct SequenceTask {
  std::map<std::string, double> machine;  // DeviceModel::all()
  std::vector<SequenceArray> arrays;
  std::vector<SequenceBlock> blocks;  // in the order of the text
  bool operator==(const SequenceTask&) const = default;
};

/// One number of a decision. A tile takes one step per factor, from the last to the first; any other decision
/// takes one step.
struct SequenceStep {
  size_t instruction = 0;  // its place in the sketch
  size_t element = 0;      // index of the number in its decision
  /// The legal numbers, given all earlier steps.
  std::vector<int64_t> choices;
  /// The value of each choice if choices are indices of categories; else empty.
  std::vector<int64_t> values;
  int64_t chosen = 0;
  bool operator==(const SequenceStep&) const = default;
};

struct Sequence {
  SequenceTask task;
  Trace sketch;  // the searchable part, with open decisions
  std::vector<SequenceStep> steps;
  bool operator==(const Sequence&) const = default;
};

/// Describes the unscheduled `program`.
SequenceTask describe_task(const Program& program, const DeviceModel& device);

/// The next step of a decision, after the numbers `decided`, in the order of steps. Throws UserError for a
/// plugin's sampling instruction whose decisions are not tiles and have several numbers, or more than 4,096
/// alternatives.
SequenceStep next_step(const SamplingPoint& point, const std::vector<int64_t>& decided);
/// The number of steps of a decision.
size_t steps_of(const SamplingDomain& domain);
/// The decision with these numbers, given in the order of steps.
Decision decision_of(const SamplingDomain& domain, const std::vector<int64_t>& decided);

/// The steps of a trace's decisions, at the points that its replay met (Schedule::sampling_points()).
std::vector<SequenceStep> steps_of(std::span<const SamplingPoint> points, const Trace& trace);

/// `schedule` is a replay of a trace on `program`.
Sequence make_sequence(const Program& program, const DeviceModel& device, const Schedule& schedule);
/// The sketch with the decisions of the steps. Throws UserError if the steps do not match the sketch.
Trace trace_of(const Sequence& sequence);

/// The text form, with its version.
std::string to_text(const Sequence& sequence);
/// The part of the text before the sketch.
std::string to_text(const SequenceTask& task);
/// parse_sequence(to_text(s)) == s. Throws UserError with `file`:line:column.
Sequence parse_sequence(std::string_view text, const std::string& file = "sequence");

}  // namespace tunesmith

// A task, a sketch and its decisions as one sequence (docs/proposals.md): what is computed, for which
// machine, by which sketch, and then each decision with what could have been chosen, given all before it.
// What is learned of decisions ahead is learned from these.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/target/device_model.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// Raised with every change of what a sequence says or of how it is written: who learned from another
/// version's must know. Others are not read.
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

/// So many of one operation for each element of the iterators' domain.
struct SequenceOperation {
  std::string name;
  DType dtype;  // of the operands
  int64_t count = 0;
  bool operator==(const SequenceOperation&) const = default;
};

struct SequenceBlock {
  std::string name;  // by which the sketch looks it up; it means nothing
  std::vector<SequenceIterator> iterators;
  std::vector<SequenceAccess> accesses;  // writes first
  std::vector<SequenceOperation> operations;
  bool operator==(const SequenceBlock&) const = default;
};

/// What is computed, and for which machine.
struct SequenceTask {
  std::map<std::string, double> machine;  // DeviceModel::all()
  std::vector<SequenceArray> arrays;
  std::vector<SequenceBlock> blocks;  // in the order of the text
  bool operator==(const SequenceTask&) const = default;
};

/// One number of a decision. A tile is decided from its last factor to its first, anything else in one step.
struct SequenceStep {
  size_t instruction = 0;  // its place in the sketch
  size_t element = 0;      // which number of its decision
  /// What may stand there, given all steps before.
  std::vector<int64_t> choices;
  /// What each choice stands for, where it is the number of a category; else empty.
  std::vector<int64_t> values;
  int64_t chosen = 0;
  bool operator==(const SequenceStep&) const = default;
};

struct Sequence {
  SequenceTask task;
  Trace sketch;  // with open decisions, without what was finished
  std::vector<SequenceStep> steps;
  bool operator==(const Sequence&) const = default;
};

/// `program` is as it is before it is scheduled.
SequenceTask describe_task(const Program& program, const DeviceModel& device);

/// What may be chosen for the next number of a decision, `decided` being those that were decided before it,
/// in the order of the steps. Throws UserError for a sampling instruction of a plugin whose decisions are no
/// tile and several numbers, or more than 4,096.
SequenceStep next_step(const SamplingPoint& point, const std::vector<int64_t>& decided);
/// How many steps a decision takes.
size_t steps_of(const SamplingDomain& domain);
/// The decision that these choices make, in the order of the steps.
Decision decision_of(const SamplingDomain& domain, const std::vector<int64_t>& decided);

/// The steps of a trace's decisions, at the points that its replay met (Schedule::sampling_points()).
std::vector<SequenceStep> steps_of(std::span<const SamplingPoint> points, const Trace& trace);

/// `schedule` is a replay of a trace on `program`.
Sequence make_sequence(const Program& program, const DeviceModel& device, const Schedule& schedule);
/// The sketch with the decisions of the steps. Throws UserError where they are not those of the sketch.
Trace trace_of(const Sequence& sequence);

/// The text form, with its version.
std::string to_text(const Sequence& sequence);
/// Of the parts of a text: what stands before the sketch.
std::string to_text(const SequenceTask& task);
/// parse_sequence(to_text(s)) == s. Throws UserError with `file`:line:column.
Sequence parse_sequence(std::string_view text, const std::string& file = "sequence");

}  // namespace tunesmith

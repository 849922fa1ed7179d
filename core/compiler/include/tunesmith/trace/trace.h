// Traces: the instructions that transformed a program, and the stored form of a schedule.
//
//   # tunesmith trace 2
//   b0 = get_block("C")
//   l1, l2, l3, l4 = get_loops(b0)
//   v5, v6, v7, v8 = sample_perfect_tile(l2, n=4, max_innermost=64) @ [8, 4, 2, 8]
//   enter_finishing()
//   parallel(l2)
//
// A trace has two parts: the searchable part, with the modules' instructions and sampling decisions, which
// search mutates; and after the marker `enter_finishing` the finishing part, with the instructions of the
// finishing modules for these decisions, which is never mutated. A trace with both parts is complete:
// replaying it gives its program without any module.
//
// A first line `# tunesmith trace N` gives the version of the text; without it the newest is assumed. Other
// lines that begin with # are comments. A sampling line without `@` has an open decision. Version 1 has no
// marker, and its n-th read of a block means the n-th buffer that the block reads: replay refuses it as
// ambiguous if the block reads that buffer at several places.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/support/error.h"
#include "tunesmith/trace/instruction.h"

#pragma GCC visibility push(default)
namespace tunesmith {

inline constexpr int kTraceVersion = 2;
/// The marker between the searchable and the finishing part.
inline constexpr std::string_view kFinishingMarker = "enter_finishing";

/// A value: cheap to copy (instructions are shared). Contains no addresses and no facts about the host.
class Trace {
 public:
  /// Parses the text form. Throws UserError with `file`:line:column, what was expected and
  /// the nearest known name. `places`, if given, receives the location of each instruction.
  static Trace parse(std::string_view text, const std::string& file = "trace",
                     std::vector<SourceLocation>* places = nullptr);

  /// The text form with its version line: version 1 if an
  /// instruction counts buffers. parse(str()) gives an equal trace.
  std::string str() const;
  bool operator==(const Trace& other) const;
  uint64_t hash() const;

  size_t size() const { return instructions_.size(); }
  bool empty() const { return instructions_.empty(); }
  const Instruction& operator[](size_t i) const { return *instructions_[i]; }
  /// The instruction, to be shared with another trace.
  const std::shared_ptr<const Instruction>& shared(size_t i) const { return instructions_[i]; }
  void append(std::shared_ptr<const Instruction> instruction) {
    instructions_.push_back(std::move(instruction));
  }

  /// The position of the marker, before which the searchable part ends; size() without one.
  size_t finishing() const;
  bool complete() const { return finishing() < size(); }
  /// The part before the marker.
  Trace searchable() const;

  /// Positions of the sampling instructions of the searchable part.
  std::vector<size_t> sampling() const;
  /// The searchable part with another decision at one sampling instruction; the finishing part belongs to the
  /// old decision and is dropped.
  Trace with_decision(size_t position, Decision decision) const;
  /// The searchable part with all decisions open.
  Trace with_open_decisions() const;
  /// The trace without look-ups and samplings whose results are unused.
  Trace simplified() const;

 private:
  std::vector<std::shared_ptr<const Instruction>> instructions_;
};

/// The difference of two traces as text: lines only in `a` begin
/// with '-', lines only in `b` with '+', common lines with ' '.
std::string diff(const Trace& a, const Trace& b);

}  // namespace tunesmith
#pragma GCC visibility pop

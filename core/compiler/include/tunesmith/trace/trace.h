// Traces: the record of what was done to a program, and the only form in which a schedule is stored.
//
//   # tunesmith trace 2
//   b0 = get_block("C")
//   l1, l2, l3, l4 = get_loops(b0)
//   v5, v6, v7, v8 = sample_perfect_tile(l2, n=4, max_innermost=64) @ [8, 4, 2, 8]
//   enter_finishing()
//   parallel(l2)
//
// It has two parts: what modules and sampling did, which search changes, and, behind the marker
// `enter_finishing`, what the finishing modules did for these very decisions, which nothing changes. A trace
// with both parts is complete: replayed it gives its program without any module.
//
// A first line `# tunesmith trace N` gives the version of the text form; without it the newest is assumed.
// Other lines that begin with # are comments. A sampling line without `@` has an open decision. Texts of
// version 1, which knew no marker, are read as they are. There the n-th read of a block was the n-th buffer
// that it reads: where a block reads a buffer in several ways they do not say which is meant, and their
// replay is refused.
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
/// The instruction that parts what is searched from what is finished.
inline constexpr std::string_view kFinishingMarker = "enter_finishing";

/// A value: cheap to copy (instructions are shared). Carries no addresses, no host facts.
class Trace {
 public:
  /// Parses the text form. Throws UserError with `file`:line:column, what was expected and the nearest known
  /// name. `places`, when given, receives where each instruction stands.
  static Trace parse(std::string_view text, const std::string& file = "trace",
                     std::vector<SourceLocation>* places = nullptr);

  /// The text form, with its version line: 1 as long as an instruction counts buffers. parse(str()) gives an
  /// equal trace.
  std::string str() const;
  bool operator==(const Trace& other) const;
  uint64_t hash() const;

  size_t size() const { return instructions_.size(); }
  bool empty() const { return instructions_.empty(); }
  const Instruction& operator[](size_t i) const { return *instructions_[i]; }
  /// For another trace to share.
  const std::shared_ptr<const Instruction>& shared(size_t i) const { return instructions_[i]; }
  void append(std::shared_ptr<const Instruction> instruction) {
    instructions_.push_back(std::move(instruction));
  }

  /// Where the marker stands: what is before it is searched, what is behind it is frozen. size() without one.
  size_t finishing() const;
  bool complete() const { return finishing() < size(); }
  /// What stands before the marker.
  Trace searchable() const;

  /// Positions of the sampling instructions of the searchable part.
  std::vector<size_t> sampling() const;
  /// The searchable part with another decision at a sampling instruction: what was finished for the old one
  /// does not belong to it.
  Trace with_decision(size_t position, Decision decision) const;
  /// The searchable part with all decisions open.
  Trace with_open_decisions() const;
  /// Without look-ups and samplings whose results nothing uses.
  Trace simplified() const;

 private:
  std::vector<std::shared_ptr<const Instruction>> instructions_;
};

/// The difference of two traces as text: lines only in `a` begin with '-', only in `b` with '+', common ones
/// with ' '.
std::string diff(const Trace& a, const Trace& b);

}  // namespace tunesmith
#pragma GCC visibility pop

// The results of a task in a compact form: a long run measures tens of thousands of programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tunesmith/search/candidate.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Results in the order of insertion. A candidate is returned without its
/// program, which its trace can recreate, and with the searchable part of its
/// trace, which a searcher mutates; the finishing part is kept only if finishing
/// drew decisions that replaying would not draw again. Thread-safe to read.
class MeasuredHistory {
 public:
  MeasuredHistory();
  ~MeasuredHistory();
  MeasuredHistory(MeasuredHistory&& other) noexcept;
  MeasuredHistory& operator=(MeasuredHistory&& other) noexcept;

  void add(const Measured& result);

  size_t size() const;
  bool empty() const { return size() == 0; }
  /// Makes a new object at each call, in about the time of copying its trace.
  Measured operator[](size_t i) const;
  /// Candidate::lowered_hash, without creating the candidate.
  uint64_t lowered_hash(size_t i) const;
  /// Timing::min, without creating the candidate; nothing if it failed.
  std::optional<double> seconds(size_t i) const;

  /// All from the index `begin` on.
  std::vector<Measured> since(size_t begin) const;
  /// At most `n` successful ones, the fastest first; of equally fast ones, the one added first.
  std::vector<CandidatePtr> fastest(size_t n) const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

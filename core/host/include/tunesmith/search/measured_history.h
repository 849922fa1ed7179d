// What is known of a task, kept small: a long run measures ten thousands of programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tunesmith/search/candidate.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Results in the order in which they were added. A candidate comes back without its program, which its trace
/// gives again, and with the searchable part of its trace, which is what a searcher mutates; the finishing
/// part is there, too, where finishing drew decisions that replaying would not draw again. Reading is
/// thread-safe.
class MeasuredHistory {
 public:
  MeasuredHistory();
  ~MeasuredHistory();
  MeasuredHistory(MeasuredHistory&& other) noexcept;
  MeasuredHistory& operator=(MeasuredHistory&& other) noexcept;

  void add(const Measured& result);

  size_t size() const;
  bool empty() const { return size() == 0; }
  /// A new object at each call, made in about the time in which its trace is copied.
  Measured operator[](size_t i) const;
  /// Candidate::lowered_hash, without making the candidate.
  uint64_t lowered_hash(size_t i) const;
  /// Timing::min, without making the candidate; nothing when it failed.
  std::optional<double> seconds(size_t i) const;

  /// All from the place `begin` on.
  std::vector<Measured> since(size_t begin) const;
  /// At most `n` of those that worked, the fastest first; of equally fast ones the one that was added first.
  std::vector<CandidatePtr> fastest(size_t n) const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

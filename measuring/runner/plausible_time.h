// A time that no right program can have.
#pragma once

#include <optional>

#include "tunesmith/ir/program.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// For how many operations of the f32 peak (Benchmarking::peak_kernel) a processor is busy at the least while
/// it computes the program once, whatever units it has:
///  - One for each eight bytes of output. A processor stores at most two vectors in a cycle, or fills memory
///    with a constant by twice that, and begins at least one vector operation in it: as many operations as
///    the vector has elements of four bytes, and twice as many where it is a multiply-add.
///  - One for each eight terms of a sum. The widest units, those of matrices, do sixteen times the
///    multiply-adds of the vector unit, and each counts as two operations. Terms count only where none can be
///    left out: of a floating-point sum that is an output as it stands, over elements that differ from term
///    to term. All else may fold to nothing.
/// An eighth of the larger of the two, since the peak may have been measured in a bad moment.
double min_operations(const Program& program);

/// Belongs to one runner and its thread.
class PlausibleTime {
 public:
  /// `target` outlives this.
  PlausibleTime(const Program& program, Target& target, int threads);

  /// Why `seconds`, measured for one call by this machine's clock, is no time. The peak is measured when a
  /// time first asks for it, a fifth of a second. Nothing where the peak cannot be measured.
  std::optional<CandidateFailure> refuse(double seconds);

 private:
  double peak();

  double operations_;
  Target& target_;
  int threads_;
  std::optional<double> peak_;  // operations a second; 0 when it is not known
};

}  // namespace tunesmith

// Compiles the intrinsics of extensions before any candidate calls them,
// so that one that crashes the compiler is reported and ends no run.
#pragma once

#include <string>
#include <vector>

#include "space/composition.h"
#include "tunesmith/space/refused_intrinsic.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Compiles a call of each intrinsic in `extensions`, in a child process if the
/// target requires it (IntrinsicCompiler), and removes refused ones from there and
/// from `options`, with extensions that become empty. Calls are lowered by the
/// target's own steps; steps of extensions are guarded when candidates are
/// lowered. An intrinsic that cannot be called alone stays. Answers are cached for
/// the life of the process. Throws EnvironmentError if no process can be started.
std::vector<RefusedIntrinsic> take_away_refused(const Target& target, Extensions& extensions,
                                                LowerOptions& options);

/// The refused intrinsic that a block of `program` calls if no other one has its name; null for none.
const RefusedIntrinsic* called_refused(const Program& program, const std::vector<RefusedIntrinsic>& refused,
                                       const std::vector<TensorIntrinsicPtr>& offered);

}  // namespace tunesmith

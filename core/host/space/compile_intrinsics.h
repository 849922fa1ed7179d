// What an extension brings is compiled before any candidate calls it: what ends the compiler is refused by
// name, and no run ends by it.
#pragma once

#include <string>
#include <vector>

#include "space/composition.h"
#include "tunesmith/space/refused_intrinsic.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Compiles a call of each intrinsic in `extensions`, in a child process where the target asks for it
/// (IntrinsicCompiler), and takes those that are refused away from there and from `options`; an extension of
/// which none is left goes, too. Calls are lowered by the target's own steps: what those of extensions do is
/// watched where candidates are lowered. An intrinsic whose semantics cannot be given to it alone stays:
/// nothing is known of it. Answers are kept for the life of the process. Throws EnvironmentError when no
/// process can be made.
std::vector<RefusedIntrinsic> take_away_refused(const Target& target, Extensions& extensions,
                                                LowerOptions& options);

/// Of those, the one that a block of `program` calls where none of its name is offered; null: none.
const RefusedIntrinsic* called_refused(const Program& program, const std::vector<RefusedIntrinsic>& refused,
                                       const std::vector<TensorIntrinsicPtr>& offered);

}  // namespace tunesmith

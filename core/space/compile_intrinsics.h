// What an extension brings is compiled before any candidate calls it: what ends the compiler is refused by
// name, and no run ends by it.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/space/refused_intrinsic.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Compiles a call of each of `options.intrinsics` from position `first` on, those of `extension`, in a child
/// process where the target asks for it (IntrinsicCompiler), and takes those away that are refused. An
/// intrinsic whose semantics cannot be given to it alone stays: nothing is known of it. Answers are kept for
/// the life of the process. Throws EnvironmentError when no process can be made.
std::vector<RefusedIntrinsic> take_away_refused(const std::string& extension, size_t first,
                                                const Target& target, const Pipeline& pipeline,
                                                LowerOptions& options);

/// Of those, the one that a block of `program` calls where none of its name is offered; null: none.
const RefusedIntrinsic* called_refused(const Program& program, const std::vector<RefusedIntrinsic>& refused,
                                       const std::vector<TensorIntrinsicPtr>& offered);

}  // namespace tunesmith

// What a module declares about itself for the composition of spaces.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Annotations are hints: they change no result, and something must consume them: a module
/// (declared here), a step of lowering (LoweringStep::consumes) or a target (Target::consumes()).
/// `spaces lint` and composing the space report annotations that nothing consumes.
struct ModuleDescription {
  /// Keys of the annotations that this object, with its options, may leave for others.
  std::vector<std::string> makes = {};
  /// Keys of the annotations that it consumes.
  std::vector<std::string> consumes = {};
  /// Ids of modules that this one needs. A space that names this module
  /// also gets them, with default options, unless it names or removes them.
  std::vector<std::string> partners = {};
  /// The position of this module when another one brings
  /// it: before the first listed module, else at the end.
  std::vector<std::string> before = {};
};

}  // namespace tunesmith
#pragma GCC visibility pop

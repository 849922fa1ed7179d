// What a module says of itself to whoever composes a space of it.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Annotations are hints: they change no result, and somebody must carry them out. Who does registers them:
/// a module here, a step of lowering in LoweringStep::consumes, a target in Target::consumes(). A space in
/// which a module makes what nobody after it consumes is named by `spaces lint` and by whoever composes it.
struct ModuleDescription {
  /// Keys of the annotations that schedules of this object, with its options, may leave for others.
  std::vector<std::string> makes = {};
  /// Keys of those that it carries out.
  std::vector<std::string> consumes = {};
  /// Ids of modules without which this one's work stays undone. A space that names this module has them, too,
  /// with their default options, unless it names or removes them itself.
  std::vector<std::string> partners = {};
  /// Where this module goes when another one brings it: before the first of the list that is named here, else
  /// at the end.
  std::vector<std::string> before = {};
};

}  // namespace tunesmith
#pragma GCC visibility pop

// What a space would be composed of here, and everything that stands in its way.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/module.h"
#include "tunesmith/space/spaces_file.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Something for which Space's constructor would throw, or a hint that nobody carries out.
struct SpaceFault {
  std::string message;      // as an exception's what(): "s.yaml:3:14: ..."
  bool of_machine = false;  // the machine or a plugin is at fault (EnvironmentError), not the text
};

struct CheckedExtension {
  std::string name;
  bool optional = false;  // the space does without it where it is not here
  std::string lacks;      // what is missing, "" where the extension is here
};

struct CheckedModule {
  std::string id;
  ModuleStage stage = ModuleStage::Block;
  std::string options;     // all of them, as Options::str()
  std::string written;     // those that the space writes: "max_innermost=64 write_reuse=[1, 2]"
  std::string brought_by;  // the module that needs it, "" where the space names it itself
};

struct SpaceCheck {
  /// That the space requires and that are not here: nothing else of it was looked at.
  std::vector<std::string> missing_packs;
  std::string target;                        // its id and all its options
  std::vector<CheckedExtension> extensions;  // in the space's order
  std::vector<CheckedModule> modules;        // those that can be made, in the order in which they are applied
  std::vector<SpaceFault> faults;            // target, extensions, modules, search; empty: it composes
};

/// Looks at every part, whatever is wrong with the others, and loads the plugins that are named. Compiles no
/// instruction of an extension: Space's constructor does. Throws nothing for what is wrong with the space.
SpaceCheck check_space(const SpaceSpec& spec, PluginRegistry& registry);

/// "block", "root" or "finishing".
std::string_view stage_name(ModuleStage stage);

}  // namespace tunesmith
#pragma GCC visibility pop

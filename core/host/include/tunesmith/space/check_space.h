// Checks what a space consists of on this machine, and reports all its problems.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/module.h"
#include "tunesmith/space/spaces_file.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A problem for which Space's constructor would throw, or an annotation that nothing consumes.
struct SpaceFault {
  std::string message;      // as an exception's what(): "s.yaml:3:14: ..."
  bool of_machine = false;  // a fault of the machine or a plugin (EnvironmentError), not of the text
};

struct CheckedExtension {
  std::string name;
  bool optional = false;  // the space works without it if it is missing
  std::string lacks;      // what is missing; "" if the extension is available
};

struct CheckedModule {
  std::string id;
  ModuleStage stage = ModuleStage::Block;
  std::string options;     // all of them, as Options::str()
  std::string written;     // the options that the space sets: "max_innermost=64 write_reuse=[1, 2]"
  std::string brought_by;  // the module that requires it; "" if the space names it
};

struct SpaceCheck {
  /// Required packs that are missing; then nothing else was checked.
  std::vector<std::string> missing_packs;
  std::string target;                        // its id and all its options
  std::vector<CheckedExtension> extensions;  // in the space's order
  std::vector<CheckedModule> modules;        // those that can be created, in the order of application
  std::vector<SpaceFault> faults;            // of target, extensions, modules, search; empty if it composes
};

/// Checks every part, also after errors, and loads the named plugins. Does not compile instructions
/// of extensions, which Space's constructor does. Throws nothing for problems of the space.
SpaceCheck check_space(const SpaceSpec& spec, PluginRegistry& registry);

/// "block", "root" or "finishing".
std::string_view stage_name(ModuleStage stage);

}  // namespace tunesmith
#pragma GCC visibility pop

// Plugins that are a class in a file of Python: "tile.py:Tile", where an id could stand.
//
// The kernel runs no Python. A program that does says how such a file becomes a plugin; in every other one
// they are refused in words. They are modules, searchers, cost models and task schedulers; a worker, which
// makes a target alone, needs none of them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/options.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// "tile.py:Tile", in parts.
struct ScriptName {
  std::string file;  // relative to the folder of the file that names it, else to the current folder
  std::string class_name;
};

/// The parts of an id; nothing when it is that of another plugin.
std::optional<ScriptName> script_name(std::string_view id);

struct ScriptPlugin {
  std::vector<OptionSpec> options;
  std::string help;  // one line
  /// A new object, as a pointer to PluginInterface<kind>::type. Threads: any, several at once.
  std::function<std::shared_ptr<void>(const Options&)> create;
};

/// What a reader is given.
struct ScriptSource {
  PluginKind kind = PluginKind::Module;
  std::filesystem::path file;
  std::string text;  // of the file
  std::string class_name;
  SourceLocation asked_at;  // where it is named
};

/// Throws UserError where the class is not there or is no plugin of this kind.
using ScriptReader = ScriptPlugin (*)(const ScriptSource& source);

/// From now on this process makes such plugins. Before any space is composed.
void set_script_reader(ScriptReader reader);

}  // namespace tunesmith
#pragma GCC visibility pop

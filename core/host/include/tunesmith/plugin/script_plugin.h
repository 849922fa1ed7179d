// Plugins that are a class in a Python file: "tile.py:Tile" instead of an id.
//
// The kernel runs no Python. A program that does registers a reader; others
// refuse such plugins with a message. They can be modules, searchers, cost
// models and task schedulers; a worker needs only the target and none of them.
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

/// The parts of "tile.py:Tile".
struct ScriptName {
  std::string file;  // relative to the folder of the file that names it, or to the current folder
  std::string class_name;
};

/// Splits an id; nothing if it is not the id of a script plugin.
std::optional<ScriptName> script_name(std::string_view id);

struct ScriptPlugin {
  std::vector<OptionSpec> options;
  std::string help;  // one line
  /// Creates an object, as a pointer to PluginInterface<kind>::type. Thread-safe.
  std::function<std::shared_ptr<void>(const Options&)> create;
};

/// The argument of a reader.
struct ScriptSource {
  PluginKind kind = PluginKind::Module;
  std::filesystem::path file;
  std::string text;  // of the file
  std::string class_name;
  SourceLocation asked_at;  // where it is named
};

/// Throws UserError if the class does not exist or is not a plugin of this kind.
using ScriptReader = ScriptPlugin (*)(const ScriptSource& source);

/// Registers the reader for this process. Call before composing any space.
void set_script_reader(ScriptReader reader);

}  // namespace tunesmith
#pragma GCC visibility pop

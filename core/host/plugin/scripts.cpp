#include "plugin/scripts.h"

#include <atomic>

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith {
namespace {

constexpr size_t kLargestScript = size_t{1} << 20;
constexpr size_t kVersionDigits = 16;

std::atomic<ScriptReader> g_reader{nullptr};

LoadedScript read_script(PluginKind kind, const std::string& id, const ScriptName& name,
                         const SourceLocation& asked_at) {
  const ScriptReader reader = g_reader.load();
  if (reader == nullptr) {
    const std::string from_python =
        asked_at.line > 0
            ? fmt::format("use the space from Python: import tunesmith as ts; ts.Space.load(\"{}\")",
                          asked_at.file)
            : "name it from Python, in the arguments of tunesmith.tune()";
    throw EnvironmentError(fmt::format("{}: {} is a Python class, and this program has no Python; remedy: {}",
                                       asked_at.str(), plugin_name(kind, id), from_python));
  }
  ScriptSource source{kind, std::filesystem::path(asked_at.file).parent_path() / name.file, "",
                      name.class_name, asked_at};
  source.text = read_yaml_text(source.file.string(), asked_at);
  if (source.text.size() > kLargestScript)
    throw UserError(asked_at, fmt::format("{} is longer than 1 MiB", source.file.string()));
  return {reader(source), "sha256:" + sha256_hex(source.text).substr(0, kVersionDigits)};
}

}  // namespace

std::optional<ScriptName> script_name(std::string_view id) {
  constexpr std::string_view kSuffix = ".py:";
  const size_t end = id.rfind(kSuffix);
  if (end == std::string_view::npos || end == 0 || end + kSuffix.size() == id.size()) return std::nullopt;
  return ScriptName{std::string(id.substr(0, end + kSuffix.size() - 1)),
                    std::string(id.substr(end + kSuffix.size()))};
}

void set_script_reader(ScriptReader reader) { g_reader.store(reader); }

const LoadedScript* Scripts::load(PluginKind kind, std::string_view id, const SourceLocation& asked_at) {
  const std::optional<ScriptName> name = script_name(id);
  if (!name) return nullptr;
  const std::pair key{kind, std::string(id)};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = loaded_.find(key); known != loaded_.end()) return &known->second;
  }
  // Without the lock: the interpreter has its own, whose holder may be waiting for this one.
  LoadedScript script = read_script(kind, key.second, *name, asked_at);
  const std::lock_guard lock(mutex_);
  return &loaded_.try_emplace(key, std::move(script)).first->second;
}

}  // namespace tunesmith

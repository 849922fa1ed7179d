// What tunesmith-worker --probe is asked, on its standard input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/lock.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {

struct ProbeQuestion {
  std::vector<PluginInfo> plugins;
  std::optional<PluginLock> lock;  // as load_plugin() takes it
  bool help = false;               // their lines of help, or whether the first of them loads?

  std::string text() const;
  static ProbeQuestion parse(const std::string& text);
};

constexpr int kProbeSeconds = 10;          // for one plugin
constexpr int kProbeLines = 3;             // the descriptor to which lines of help are written
constexpr int kProbeRefused = 4;           // exit code where the worker has said why
constexpr const char* kProbe = "--probe";  // the worker's argument

}  // namespace tunesmith

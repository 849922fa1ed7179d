// The input of tunesmith-worker --probe, on its standard input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/lock.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {

struct ProbeQuestion {
  std::vector<PluginInfo> plugins;
  std::optional<PluginLock> lock;  // as for load_plugin()
  bool help = false;               // get the help lines, or test whether the first plugin loads?

  std::string text() const;
  static ProbeQuestion parse(const std::string& text);
};

constexpr int kProbeSeconds = 10;          // for one plugin
constexpr int kProbeLines = 3;             // the descriptor to which lines of help are written
constexpr int kProbeRefused = 4;           // exit code if the worker has reported the reason
constexpr const char* kProbe = "--probe";  // the worker's argument

}  // namespace tunesmith

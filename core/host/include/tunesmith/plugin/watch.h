// Tracks which plugin is running on each thread, to name it when a call hangs, takes too much
// memory or crashes (rules P12 and P22). A hanging thread cannot be ended: the process ends with a
// message that names the plugin, or a caller that can do without the plugin is notified.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tunesmith/plugin/kind.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Marks a call into the plugin on this thread during its lifetime; calls nest
/// (a searcher that has candidates scored). The arguments must outlive it.
class PluginWatch {
 public:
  /// `given_up`: set when the call takes too long, instead of ending the process; null: the process is ended.
  PluginWatch(PluginKind kind, std::string_view id, std::string_view call,
              std::atomic<bool>* given_up = nullptr);
  ~PluginWatch();
  PluginWatch(const PluginWatch&) = delete;
  PluginWatch& operator=(const PluginWatch&) = delete;

 private:
  const PluginKind kind_;
  const std::string_view id_;
  const std::string_view call_;
  std::atomic<bool>* const given_up_;
  PluginWatch* const outer_;  // on this thread
  // The members below belong to the watchdog thread, under its mutex.
  PluginWatch* previous_ = nullptr;
  PluginWatch* next_ = nullptr;
  bool watched_ = false;
  int pauses_ = 0;     // above zero while the kernel or another plugin works for it
  int own_looks_ = 0;  // how often the watchdog has found it running
  int all_looks_ = 0;  // or waiting for the kernel
  long resident_ = 0;  // of the process at the beginning, in bytes
  friend class Watchman;
  friend class KernelWork;
  friend std::string plugin_at_work();
};

/// "cost_model 'x': [P12] predict": the plugin running on this thread, or "".
std::string plugin_at_work();

/// The time limit of one call in seconds; 0 when there is none.
int plugin_seconds();

/// Marks work of the kernel for the plugin that called it: the plugin's
/// clock runs at a tenth, and a crash is not attributed to it.
class KernelWork {
 public:
  KernelWork();
  ~KernelWork();
  KernelWork(const KernelWork&) = delete;
  KernelWork& operator=(const KernelWork&) = delete;

 private:
  PluginWatch* const outer_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

// The plugin at work on each thread: who is named when a call hangs, takes all memory or crashes (rules P12
// and P22). Nothing can end a thread in a stranger's code, so the process is ended, by name, or somebody who
// can do without the plugin is told.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tunesmith/plugin/kind.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// While it lives, a call into the plugin is under way on this thread; a call from within it (a searcher that
/// has candidates scored) nests. What the arguments refer to outlives it.
class PluginWatch {
 public:
  /// `given_up`: set when the call takes too long, instead of ending the process; null: it is ended.
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
  // The rest is the watchman's, under its mutex.
  PluginWatch* previous_ = nullptr;
  PluginWatch* next_ = nullptr;
  bool watched_ = false;
  int pauses_ = 0;     // above zero while the kernel or another plugin works for it
  int own_looks_ = 0;  // how often the watchman has found it at work
  int all_looks_ = 0;  // or waiting for what it asked for
  long resident_ = 0;  // of the process when it began, in bytes
  friend class Watchman;
  friend class KernelWork;
  friend std::string plugin_at_work();
};

/// "cost_model 'x': [P12] predict": the plugin at work on this thread; "" where none is.
std::string plugin_at_work();

/// How many seconds one call may take; 0 when nobody looks.
int plugin_seconds();

/// While it lives, the kernel works on this thread for the plugin that called it: the plugin's time continues
/// at a tenth, and a crash is not its own.
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

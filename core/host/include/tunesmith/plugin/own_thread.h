// Runs calls of a plugin on a separate thread. A hanging call cannot be ended, but its thread can be
// abandoned, and the run continues without that plugin.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tunesmith/plugin/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A call that was abandoned because it hung.
class PluginHang : public PluginError {
 public:
  PluginHang(PluginKind kind, const std::string& id, std::string how);
  ~PluginHang() override;

  /// "[P22] predict has not returned in 60 seconds", without the plugin's name.
  const std::string& how() const { return how_; }

 private:
  std::string how_;
};

/// Called by one thread at a time.
class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  /// Runs `work` on the thread and rethrows what it throws. Returns false if `given_up` is set before
  /// it returns: then the thread is abandoned and must own everything it refers to; nothing more is
  /// run here; and the process ends without its exit handlers, since that thread is still running.
  bool run(std::function<void(std::atomic<bool>& given_up)> work);

 private:
  struct State;
  static void serve(State& state);

  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

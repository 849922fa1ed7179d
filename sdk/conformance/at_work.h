// Records what a check is doing, for a parent that finds the process dead.
#pragma once

#include <string>

namespace tunesmith::conformance {

/// Says during its lifetime that this process is doing `what`: "acme.yaml:9:
/// intrinsic acme_dot: running it". An inner object replaces an outer one.
class AtWork {
 public:
  explicit AtWork(const std::string& what);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  std::string before_;
};

/// Shared memory in which a child records what it is doing, for its parent.
class WorkNote {
 public:
  /// Throws EnvironmentError.
  WorkNote();
  ~WorkNote();
  WorkNote(const WorkNote&) = delete;
  WorkNote& operator=(const WorkNote&) = delete;

  /// In the child: AtWork writes here from now on.
  void take() const;
  /// In the parent, after the child has ended: what it was doing; "" if unknown.
  std::string text() const;

 private:
  char* memory_;
};

}  // namespace tunesmith::conformance

// What a check is about to do, for whoever finds its process ended.
#pragma once

#include <string>

namespace tunesmith::conformance {

/// While it lives, the check that runs in this process is doing `what`: "acme.yaml:9: intrinsic acme_dot:
/// running it". An inner one takes the place of an outer one.
class AtWork {
 public:
  explicit AtWork(const std::string& what);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  std::string before_;
};

/// Memory in which a child says what it is at, and its parent reads it.
class WorkNote {
 public:
  /// Throws EnvironmentError.
  WorkNote();
  ~WorkNote();
  WorkNote(const WorkNote&) = delete;
  WorkNote& operator=(const WorkNote&) = delete;

  /// In the child: AtWork writes here from now on.
  void take() const;
  /// In the parent, when the child has ended: what it was doing; "" when it did not say.
  std::string text() const;

 private:
  char* memory_;
};

}  // namespace tunesmith::conformance

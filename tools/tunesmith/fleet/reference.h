// The reference program of a machine that measures: does it still take its usual time?
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/space/space.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// Belongs to one thread; others may not ask it meanwhile.
class Reference {
 public:
  /// `options`: of the jobs, with the machine's lock. `usual_seconds`: 0 for the first time that it takes.
  /// `say`: is given a line when it drifts, or is back.
  Reference(const Space& space, const WorkerTarget& worker_target, MeasureOptions options,
            std::chrono::duration<double> every, double usual_seconds,
            std::function<void(const std::string&)> say);
  ~Reference();

  /// Times it where the last time is too long ago, which takes a second.
  void look();
  bool drifted() const { return drifted_; }
  double seconds() const { return seconds_; }
  double usual_seconds() const { return usual_seconds_; }

  /// Do two times of it differ by more than measurements do?
  static bool apart(double one, double other);

 private:
  std::optional<double> time();

  const Workload workload_;
  const std::chrono::duration<double> every_;
  const std::function<void(const std::string&)> say_;
  CompiledKernel kernel_;
  std::unique_ptr<Runner> runner_;
  std::optional<std::chrono::steady_clock::time_point> timed_;
  std::string why_;  // it could not be timed
  double seconds_ = 0.0;
  double usual_seconds_;
  bool drifted_ = false;
};

}  // namespace tunesmith::cli

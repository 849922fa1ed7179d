// A reference program: tells whether a machine that measures has become slower or faster.
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

/// Not thread-safe: used by one thread.
class Reference {
 public:
  /// `options`: those of the jobs, with the machine's lock. `usual_seconds`: 0 takes the first measured time.
  /// `say` gets a line when the program's time begins to drift, and when it is back.
  Reference(const Space& space, const WorkerTarget& worker_target, MeasureOptions options,
            std::chrono::duration<double> every, double usual_seconds,
            std::function<void(const std::string&)> say);
  ~Reference();

  /// Times the program, which takes a second, if the last timing is older than `every`.
  void look();
  bool drifted() const { return drifted_; }
  double seconds() const { return seconds_; }
  double usual_seconds() const { return usual_seconds_; }

  /// Do two times of the program differ by more than the noise of measurements?
  static bool apart(double one, double other);

 private:
  std::optional<double> time();

  const Workload workload_;
  const std::chrono::duration<double> every_;
  const std::function<void(const std::string&)> say_;
  CompiledKernel kernel_;
  std::unique_ptr<Runner> runner_;
  std::optional<std::chrono::steady_clock::time_point> timed_;
  std::string why_;  // why the program could not be timed
  double seconds_ = 0.0;
  double usual_seconds_;
  bool drifted_ = false;
};

}  // namespace tunesmith::cli

// Where a run measures, and with what options.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tunesmith/measuring/measuring_place.h>

#include "session.h"

namespace tunesmith::cli {

/// The space's measuring place, or this machine if it names none. Throws as composing a space does.
std::shared_ptr<MeasuringPlace> measuring_place(Session& session, const SpaceSpec& spec);
/// The space of a run, composed for the machine on which `place` measures with so many threads (0: that
/// machine's default).
std::shared_ptr<const Space> measured_space(Session& session, const SpaceSpec& spec, MeasuringPlace& place,
                                            int threads);

/// Makes the runners of one run.
class Measuring {
 public:
  /// `space` and the session must outlive the object. `options.threads`: the requested number. `owner`,
  /// `say`: as in RunnerTask.
  Measuring(std::shared_ptr<MeasuringPlace> place, const Session& session, const Space& space,
            MeasureOptions options, std::string owner, std::function<void(const std::string&)> say);

  bool here() const { return place_->here(); }
  const Environment& environment() const { return on_.environment; }
  /// The threads of the measured programs.
  int threads() const { return on_.threads; }
  const MeasureOptions& options() const { return options_; }
  size_t rounds_at_once() const;
  /// `workload` must outlive the runner.
  std::unique_ptr<Runner> runner(const Workload& workload) const;

 private:
  std::shared_ptr<MeasuringPlace> place_;
  const WorkerTarget worker_target_;
  const Space& space_;
  MeasureOptions options_;
  const std::string owner_;
  const std::function<void(const std::string&)> say_;
  MeasuredOn on_;
};

}  // namespace tunesmith::cli

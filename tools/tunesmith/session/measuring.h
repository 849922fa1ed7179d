// Where a run measures, and with what.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tunesmith/measuring/measuring_place.h>

#include "session.h"

namespace tunesmith::cli {

/// The place that the space names, else this machine. Throws as composing a space does.
std::shared_ptr<MeasuringPlace> measuring_place(Session& session, const SpaceSpec& spec);
/// The space of a run: as this machine composes it, or as the machine does that `place` measures on with so
/// many threads (0: what is usual there).
std::shared_ptr<const Space> measured_space(Session& session, const SpaceSpec& spec, MeasuringPlace& place,
                                            int threads);

/// Makes the runners of one run.
class Measuring {
 public:
  /// `space` and the session outlive it. `options.threads`: those asked for. `owner` and `say` as RunnerTask
  /// has them.
  Measuring(std::shared_ptr<MeasuringPlace> place, const Session& session, const Space& space,
            MeasureOptions options, std::string owner, std::function<void(const std::string&)> say);

  bool here() const { return place_->here(); }
  const Environment& environment() const { return on_.environment; }
  /// Of the measured programs.
  int threads() const { return on_.threads; }
  const MeasureOptions& options() const { return options_; }
  size_t rounds_at_once() const;
  /// `workload` outlives it.
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

// Sets up a run of `tune` for one workload or many.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <tunesmith/measure/runner.h>
#include <tunesmith/measuring/machine_lock.h>
#include <tunesmith/space/space.h>
#include <tunesmith/tuning/tune_many.h>
#include <tunesmith/tuning/tuner.h>

#include "measuring.h"
#include "session.h"
#include "task_list.h"
#include "tune_arguments.h"

namespace tunesmith::cli {

/// The space of the session with --search, --model, --scheduler and --runner in place of its own. What
/// the space names itself keeps the options that it has there. Throws UserError.
SpaceSpec searched_as_asked(const Session& session, const TuneArguments& arguments);

/// `say` is given one line when the machine is waited for.
MeasureOptions measure_options(const TuneArguments& arguments, const std::atomic<bool>& stop,
                               const std::function<void(const std::string&)>& say);
/// Without the limits, which are TuneArguments::trials and seconds_limit().
TuneOptions tune_options(const Common& common, const TuneArguments& arguments, const Measuring& measuring);
/// Of a run of many tasks, with its limits.
TuneManyOptions many_options(const Common& common, const TuneArguments& arguments, const TaskList& list,
                             const Measuring& measuring);
/// Of the goal, as a share: --min-gain, else what is usual of so many tasks where time alone ends the run.
double min_gain(const TuneArguments& arguments, size_t tasks);
/// The lower of --time-limit and --minutes; 0: none.
double seconds_limit(const TuneArguments& arguments);

}  // namespace tunesmith::cli

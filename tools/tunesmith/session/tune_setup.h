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

/// The session's space with --search, --model, --scheduler and --runner applied. A plugin that the space
/// itself names keeps its options. Throws UserError.
SpaceSpec searched_as_asked(const Session& session, const TuneArguments& arguments);

/// `say` gets one line when the run waits for the machine.
MeasureOptions measure_options(const TuneArguments& arguments, const std::atomic<bool>& stop,
                               const std::function<void(const std::string&)>& say);
/// Leaves out the limits, which are TuneArguments::trials and seconds_limit().
TuneOptions tune_options(const Common& common, const TuneArguments& arguments, const Measuring& measuring);
/// The options of a run of many tasks, with its limits.
TuneManyOptions many_options(const Common& common, const TuneArguments& arguments, const TaskList& list,
                             const Measuring& measuring);
/// The minimum gain as a share of the goal: --min-gain, or the default for so many tasks where only time ends
/// the run.
double min_gain(const TuneArguments& arguments, size_t tasks);
/// The lower of --time-limit and --minutes; 0: none.
double seconds_limit(const TuneArguments& arguments);

}  // namespace tunesmith::cli

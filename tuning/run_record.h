// Makes the records that describe a run.
#pragma once

#include "tunesmith/records/record.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// A run that begins now.
RecordedRun make_run(const Space& space, const Environment& environment, const TuneOptions& options);

/// The fields that all records of the run share. `workload`: the text by which the store knows the task.
Record common_record(const TaskKey& task, const RecordedRun& run, const std::string& workload);

}  // namespace tunesmith

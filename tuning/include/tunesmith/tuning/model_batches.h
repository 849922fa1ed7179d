// What the records say of a cost model.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/records/record.h"
#include "tunesmith/tuning/tuner.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How well the cost model foresaw each round of a run, in order: from the scores that stand with the run's
/// measurements of kind Search, as TuneResult::model_batches says it while it tunes. `records` are of one
/// run, in any order. Rounds of fewer than eight scored programs are left out. Of a round that a run took up
/// from one that was interrupted, each of the two runs has a part.
std::vector<ModelBatch> model_batches(std::span<const Record> records);

}  // namespace tunesmith
#pragma GCC visibility pop

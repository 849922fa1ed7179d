// Computes cost-model accuracy from records.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/records/record.h"
#include "tunesmith/tuning/tuner.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Cost-model accuracy of each round of a run, in order, from the scores recorded with its measurements of
/// kind Search (TuneResult::model_batches while it tunes). `records` are of one run, in any order. Rounds of
/// fewer than eight scored programs are left out. An interrupted round is part of both runs.
std::vector<ModelBatch> model_batches(std::span<const Record> records);

}  // namespace tunesmith
#pragma GCC visibility pop

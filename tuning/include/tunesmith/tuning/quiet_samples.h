// Times of kernels timed in turn, compared within rounds.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/tuning/ranking.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What the samples would be in quiet rounds. The clock and the neighbours change from round to round, for
/// all kernels alike; what hits one sample alone only lengthens it. So a round's level is the least of its
/// samples relative to their kernels' times, and each sample is divided by its round's. The level of quiet
/// rounds (kTimeQuantile, but no kernel's time lies below its samples) is 1: the results stay seconds.
/// `samples[kernel][round]`: of a kernel without samples nothing; rounds that another lacks are left out.
std::vector<std::vector<double>> quiet_samples(const std::vector<std::span<const double>>& samples);

/// A kernel's time: kTimeQuantile of its `quiet` samples, of which there are some, within the `samples` as
/// taken. Levels of rounds have errors, too: the interval holds that of the samples as taken.
QuantileInterval quiet_time(std::span<const double> samples, std::span<const double> quiet,
                            size_t chosen_from = 1);

}  // namespace tunesmith
#pragma GCC visibility pop

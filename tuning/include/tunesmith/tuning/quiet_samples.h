// Times of kernels timed in turn, compared within rounds.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/tuning/ranking.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Estimates the samples of quiet rounds. Changes of the clock or of neighbours affect all kernels of a round
/// alike, and a disturbance of a single sample only lengthens it. So a round's level is the minimum, over
/// kernels, of sample / time of the kernel, and each sample is divided by its round's level. Levels are
/// scaled such that quiet rounds (kTimeQuantile, but no kernel's time below its samples) have level 1:
/// results are in seconds. `samples[kernel][round]`: kernels without samples get none, and rounds that not
/// all other kernels have are ignored.
std::vector<std::vector<double>> quiet_samples(const std::vector<std::span<const double>>& samples);

/// A kernel's time: kTimeQuantile of its `quiet` samples (at least one), limited to the range of the original
/// `samples`. Levels have errors, too, so the interval contains that of the original samples.
QuantileInterval quiet_time(std::span<const double> samples, std::span<const double> quiet,
                            size_t chosen_from = 1);

}  // namespace tunesmith
#pragma GCC visibility pop

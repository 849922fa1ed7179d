// Which of a task's best programs is the fastest inside its network, between the calls of the others: there
// it finds other data in the caches than alone.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/network/build_network.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

struct ChosenPrograms {
  std::vector<const CompiledKernel*> kernels;  ///< one for each task
  size_t others = 0;                           ///< tasks whose program is not the fastest alone
  double seconds = 0;        ///< of a call with the chosen programs; 0 where none was faster in its place
  double seconds_alone = 0;  ///< of a call with those that are the fastest alone
  double p = 1;              ///< of a sign test that the chosen ones are faster
};

/// Of each task its programs, the fastest alone first; at least one. What is chosen points into them.
using ProgramsOfTasks = std::span<const std::deque<CompiledKernel>>;

/// The fastest alone of each task.
ChosenPrograms choose_alone(ProgramsOfTasks programs);

struct InPlaceOptions {
  int threads = 0;                               ///< that run parallel loops; 0: all processors
  std::string folder;                            ///< below which libraries are built, and removed again
  std::function<void(const std::string&)> tell;  ///< of each comparison; null: nobody
};

/// Builds libraries of the best, the second best, ... programs of all tasks, and times each in turn with that
/// of the best, on random inputs. A task gets another program where that is faster in nearly all rounds (a
/// sign test, Bonferroni's correction for the number of libraries), and the network gets the others where a
/// whole call is faster with them. To be called while nothing else measures (MachineLock). Throws as
/// build_network and BuiltLibrary.
ChosenPrograms choose_in_place(const TaskedNetwork& tasked, ProgramsOfTasks programs, Target& target,
                               Packaging& packaging, const LibrarySource& source,
                               const InPlaceOptions& options);

/// One-sided: the chance that `other` is no faster than `base` and wins as many rounds as it does. Pairs of
/// equal times do not count; 1 where it wins none.
double sign_test(std::span<const double> base, std::span<const double> other);

}  // namespace tunesmith::network
#pragma GCC visibility pop

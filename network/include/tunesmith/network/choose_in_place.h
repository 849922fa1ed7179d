// Chooses, among a task's best programs, the fastest inside its network: between other kernels, a program
// finds other data in the caches than alone.
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
  size_t others = 0;                           ///< number of tasks whose program is not the fastest alone
  double seconds = 0;  ///< time of a call with the chosen programs; 0 if no program was faster in its place
  double seconds_alone = 0;  ///< time of a call with the programs that are the fastest alone
  double p = 1;              ///< p-value of a sign test that the chosen ones are faster
};

/// The programs of each task, the fastest alone first; at least one. The result points into them.
using ProgramsOfTasks = std::span<const std::deque<CompiledKernel>>;

/// Chooses for each task the program that is the fastest alone.
ChosenPrograms choose_alone(ProgramsOfTasks programs);

struct InPlaceOptions {
  int threads = 0;                               ///< for parallel loops; 0: all processors
  std::string folder;                            ///< libraries are built below it, and removed again
  std::function<void(const std::string&)> tell;  ///< is called with a line on each comparison; may be null
};

/// Builds libraries of the best, the second best, ... programs of all tasks, and times each alternately with
/// that of the best, on random inputs. A task gets another program if that is faster in nearly all rounds (a
/// sign test with Bonferroni's correction for the number of libraries); the network gets the changed programs
/// if a whole call is faster with them. Call it while nothing else measures (MachineLock). Throws as
/// build_network and BuiltLibrary.
ChosenPrograms choose_in_place(const TaskedNetwork& tasked, ProgramsOfTasks programs, Target& target,
                               Packaging& packaging, const LibrarySource& source,
                               const InPlaceOptions& options);

/// One-sided p-value: the probability that `other` wins this many rounds if it is no faster than `base`.
/// Ignores pairs of equal times; 1 if it wins no round.
double sign_test(std::span<const double> base, std::span<const double> other);

}  // namespace tunesmith::network
#pragma GCC visibility pop

// Checks of task schedulers, with artificial tasks whose times decrease like those of real ones.
#include <array>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "checks.h"
#include "tunesmith/support/random.h"

namespace tunesmith::conformance {
namespace of_task_schedulers {
namespace {

constexpr int64_t kRound = 16;
constexpr int kRounds = 80;

enum class World {
  Usual,     // one task is exhausted early
  AllFail,   // no program of any task works
  AllAlike,  // all tasks are equal
  One        // a single task
};

TaskHistory make_task(size_t number, World world) {
  TaskHistory task;
  if (world == World::AllAlike) number = 0;
  task.weight = 1.0 + static_cast<double>(number % 3);
  task.group = number / 2;
  task.operations = 1e6 * static_cast<double>(1 + number * number);
  return task;
}

/// A round of task `number`: improves like a search, down to a limit.
void advance(TaskHistory& task, size_t number, World world) {
  constexpr int64_t kExhausted = 40;
  const int64_t before = task.trials;
  task.trials += kRound;
  if (world == World::Usual && number == 2) {
    task.trials = std::min(task.trials, kExhausted);
    task.done = task.trials == kExhausted;
  }
  const bool works = world != World::AllFail && !(world == World::Usual && number == 4);
  for (int64_t trial = before + 1; works && trial <= task.trials; ++trial) {
    const double seconds =
        task.operations * 1e-10 *
        (1.0 + 20.0 * std::exp(-static_cast<double>(trial) / (8.0 + 4.0 * static_cast<double>(number))));
    const bool found = RandomStream(number + 1, static_cast<uint64_t>(trial)).uniform() < 0.3;
    if (found && seconds < task.best()) task.improvements.push_back({trial, seconds});
  }
}

struct Run {
  std::vector<size_t> chosen;
  std::string fault;  // what is wrong with an answer
};

/// `anew`: creates a new scheduler for each question.
Run run(const Subject& subject, World world, bool anew = false, TuningGoal goal = TuningGoal::GeometricMean) {
  constexpr size_t kTasks = 6;
  std::vector<TaskHistory> tasks;
  for (size_t i = 0; i < (world == World::One ? 1 : kTasks); ++i) tasks.push_back(make_task(i, world));
  auto scheduler = subject.create<TaskScheduler>();
  Run result;
  for (int round = 0; round < kRounds; ++round) {
    if (anew) scheduler = subject.create<TaskScheduler>();
    const size_t chosen = scheduler->next({tasks, kRound, goal});
    if (chosen >= tasks.size()) {
      result.fault = fmt::format("it chose task {} of {}, counted from 0", chosen, tasks.size());
      return result;
    }
    if (tasks[chosen].done) {
      result.fault = fmt::format("in round {} it chose a task that is done", round + 1);
      return result;
    }
    result.chosen.push_back(chosen);
    advance(tasks[chosen], world == World::AllAlike ? 0 : chosen, world);
  }
  return result;
}

/// It chooses a task, and one that is not done, for either goal.
Verdict check_contract(const Subject& subject) {
  for (const TuningGoal goal : {TuningGoal::GeometricMean, TuningGoal::TotalTime}) {
    const Run result = run(subject, World::Usual, false, goal);
    if (!result.fault.empty()) return failed(result.fault);
  }
  return passed();
}

/// A second object returns the same.
Verdict check_determinism(const Subject& subject) {
  return run(subject, World::Usual).chosen == run(subject, World::Usual).chosen
             ? passed()
             : failed("a second object, told the same, chose other tasks");
}

/// After an interruption another object chooses what the first one would have chosen.
Verdict check_resume(const Subject& subject) {
  return run(subject, World::Usual, true).chosen == run(subject, World::Usual).chosen
             ? passed()
             : failed("a new object for each question chose other tasks than one for all");
}

/// Objects of two runs share nothing.
Verdict check_threads(const Subject& subject) {
  constexpr std::array kWorlds = {World::Usual, World::AllAlike};
  std::array<std::vector<size_t>, 2> wanted;
  for (size_t i = 0; i < 2; ++i) wanted[i] = run(subject, kWorlds[i]).chosen;
  std::array<std::string, 2> faults;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        try {
          if (run(subject, kWorlds[i]).chosen != wanted[i])
            faults[i] = "while another object was asked in another thread, it chose other tasks";
        } catch (const std::exception& error) {
          faults[i] = fmt::format("with two objects in two threads: {}", error.what());
        }
      });
    }
  }
  for (const std::string& fault : faults) {
    if (!fault.empty()) return failed(fault);
  }
  return passed();
}

/// It keeps choosing if nothing works, if all tasks are equal, and if there is only one.
Verdict check_extremes(const Subject& subject) {
  const Run fails = run(subject, World::AllFail);
  if (!fails.fault.empty()) return failed("when no program works: " + fails.fault);
  const Run alike = run(subject, World::AllAlike);
  if (!alike.fault.empty()) return failed("when all tasks are alike: " + alike.fault);
  const Run one = run(subject, World::One);
  return one.fault.empty() ? passed() : failed("when there is one task: " + one.fault);
}

constexpr Check kChecks[] = {
    {"contract", "P28", &check_contract}, {"determinism", "P19", &check_determinism},
    {"resume", "P28", &check_resume},     {"threads", "P20", &check_threads},
    {"extremes", "P28", &check_extremes},
};

}  // namespace
}  // namespace of_task_schedulers

std::span<const Check> task_scheduler_checks() { return of_task_schedulers::kChecks; }

}  // namespace tunesmith::conformance

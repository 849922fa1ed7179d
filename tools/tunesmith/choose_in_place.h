// Which of a task's best programs is the fastest inside its network, between the calls of the others.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "network_library.h"
#include "task_programs.h"

namespace tunesmith::cli {

struct ChosenPrograms {
  TaskPrograms programs;
  std::vector<const CompiledKernel*> kernels;  // chosen, one for each task
  size_t others = 0;                           // of the tasks whose program is not the fastest alone
  double seconds = 0;                          // of a call with the chosen programs; 0 where none is another
  double seconds_alone = 0;                    // of a call with those that are the fastest alone
  double p = 1;                                // of a sign test that the chosen ones are faster
};

/// The best program on record of each task, as it was measured alone.
ChosenPrograms choose_alone(Session& session, const Space& space, const TaskedNetwork& tasked,
                            const NetworkArguments& arguments, const MissingPrograms& missing, bool quiet);

/// Builds libraries of the best, the second best, ... programs of all tasks in a folder below `output`, which
/// it removes, and times each in turn with that of the best. A task gets another program where that is
/// faster in nearly all rounds, and the network gets the others where a whole call is faster with them.
/// Waits for the machine.
ChosenPrograms choose_in_place(Session& session, const Space& space, const TaskedNetwork& tasked,
                               const NetworkArguments& arguments, const MissingPrograms& missing, bool quiet);

/// One line.
void print_chosen(const ChosenPrograms& chosen);
nlohmann::json chosen_json(const ChosenPrograms& chosen);

}  // namespace tunesmith::cli

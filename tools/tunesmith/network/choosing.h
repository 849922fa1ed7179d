// Chooses the programs of a network's library.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/choose_in_place.h>

#include "task_programs.h"

namespace tunesmith::cli {

struct ChosenForNetwork {
  TaskPrograms programs;
  network::ChosenPrograms chosen;  // of `programs`
};

/// Takes each task's best recorded program, as measured alone.
ChosenForNetwork choose_alone(Session& session, const Space& space, const TaskedNetwork& tasked,
                              const NetworkArguments& arguments, const MissingPrograms& missing, bool quiet);

/// Takes, of each task's best five programs, the one that is fastest inside the library
/// (network::choose_in_place). Waits for the machine.
ChosenForNetwork choose_in_place(Session& session, const Space& space, const TaskedNetwork& tasked,
                                 const NetworkArguments& arguments, const MissingPrograms& missing,
                                 bool quiet);

/// Prints one line.
void print_chosen(const network::ChosenPrograms& chosen);
nlohmann::json chosen_json(const network::ChosenPrograms& chosen);

}  // namespace tunesmith::cli

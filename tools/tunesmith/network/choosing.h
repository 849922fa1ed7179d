// The programs that a network's library gets, and how they are chosen.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/choose_in_place.h>

#include "task_programs.h"

namespace tunesmith::cli {

struct ChosenForNetwork {
  TaskPrograms programs;
  network::ChosenPrograms chosen;  // of them
};

/// The best program on record of each task, as it was measured alone.
ChosenForNetwork choose_alone(Session& session, const Space& space, const TaskedNetwork& tasked,
                              const NetworkArguments& arguments, const MissingPrograms& missing, bool quiet);

/// The fastest inside the library of the best five (network::choose_in_place). Waits for the machine.
ChosenForNetwork choose_in_place(Session& session, const Space& space, const TaskedNetwork& tasked,
                                 const NetworkArguments& arguments, const MissingPrograms& missing,
                                 bool quiet);

/// One line.
void print_chosen(const network::ChosenPrograms& chosen);
nlohmann::json chosen_json(const network::ChosenPrograms& chosen);

}  // namespace tunesmith::cli

#include "choosing.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/machine_lock.h>

#include "library.h"
#include "output.h"
#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

constexpr size_t kPrograms = 5;  // per task

}  // namespace

ChosenForNetwork choose_alone(Session& session, const Space& space, const TaskedNetwork& tasked,
                              const NetworkArguments& arguments, const MissingPrograms& missing, bool quiet) {
  ChosenForNetwork result;
  result.programs = programs_of(tasked, session, space, shipping_options(arguments, quiet), 1, missing);
  result.chosen = network::choose_alone(result.programs.of);
  return result;
}

ChosenForNetwork choose_in_place(Session& session, const Space& space, const TaskedNetwork& tasked,
                                 const NetworkArguments& arguments, const MissingPrograms& missing,
                                 bool quiet) {
  LiveLine line(quiet);
  ChosenForNetwork result;
  result.programs = programs_of(
      tasked, session, space, shipping_options(arguments, true), kPrograms, missing, [&](size_t task) {
        line.say(fmt::format("compiling the best programs of task {} of {}", task + 1, tasked.tasks.size()));
      });
  const MachineLock::Turn turn = machine_lock()->wait(MachineLock::Use::Measure);
  result.chosen = network::choose_in_place(
      tasked, result.programs.of, space.target(), packaging_of(space), library_source(arguments),
      {arguments.threads, output_folder(arguments), [&](const std::string& text) { line.say(text); }});
  return result;
}

void print_chosen(const network::ChosenPrograms& chosen) {
  if (chosen.others == 0) {
    fmt::print(output(), "in place: the fastest programs in isolation are the fastest in the network\n");
    return;
  }
  fmt::print(output(),
             "in place: {} of {} tasks use another program than the fastest in isolation; a call takes {} "
             "instead of {} (p = {:.2g})\n",
             chosen.others, chosen.kernels.size(), seconds_text(chosen.seconds),
             seconds_text(chosen.seconds_alone), chosen.p);
}

nlohmann::json chosen_json(const network::ChosenPrograms& chosen) {
  const bool timed = chosen.seconds > 0;
  return {{"other_programs", chosen.others},
          {"seconds", timed ? nlohmann::json(chosen.seconds) : nlohmann::json()},
          {"seconds_alone", timed ? nlohmann::json(chosen.seconds_alone) : nlohmann::json()},
          {"p", chosen.p}};
}

}  // namespace tunesmith::cli

// `network build`: the library of a network from the records of its tasks.
#include <nlohmann/json.hpp>

#include "choose_in_place.h"
#include "exit_codes.h"
#include "network_json.h"
#include "network_library.h"

namespace tunesmith::cli {
int run_network_build(const Common& common, const NetworkArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, arguments);
  const std::unique_ptr<Space> space = session.space();
  require_library_can_be_written(tasked, *space, arguments);
  const MissingPrograms missing{arguments.unscheduled};
  const ChosenPrograms chosen =
      arguments.in_place
          ? choose_in_place(session, *space, tasked, arguments, missing, common.quiet || common.json)
          : choose_alone(session, *space, tasked, arguments, missing, common.json);
  const BuiltNetwork built = write_network(tasked, chosen.kernels, chosen.programs.as_written, *space,
                                           arguments, output_folder(arguments));
  if (common.json) {
    nlohmann::json said = built_json(built, tasked);
    if (arguments.in_place) said["in_place"] = chosen_json(chosen);
    print_network_json(said);
    return kDone;
  }
  if (arguments.in_place) print_chosen(chosen);
  print_built(built, tasked);
  return kDone;
}

}  // namespace tunesmith::cli

// `network build`: builds the library of a network from the records of its tasks.
#include <nlohmann/json.hpp>

#include "choosing.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "library.h"

namespace tunesmith::cli {
int run_network_build(const Common& common, const NetworkArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, arguments);
  const std::unique_ptr<Space> space = session.space();
  const network::LibrarySource source = library_source(arguments);
  rehearse_network(tasked, packaging_of(*space), source, output_folder(arguments));
  const MissingPrograms missing{arguments.unscheduled, {}, arguments.untuned};
  const ChosenForNetwork programs =
      arguments.in_place
          ? choose_in_place(session, *space, tasked, arguments, missing, common.quiet || common.json)
          : choose_alone(session, *space, tasked, arguments, missing, common.json);
  const network::BuiltNetwork built =
      build_network(tasked, programs.chosen.kernels,
                    network::ProgramNotes{programs.programs.as_written, programs.programs.untuned,
                                          programs.programs.intervals},
                    space->target(), packaging_of(*space), source, output_folder(arguments));
  if (common.json) {
    nlohmann::json said = built_json(built, tasked);
    if (arguments.in_place) said["in_place"] = chosen_json(programs.chosen);
    print_json(said);
    return kDone;
  }
  if (arguments.in_place) print_chosen(programs.chosen);
  print_built(built, tasked);
  return kDone;
}

}  // namespace tunesmith::cli

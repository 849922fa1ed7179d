// The options of the commands for many machines: serve and fleet.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_broker(CLI::App& command, BrokerArguments& broker) {
  command.add_option("--broker", broker.url,
                     "amqps://USER:PASSWORD@HOST, or file:PATH, a file with it (default: the variable "
                     "TUNESMITH_BROKER)");
  command.add_flag("--insecure", broker.insecure, "allow amqp:// to other machines, which is not encrypted");
}

}  // namespace

void add_serve(CLI::App& app, Common& common, ServeArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("serve", "take jobs from a broker, and measure them on this machine, until SIGTERM");
  command->footer("Example: TUNESMITH_BROKER=amqps://worker:secret@broker.example tunesmith serve");
  add_broker(*command, arguments.broker);
  add_threads(*command, arguments.threads, "number of threads to measure with");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_positive(*command, "--reference-minutes", arguments.reference_minutes,
               "minutes between two times of the reference program, which says that a machine drifts");
  add_positive(*command, "--reference-seconds", arguments.reference_seconds,
               "its usual time, which 'fleet --json' has; by default the first");
  add_common(*command, common, true);
  command->callback([&] { code = run_serve(common, arguments); });
}

void add_fleet(CLI::App& app, Common& common, FleetArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("fleet", "say who takes jobs from a broker, and how many jobs wait");
  command->footer("Example: tunesmith fleet --json");
  add_broker(*command, arguments.broker);
  add_positive(*command, "--wait", arguments.wait, "seconds for the answers of workers");
  add_common(*command, common, false);
  command->callback([&] { code = run_fleet(common, arguments); });
}

}  // namespace tunesmith::cli

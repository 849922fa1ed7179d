// The options of the commands for many machines: serve and fleet.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_broker(CLI::App& command, BrokerArguments& broker) {
  command.add_option("--broker", broker.url,
                     "URL of the broker, amqps://USER:PASSWORD@HOST, or file:PATH of a file that contains it "
                     "(default: the environment variable TUNESMITH_BROKER)");
  command.add_flag("--insecure", broker.insecure,
                   "allow unencrypted connections (amqp://) to other machines");
}

}  // namespace

void add_serve(CLI::App& app, Common& common, ServeArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("serve", "measure jobs from a broker on this machine until SIGTERM");
  command->footer("Example: TUNESMITH_BROKER=amqps://worker:secret@broker.example tunesmith serve");
  add_broker(*command, arguments.broker);
  add_threads(*command, arguments.threads, "number of threads that run candidates");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_positive(*command, "--reference-minutes", arguments.reference_minutes,
               "minutes between timings of the reference program, which detect that the machine drifts");
  add_positive(*command, "--reference-seconds", arguments.reference_seconds,
               "usual seconds of the reference program, as in 'fleet --json' (default: the first timing)");
  add_common(*command, common, true);
  command->callback([&] { code = run_serve(common, arguments); });
}

void add_fleet(CLI::App& app, Common& common, FleetArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("fleet", "list a broker's workers and the number of waiting jobs");
  command->footer("Example: tunesmith fleet --json");
  add_broker(*command, arguments.broker);
  add_positive(*command, "--wait", arguments.wait, "seconds to wait for answers of workers");
  add_common(*command, common, false);
  command->callback([&] { code = run_fleet(common, arguments); });
}

}  // namespace tunesmith::cli

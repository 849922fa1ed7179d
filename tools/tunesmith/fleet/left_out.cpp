// `serve` and `fleet` in a build without a client for brokers.
#include <nlohmann/json.hpp>

#include "commands.h"

namespace tunesmith::cli {
namespace {

[[noreturn]] void without_a_client() {
  throw EnvironmentError("this build has no AMQP client; remedy: rebuild with librabbitmq-dev installed");
}

}  // namespace

int run_serve(const Common& /*common*/, const ServeArguments& /*arguments*/) { without_a_client(); }
int run_fleet(const Common& /*common*/, const FleetArguments& /*arguments*/) { without_a_client(); }
nlohmann::json fleet_now(const FleetArguments& /*arguments*/) { without_a_client(); }

}  // namespace tunesmith::cli

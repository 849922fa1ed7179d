// `serve` and `fleet` in a build without a client for brokers.
#include <nlohmann/json.hpp>

#include "commands.h"

namespace tunesmith::cli {
namespace {

[[noreturn]] void without_a_client() {
  throw EnvironmentError(
      "this Tunesmith was built without a broker's client; remedy: build it where librabbitmq-dev is");
}

}  // namespace

int run_serve(const Common& /*common*/, const ServeArguments& /*arguments*/) { without_a_client(); }
int run_fleet(const Common& /*common*/, const FleetArguments& /*arguments*/) { without_a_client(); }
nlohmann::json fleet_now(const FleetArguments& /*arguments*/) { without_a_client(); }

}  // namespace tunesmith::cli

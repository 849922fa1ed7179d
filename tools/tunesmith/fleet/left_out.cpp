// `serve` and `fleet` where there was no client of a broker to build with.
#include "commands.h"

namespace tunesmith::cli {
namespace {

int without_a_client() {
  throw EnvironmentError(
      "this Tunesmith was built without a broker's client; remedy: build it where librabbitmq-dev is");
}

}  // namespace

int run_serve(const Common& /*common*/, const ServeArguments& /*arguments*/) { return without_a_client(); }
int run_fleet(const Common& /*common*/, const FleetArguments& /*arguments*/) { return without_a_client(); }

}  // namespace tunesmith::cli

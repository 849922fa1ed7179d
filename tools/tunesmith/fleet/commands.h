// The arguments of `serve` and `fleet`, and what runs them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "session.h"

namespace tunesmith::cli {

struct BrokerArguments {
  std::string url;        // empty: $TUNESMITH_BROKER
  bool insecure = false;  // allow connections to other machines without encryption
};

struct ServeArguments {
  BrokerArguments broker;
  std::string database;
  int threads = 0;  // 0: all
  bool allow_memory = false;
  double reference_minutes = 5.0;  // the interval between timings of the reference program
  double reference_seconds = 0.0;  // the reference program's usual time; 0: its first time
};
int run_serve(const Common& common, const ServeArguments& arguments);

struct FleetArguments {
  BrokerArguments broker;
  double wait = 1.5;  // how long to wait for answers
};
/// {broker, identities}, as `fleet --json` prints it.
nlohmann::json fleet_now(const FleetArguments& arguments);
int run_fleet(const Common& common, const FleetArguments& arguments);

}  // namespace tunesmith::cli

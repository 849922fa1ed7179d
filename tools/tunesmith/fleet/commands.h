// The arguments of `serve` and `fleet`, and what runs them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "session.h"

namespace tunesmith::cli {

struct BrokerArguments {
  std::string url;        // empty: $TUNESMITH_BROKER
  bool insecure = false;  // not encrypted, also to other machines
};

struct ServeArguments {
  BrokerArguments broker;
  std::string database;
  int threads = 0;  // 0: all
  bool allow_memory = false;
  double reference_minutes = 5.0;  // between times of the reference program
  double reference_seconds = 0.0;  // its usual time; 0: the first
};
int run_serve(const Common& common, const ServeArguments& arguments);

struct FleetArguments {
  BrokerArguments broker;
  double wait = 1.5;  // seconds for answers
};
/// {broker, identities}, as `fleet --json` prints it.
nlohmann::json fleet_now(const FleetArguments& arguments);
int run_fleet(const Common& common, const FleetArguments& arguments);

}  // namespace tunesmith::cli

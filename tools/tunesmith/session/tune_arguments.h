// The arguments of `tune`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tunesmith::cli {

struct TuneArguments {
  std::vector<std::string> workloads;  // texts, and files of suites
  std::vector<double> weights;         // one for each of `workloads`; empty: from the suites
  std::string scheduler;               // this and the next three replace the space's; empty: its own
  std::string search;                  // NAME[:TRIALS],...
  std::string model;
  std::string runner;
  std::string goal;  // "total" or "geomean"; empty: "total" when there are weights
  std::string database;
  int64_t trials = 0;              // for all workloads together; 0: the default
  double minutes = 0;              // for all workloads together; 0: no limit
  int64_t batch = 0;               // 0: the default
  std::optional<double> min_gain;  // percent; nothing: the default
  uint64_t seed = 0;
  int64_t first_draws = 0;  // TuneOptions::first_draws
  int threads = 0;
  double time_limit = 0;
  double candidate_time_out = 10;
  bool fresh = false;         // do not resume from earlier records
  bool allow_memory = false;  // continue without enough memory
  std::string model_file;
  bool verbose = false;  // print more about the search
  std::string against;   // a library to time beside the best program; empty: none
};

}  // namespace tunesmith::cli

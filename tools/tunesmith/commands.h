// The commands: arguments as the command line gives them, and what runs them. Each answers the process's exit
// code; errors are exceptions, which main() turns into messages and codes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct TuneArguments {
  std::string workload;
  std::string database;
  int64_t trials = 256;
  int64_t batch = 64;
  uint64_t seed = 0;
  int threads = 0;
  double time_limit = 0;
  double candidate_time_out = 10;
  bool fresh = false;  // do not take up earlier records
};
int run_tune(const Common& common, const TuneArguments& arguments);

struct BuildArguments {
  std::string workload;
  std::string database;
  std::string output = ".";
  std::string name;   // of the library; empty: from the workload
  std::string trace;  // a file; empty: the best record
};
int run_build(const Common& common, const BuildArguments& arguments);

}  // namespace tunesmith::cli

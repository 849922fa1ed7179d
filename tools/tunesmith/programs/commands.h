// The arguments of `workloads`, `features`, `trace` and `opt`, and their implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct FeaturesArguments {
  std::string workload;  // empty: describe the columns
  std::string trace;     // a file, or a record's id; empty: drawn from the space
  std::string database;
  uint64_t seed = 0;
};
int run_features(const Common& common, const FeaturesArguments& arguments);
int run_workloads_list(const Common& common);
int run_workloads_show(const Common& common, const std::string& workload);

struct CheckVerificationArguments {
  std::vector<std::string> workloads;  // empty: the suite
  std::vector<std::string>
      types;         // for workloads with a parameter dtype that is not given; empty: its default
  int programs = 1;  // number of scheduled programs, besides the unscheduled one
  int sites = 2;     // number of places for each kind of mistake
  uint64_t seed = 0;
  int threads = 0;
  double time_limit = 0;
  double candidate_time_out = 60;
};
int run_workloads_check_verification(const Common& common, const CheckVerificationArguments& arguments);

struct TraceArguments {
  std::string trace;  // a file, or a record's id
  std::string other;
  std::string workload;
  std::string database;
  std::string output;             // for export; empty: standard output
  int repeats = 0;                // for export of a job; 0: unspecified
  double candidate_time_out = 0;  // for export of a job; 0: unspecified
  bool sequence = false;
  bool program = false;
  bool passes = false;
  bool waste = false;
  bool lowered = false;
  bool code = false;
  bool assembly = false;
};
int run_trace_show(const Common& common, const TraceArguments& arguments);
int run_trace_replay(const Common& common, const TraceArguments& arguments);
int run_trace_export(const Common& common, const TraceArguments& arguments);
int run_trace_check(const Common& common, const TraceArguments& arguments);
int run_trace_diff(const Common& common, const TraceArguments& arguments);

struct OptArguments {
  std::string file;                 // "-": standard input
  std::vector<std::string> apply;   // instructions in the syntax of a trace
  std::vector<std::string> passes;  // by name, applied after `until`
  std::string until;                // the last lowering step to run; empty: none
  int64_t vector_bits = 0;          // 0: the target's
  bool lower = false;               // all steps
  bool list = false;                // list the passes
  bool check = false;               // compare the programs before and after
};
int run_opt(const Common& common, const OptArguments& arguments);

}  // namespace tunesmith::cli

// The arguments of `workloads`, `features`, `trace` and `opt`, and what runs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct FeaturesArguments {
  std::string workload;  // empty: what the columns are
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
      types;         // for workloads with a parameter dtype that do not say one; empty: as they are
  int programs = 1;  // scheduled ones, besides the unscheduled
  int sites = 2;     // places for each kind of mistake
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
  std::string output;             // of export; empty: standard output
  int repeats = 0;                // of export, of a job; 0: not said
  double candidate_time_out = 0;  // likewise
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
  std::vector<std::string> apply;   // instructions, as in a trace
  std::vector<std::string> passes;  // by their names, after `until`
  std::string until;                // the last of the steps of lowering to take; empty: none
  int64_t vector_bits = 0;          // 0: as the target says
  bool lower = false;               // all steps
  bool list = false;                // say which passes there are
  bool check = false;               // compare the programs before and after
};
int run_opt(const Common& common, const OptArguments& arguments);

}  // namespace tunesmith::cli

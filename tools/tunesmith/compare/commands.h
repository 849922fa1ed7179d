// The arguments of `compare` and `tables`, and their implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct TablesArguments {
  std::vector<std::string> files;
  std::string output;  // for rehash
};
int run_tables_show(const Common& common, const TablesArguments& arguments);
int run_tables_check(const Common& common, const TablesArguments& arguments);
int run_tables_rehash(const Common& common, const TablesArguments& arguments);

struct TablesRecordArguments {
  std::string workload;
  std::string output;
  int64_t programs = 20000;  // the maximum number of programs to record
  int rounds = 6;
  uint64_t seed = 0;  // for the order of rounds after the first
  int threads = 0;
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool count = false;  // only print the number of programs
};
int run_tables_record(const Common& common, const TablesRecordArguments& arguments);

struct CompareArguments {
  std::vector<std::string> workloads;
  std::vector<std::string> tables;
  std::vector<std::string> spaces;     // names of spaces, and at most one spaces file
  std::vector<std::string> searchers;  // variants of the one space, with these searchers
  int64_t trials = 256;
  int64_t batch = 64;
  int seeds = 5;
  std::string results;  // a file to which every finished search is added; empty: none
  std::string runner;   // replaces the spaces' runner; empty: each space's own
  int threads = 0;
  double candidate_time_out = 10;
  bool allow_memory = false;
};
int run_compare(const Common& common, const CompareArguments& arguments);

}  // namespace tunesmith::cli

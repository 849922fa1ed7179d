// The arguments of `build`, `bench` and `measure`, and their implementations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/tuning/first_program.h>

#include "session.h"

namespace tunesmith::cli {

struct BuildArguments {
  std::string workload;
  std::string database;
  std::string output = ".";
  std::string name;   // the library's name; empty: derived from the workload
  std::string trace;  // a file or a record's id; empty: the best record
  int threads = 0;    // the number that the program was tuned for; 0: all
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool example = false;           // write programs that call the library, too
  bool untuned = false;           // without a record, take the first program
  int64_t draws = kDefaultDraws;  // number of draws from which the first program is chosen
};
int run_build(const Common& common, const BuildArguments& arguments);

struct BenchArguments {
  std::vector<std::string> workloads;
  std::string database;
  std::string trace;                 // a file or a record's id; empty: the best record
  std::vector<std::string> compare;  // further programs: "unscheduled", "space:NAME", files, records' ids
  int rounds = 50;
  int threads = 0;
  double candidate_time_out = 10;
  bool allow_memory = false;
};
int run_bench(const Common& common, const BenchArguments& arguments);

struct MeasureArguments {
  std::string file;  // a file of jobs; empty: stdin
  std::string database;
  int threads = 0;     // 0: as each job says
  bool lines = false;  // print the records as lines
  bool fresh = false;  // measure even what is on record
  bool allow_memory = false;
};
int run_measure(const Common& common, const MeasureArguments& arguments);

}  // namespace tunesmith::cli

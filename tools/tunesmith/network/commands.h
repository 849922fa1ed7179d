// The arguments of `network`, and what runs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/tuning/first_program.h>

#include "session.h"
#include "tune_arguments.h"

namespace tunesmith::cli {

struct NetworkArguments {
  std::string file;
  std::vector<std::string> dimensions;  // "batch=1"
  std::vector<std::string> operators;   // files of further operators
  std::string output;                   // a folder
  std::string database;
  std::string name;                      // the library's name; empty: derived from the file
  int threads = 0;                       // the number that the programs were tuned for; 0: all
  std::optional<uint64_t> machine = {};  // where they were measured (Measurements::machine)
  bool unscheduled = false;
  bool untuned = false;           // take the first program for tasks without a record
  int64_t draws = kDefaultDraws;  // number of draws from which the first program is chosen
  bool in_place = false;          // choose among each task's best programs inside the library
  bool outline = false;           // show the nodes and which are refused
  bool passes = false;            // show the network after each pass
  bool dot = false;               // show the kernels as a graph, for Graphviz
};
int run_network_import(const Common& common, const NetworkArguments& arguments);
int run_network_show(const Common& common, const NetworkArguments& arguments);
int run_network_tasks(const Common& common, const NetworkArguments& arguments);
int run_network_build(const Common& common, const NetworkArguments& arguments);

struct NetworkTuneArguments {
  NetworkArguments network;
  TuneArguments tune;  // without workloads
};
int run_network_tune(const Common& common, const NetworkTuneArguments& arguments);

struct NetworkVerifyArguments {
  std::string folder;
  std::string model;                    // empty: as the library was built
  std::vector<std::string> dimensions;  // values of varying extents: "batch=7"
  int64_t seed = 1;
  int calls = 1;
  int64_t integers = 2;  // random integers are below this
};
int run_network_verify(const Common& common, const NetworkVerifyArguments& arguments);

struct NetworkRunArguments {
  std::string folder;
  std::vector<std::string> inputs;      // files; none: random
  std::string output;                   // a folder; empty: nothing is written
  std::vector<std::string> dimensions;  // values of varying extents: "batch=7"
  int64_t seed = 1;
  int64_t integers = 2;  // random integers are below this
};
int run_network_run(const Common& common, const NetworkRunArguments& arguments);

struct NetworkBenchArguments {
  std::string folder;
  std::vector<std::string> dimensions;  // values of varying extents: "batch=7"
  int calls = 50;
  int threads = 0;  // 0: all
};
int run_network_bench(const Common& common, const NetworkBenchArguments& arguments);

struct NetworkTestArguments {
  std::vector<std::string> folders;
  std::vector<std::string> operators;  // files of further operators
  bool interpret = false;
  bool build = false;
  int processes = 0;  // 0: one process for each processor
  bool verbose = false;
};
int run_network_test(const Common& common, const NetworkTestArguments& arguments);

/// The arguments of all commands of the group `network`.
struct AllNetworkArguments {
  NetworkArguments network;
  NetworkTuneArguments tune;
  NetworkVerifyArguments verify;
  NetworkRunArguments run;
  NetworkBenchArguments bench;
  NetworkTestArguments test;
};

}  // namespace tunesmith::cli

// The arguments of `records` and `report`, and their implementations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "session.h"

namespace tunesmith::cli {

struct RecordsArguments {
  std::string database;
  std::string workload;  // empty: all
  std::string record;    // an id
  std::string file;      // for export or import; empty: stdout or stdin
  int count = 10;
  bool best = false;  // for export: only the best `count` of each task
  std::string task;   // for delete: the task's id
  std::string run;
  bool yes = false;  // without asking
};
int run_records_best(const Common& common, const RecordsArguments& arguments);
int run_records_list(const Common& common, const RecordsArguments& arguments);
int run_records_show(const Common& common, const RecordsArguments& arguments);
int run_records_export(const Common& common, const RecordsArguments& arguments);
int run_records_import(const Common& common, const RecordsArguments& arguments);
int run_records_merge(const Common& common, const RecordsArguments& arguments);
int run_records_check(const Common& common, const RecordsArguments& arguments);
int run_records_delete(const Common& common, const RecordsArguments& arguments);

struct ReportArguments {
  std::string store;     // the store; empty: as database_path()
  std::string database;  // the store, by the option of all commands
  std::string output;    // empty: report.html, and nothing with --json
  std::vector<std::string> workloads;
  std::vector<std::string> tasks;
  std::vector<std::string> runs;
  std::vector<std::string> comparisons;  // output files of `compare --json`
  std::vector<std::string> networks;     // output files of `network bench --json`
  bool measure_roofs = false;
  std::string follow;                     // HOST:PORT to serve the page at; empty: it is written
  std::function<nlohmann::json()> fleet;  // with `follow`: what `fleet --json` prints
};
int run_report(const Common& common, const ReportArguments& arguments);

}  // namespace tunesmith::cli

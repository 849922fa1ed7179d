// The commands: arguments as the command line gives them, and what runs them. Each answers the process's exit
// code; errors are exceptions, which main() turns into messages and codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

struct TuneArguments {
  std::vector<std::string> workloads;  // texts, and files of suites
  std::vector<double> weights;         // one for each of `workloads`; empty: as the suites say
  std::string scheduler;               // this and the next two: instead of the space's; empty: its own
  std::string search;                  // NAME[:TRIALS],...
  std::string model;
  std::string goal;  // "total" or "geomean"; empty: "total" when there are weights
  std::string database;
  int64_t trials = 0;              // of all workloads together; 0: as many as is usual
  double minutes = 0;              // of all workloads together; 0: no limit
  int64_t batch = 0;               // 0: as is usual
  std::optional<double> min_gain;  // percent; nothing: as is usual
  uint64_t seed = 0;
  int threads = 0;
  double time_limit = 0;
  double candidate_time_out = 10;
  bool fresh = false;         // do not resume from earlier records
  bool allow_memory = false;  // continue where measuring takes more memory than there is
  std::string model_file;
  bool verbose = false;  // say more of the search
  std::string against;   // a library to time beside the best program; empty: none
};
int run_tune(const Common& common, const TuneArguments& arguments);

struct BuildArguments {
  std::string workload;
  std::string database;
  std::string output = ".";
  std::string name;   // of the library; empty: from the workload
  std::string trace;  // a file or a record's id; empty: the best record
  int threads = 0;    // that the program was tuned for; 0: all
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool example = false;  // write programs that call the library, too
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
  std::string file;  // of jobs; empty: stdin
  std::string database;
  int threads = 0;     // 0: as each job says
  bool lines = false;  // print the records as lines
  bool fresh = false;  // measure what is on record, too
  bool allow_memory = false;
};
int run_measure(const Common& common, const MeasureArguments& arguments);

int run_doctor(const Common& common);

struct SpacesArguments {
  std::string file;  // to lint; empty: as Common says
  std::string workload;
  int count = 1;
  uint64_t seed = 0;
};
int run_spaces_lint(const Common& common, const SpacesArguments& arguments);
int run_spaces_list(const Common& common);
int run_spaces_show(const Common& common, const SpacesArguments& arguments);
int run_spaces_sample(const Common& common, const SpacesArguments& arguments);
int run_spaces_explain(const Common& common, const SpacesArguments& arguments);

struct FeaturesArguments {
  std::string workload;  // empty: what the columns are
  std::string trace;     // a file, or a record's id; empty: drawn from the space
  std::string database;
  uint64_t seed = 0;
};
int run_features(const Common& common, const FeaturesArguments& arguments);

struct ModelArguments {
  std::vector<std::string> stores;     // of records; none: the default one, unless there are tables
  std::vector<std::string> tables;     // files of recorded tables
  std::vector<std::string> workloads;  // only these tasks; none: all
  std::vector<std::string> except;
  std::string model;  // in place of the space's; empty: that
  std::string file;   // of the model
  std::vector<int64_t> counts = {0, 128, 512, 1024};
  bool alone = false;
  uint64_t seed = 0;
  int count = 20;
};
int run_model_train(const Common& common, const ModelArguments& arguments);
int run_model_show(const Common& common, const ModelArguments& arguments);
int run_model_eval(const Common& common, const ModelArguments& arguments);

struct RecordsArguments {
  std::string database;
  std::string workload;  // empty: all
  std::string record;    // an id
  std::string file;      // to export to or import from; empty: stdout or stdin
  int count = 10;
  bool best = false;  // to export: the best `count` of each task alone
  std::string task;   // to delete: by its id
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

struct NetworkArguments {
  std::string file;
  std::vector<std::string> dimensions;  // "batch=1"
  std::string output;                   // a folder
  std::string database;
  std::string name;  // of the library; empty: from the file
  int threads = 0;   // that programs were tuned for; 0: all
  bool unscheduled = false;
  bool in_place = false;  // choose among each task's best programs inside the library
  bool passes = false;    // show what each pass makes
  bool dot = false;       // show the kernels as a graph, for Graphviz
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
  std::string model;  // empty: as the library was built
  int64_t seed = 1;
  int calls = 1;
  int64_t integers = 2;  // random ones are below
};
int run_network_verify(const Common& common, const NetworkVerifyArguments& arguments);

struct NetworkRunArguments {
  std::string folder;
  std::vector<std::string> inputs;  // files; none: random
  std::string output;               // a folder; empty: nothing is written
  int64_t seed = 1;
  int64_t integers = 2;  // random ones are below
};
int run_network_run(const Common& common, const NetworkRunArguments& arguments);

struct NetworkBenchArguments {
  std::string folder;
  int calls = 50;
  int threads = 0;  // 0: all
};
int run_network_bench(const Common& common, const NetworkBenchArguments& arguments);

struct NetworkTestArguments {
  std::vector<std::string> folders;
  bool interpret = false;
  bool build = false;
  int processes = 0;  // 0: one for each processor
  bool verbose = false;
};
int run_network_test(const Common& common, const NetworkTestArguments& arguments);

/// Of the group `network`.
struct AllNetworkArguments {
  NetworkArguments network;
  NetworkTuneArguments tune;
  NetworkVerifyArguments verify;
  NetworkRunArguments run;
  NetworkBenchArguments bench;
  NetworkTestArguments test;
};

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

struct PluginsArguments {
  bool why = false;
  bool options = false;
  std::string lock_file;
};
int run_plugins_list(const Common& common, const PluginsArguments& arguments);
int run_plugins_probe(const Common& common);
int run_plugins_lock(const Common& common, const PluginsArguments& arguments);

struct NewPluginArguments {
  std::string kind;
  std::string name;
  std::string into;   // empty: a folder of the plugin's name
  bool yaml = false;  // an extension as data
};
int run_plugins_new(const Common& common, const NewPluginArguments& arguments);

struct VerifyArguments {
  std::string path;
  std::vector<std::string> workloads;
  std::vector<std::string> expected;  // KIND:ID/CHECK=REASON
  std::vector<std::string> checks;
  int seconds = 60;
};
int run_plugins_verify(const Common& common, const VerifyArguments& arguments);

int run_explain(const Common& common, const std::string& rule);

struct ReportArguments {
  std::string store;     // the records; empty: as database_path()
  std::string database;  // the same, by the option that all commands have
  std::string output;    // empty: report.html, and nothing with --json
  std::vector<std::string> workloads;
  std::vector<std::string> tasks;
  std::vector<std::string> runs;
  std::vector<std::string> comparisons;  // files, as `compare --json` prints them
  std::vector<std::string> networks;     // files, as `network bench --json` prints them
  bool measure_roofs = false;
};
int run_report(const Common& common, const ReportArguments& arguments);

struct TraceArguments {
  std::string trace;  // a file, or a record's id
  std::string other;
  std::string workload;
  std::string database;
  std::string output;             // of export; empty: standard output
  int repeats = 0;                // of export, of a job; 0: not said
  double candidate_time_out = 0;  // likewise
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

struct TablesArguments {
  std::vector<std::string> files;
  std::string output;  // of rehash
};
int run_tables_show(const Common& common, const TablesArguments& arguments);
int run_tables_check(const Common& common, const TablesArguments& arguments);
int run_tables_rehash(const Common& common, const TablesArguments& arguments);

struct TablesRecordArguments {
  std::string workload;
  std::string output;
  int64_t programs = 20000;  // at most
  int rounds = 6;
  uint64_t seed = 0;  // of the order of the rounds after the first
  int threads = 0;
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool count = false;  // only say how many programs there are
};
int run_tables_record(const Common& common, const TablesRecordArguments& arguments);

struct CompareArguments {
  std::vector<std::string> workloads;
  std::vector<std::string> tables;
  std::vector<std::string> spaces;     // names, and at most one file of spaces
  std::vector<std::string> searchers;  // variants of the one space: its searcher replaced by these
  int64_t trials = 256;
  int64_t batch = 64;
  int seeds = 5;
  std::string results;  // a file to which every finished search is added; empty: none
  int threads = 0;
  double candidate_time_out = 10;
  bool allow_memory = false;
};
int run_compare(const Common& common, const CompareArguments& arguments);

}  // namespace tunesmith::cli

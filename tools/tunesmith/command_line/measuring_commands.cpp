// The options of the commands that measure: tune, build, bench and measure.
#include <fmt/format.h>

#include "options.h"

namespace tunesmith::cli {
namespace {

/// Replacements of the space's searcher and cost model.
void add_search_overrides(CLI::App& command, TuneArguments& arguments) {
  command.add_option(
      "--search", arguments.search,
      "searcher to use instead of the space's: NAME, or a sequence of searchers NAME:TRIALS,...,NAME");
  command.add_option("--model", arguments.model, "the cost model to use instead of the space's");
  command.add_option("--scheduler", arguments.scheduler,
                     "the task scheduler to use instead of the space's, for several workloads");
  add_runner(command, arguments.runner);
}

void add_budget(CLI::App& command, TuneArguments& arguments, const std::string& trials,
                const std::string& minutes) {
  command.add_option("--trials", arguments.trials, trials)->check(positive());
  command.add_option("--minutes", arguments.minutes, minutes)->check(positive());
  command
      .add_option("--min-gain,--least-gain", arguments.min_gain,
                  "stop searching a workload when its next round is expected to improve the goal by less "
                  "than this many percent; 0 = never stop (default: 0; when only --minutes limits the run, "
                  "0.05 divided by the number of workloads)")
      ->check(not_negative());
}

/// The options of the search.
void add_search(CLI::App& command, TuneArguments& arguments) {
  command
      .add_option("--batch", arguments.batch, "candidates per round (default: 64; with several workloads 16)")
      ->check(positive());
  add_not_negative(command, "--seed", arguments.seed, "random seed: the same seed draws the same candidates");
  add_search_overrides(command, arguments);
  add_threads(command, arguments.threads, "number of threads that run candidates");
  add_not_negative(command, "--time-limit", arguments.time_limit,
                   "seconds after which the search ends; 0 = none");
  add_candidate_time_out(command, arguments.candidate_time_out, "one candidate");
  add_database(command, arguments.database);
  add_allow_memory(command, arguments.allow_memory);
  command.add_flag("--fresh", arguments.fresh,
                   "search from scratch instead of resuming from earlier records; the best recorded program "
                   "is still timed again");
}

void add_shared_budget(CLI::App& command, TuneArguments& arguments) {
  add_budget(command, arguments,
             "number of candidates to measure for all workloads together (default: 256; with several "
             "workloads 64 for each; with --minutes unlimited)",
             "time limit in minutes for all workloads together; with several, including the final ranking");
  command
      .add_option("--weight", arguments.weights,
                  "weight of each workload, in order, separated by commas (default: 1, or the suite's "
                  "weights; for a network's layers the number of calls)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(positive());
  command
      .add_option("--goal", arguments.goal,
                  "objective for several workloads: 'total', the sum of weight * time, or 'geomean', the "
                  "geometric mean of their times (default: total if there are weights, else geomean)")
      ->check(CLI::IsMember({"total", "geomean"}));
}

}  // namespace

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("tune", "search for fast programs and record all measurements");
  command->footer(
      "Example: tunesmith tune gmm:n=512,m=512,k=512 --trials 128\n"
      "         tunesmith tune gmm:n=512,m=512,k=512 softmax:m=512,n=512 --minutes 5");
  command
      ->add_option("workload", arguments.workloads,
                   "one or more: NAME:PARAM=VALUE,..., FILE.yaml:PARAM=VALUE,..., or SUITE.yaml, a file that "
                   "lists workloads; several share one budget")
      ->required();
  command->add_flag("-v,--verbose", arguments.verbose,
                    "for one workload: also print cost-model accuracy and a time breakdown");
  command
      ->add_option("--against", arguments.against,
                   "for one built-in workload: also time the best program in turn with a library called from "
                   "Python: torch, onnxruntime, blas, or best for all that are installed")
      ->check(CLI::IsMember({"torch", "onnxruntime", "blas", "best"}));
  add_shared_budget(*command, arguments);
  add_search(*command, arguments);
  command->add_option(
      "--model-file", arguments.model_file,
      "file that the cost model is loaded from if it exists and, with one workload, saved to at the end");
  add_common(*command, common, true);
  command->callback([&] { code = run_tune(common, arguments); });
}

CLI::Option* add_untuned(CLI::App& command, bool& untuned, int64_t& draws, const std::string& when) {
  CLI::Option* const flag =
      command.add_flag("--untuned", untuned,
                       fmt::format("{}, build without a search: draw --draws programs, verify the best few "
                                   "by the cost model and take the fastest",
                                   when));
  command.add_option("--draws", draws, "number of programs that --untuned draws for a task")
      ->capture_default_str()
      ->check(positive())
      ->needs(flag);
  return flag;
}

void add_task_budget(CLI::App& command, TuneArguments& arguments) {
  add_budget(command, arguments,
             "number of candidates to measure for all tasks together (default: 64 for each; with --minutes "
             "unlimited)",
             "time limit of tuning in minutes, including the final ranking but not the build");
  add_search(command, arguments);
}

void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("build", "build a C library from the best program found");
  command->footer("Example: tunesmith build gmm:n=512,m=512,k=512 --output lib");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
  command->add_option("--output,-o", arguments.output, "folder for lib<name>.so and <name>.h")
      ->capture_default_str();
  command->add_option("--name", arguments.name,
                      "name of the library and prefix of its functions (default: the workload's name)");
  command->add_flag("--example", arguments.example,
                    "also write example programs in C and Python that call the library");
  CLI::Option* const trace = command->add_option("--trace", arguments.trace,
                                                 "trace file or record id to use instead of the best record");
  add_untuned(*command, arguments.untuned, arguments.draws, "if there is no record")->excludes(trace);
  add_threads(*command, arguments.threads, "number of threads that the workload was tuned for");
  add_candidate_time_out(*command, arguments.candidate_time_out, "verifying a program without a record");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, true);
  command->callback([&] { code = run_build(common, arguments); });
}

void add_bench(CLI::App& app, Common& common, BenchArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("bench", "verify programs and time them in turn, beside the machine's peak");
  command->footer("Example: tunesmith bench gmm:n=512,m=512,k=512 --compare unscheduled --compare my.trace");
  command->add_option("workload", arguments.workloads, "one or more: NAME:PARAM=VALUE,...")->required();
  command->add_option("--trace", arguments.trace,
                      "trace file or record id to use instead of the best record");
  command
      ->add_option("--compare", arguments.compare,
                   "another program to time (may be repeated): 'unscheduled', 'space:NAME' for the best "
                   "record of that space, a trace file, or a record id")
      ->allow_extra_args(false);
  command->add_option("--rounds", arguments.rounds, "number of timings of each program")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  add_threads(*command, arguments.threads, "number of threads that run candidates");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, true);
  command->callback([&] { code = run_bench(common, arguments); });
}

void add_measure(CLI::App& app, Common& common, MeasureArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "measure", "measure candidates and jobs exported on another machine and record the results");
  command->footer("Example: tunesmith measure jobs.jsonl --lines > back.jsonl");
  command->add_option("file", arguments.file,
                      "file of lines from `trace export` (default: standard input); recorded candidates are "
                      "not measured again");
  command->add_flag(
      "--lines", arguments.lines,
      "print the records as lines for `records import`, and all other output on standard error");
  add_not_negative(*command, "--threads", arguments.threads,
                   "number of threads that run candidates; 0 = as in each line");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  command->add_flag("--fresh", arguments.fresh, "also measure candidates that are recorded already");
  add_common(*command, common, true);
  command->callback([&] { code = run_measure(common, arguments); });
}

}  // namespace tunesmith::cli

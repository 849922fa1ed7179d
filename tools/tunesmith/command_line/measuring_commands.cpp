// The options of the commands that measure: tune, build, bench and measure.
#include <fmt/format.h>

#include "options.h"

namespace tunesmith::cli {
namespace {

/// Replacements of the space's searcher and cost model.
void add_search_overrides(CLI::App& command, TuneArguments& arguments) {
  command.add_option("--search", arguments.search,
                     "NAME, or NAME:TRIALS,...,NAME for several one after the other: the searchers to use "
                     "instead of the space's");
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
                  "a workload is not searched any more when its next round is expected to "
                  "improve the goal by less than this many percent; 0 = never (default: 0; where minutes "
                  "alone end the run, 0.05 divided by the number of workloads)")
      ->check(not_negative());
}

/// The options of the search.
void add_search(CLI::App& command, TuneArguments& arguments) {
  command
      .add_option("--batch", arguments.batch,
                  "candidates that the searcher proposes at a time: a round (default: 64; of several "
                  "workloads 16)")
      ->check(positive());
  add_not_negative(command, "--seed", arguments.seed,
                   "seed of the random numbers: the same seed draws the same candidates");
  add_search_overrides(command, arguments);
  add_threads(command, arguments.threads, "number of threads to measure with");
  add_not_negative(command, "--time-limit", arguments.time_limit,
                   "seconds after which the search ends; 0 = none");
  add_candidate_time_out(command, arguments.candidate_time_out, "one candidate");
  add_database(command, arguments.database);
  add_allow_memory(command, arguments.allow_memory);
  command.add_flag(
      "--fresh", arguments.fresh,
      "search anew instead of resuming from earlier records; the best on record is only timed again");
}

void add_shared_budget(CLI::App& command, TuneArguments& arguments) {
  add_budget(command, arguments,
             "number of candidates to measure, of all workloads together (default: 256; of several workloads "
             "64 for each; with --minutes any number)",
             "minutes that all workloads together may take; of several, the final ranking included");
  command
      .add_option("--weight", arguments.weights,
                  "how much each workload counts, in their order, with commas (default: 1, or as a suite "
                  "says); a network's layers count as often as they are called")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(positive());
  command
      .add_option(
          "--goal", arguments.goal,
          "what several workloads are tuned for: 'total', the sum of weight * time, or 'geomean', the "
          "geometric mean of their times (default: total when there are weights, else geomean)")
      ->check(CLI::IsMember({"total", "geomean"}));
}

}  // namespace

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("tune", "search for fast programs, and record everything that is measured");
  command->footer(
      "Example: tunesmith tune gmm:n=512,m=512,k=512 --trials 128\n"
      "         tunesmith tune gmm:n=512,m=512,k=512 softmax:m=512,n=512 --minutes 5");
  command
      ->add_option("workload", arguments.workloads,
                   "one or more: NAME:PARAM=VALUE,..., FILE.yaml:PARAM=VALUE,..., or SUITE.yaml, a file that "
                   "lists workloads; several share one budget")
      ->required();
  command->add_flag("-v,--verbose", arguments.verbose,
                    "of one workload: also print the cost model's accuracy, and where the time went");
  command
      ->add_option("--against", arguments.against,
                   "of one built-in workload: also time a library that Python has in turn with the best "
                   "program: torch, onnxruntime, blas, or best, all that are installed")
      ->check(CLI::IsMember({"torch", "onnxruntime", "blas", "best"}));
  add_shared_budget(*command, arguments);
  add_search(*command, arguments);
  command->add_option("--model-file", arguments.model_file,
                      "the cost model is loaded from this file when it exists, and saved there at the end, "
                      "unless there are several workloads");
  add_common(*command, common, true);
  command->callback([&] { code = run_tune(common, arguments); });
}

CLI::Option* add_untuned(CLI::App& command, bool& untuned, int64_t& draws, const std::string& when) {
  CLI::Option* const flag =
      command.add_flag("--untuned", untuned,
                       fmt::format("{}, take the first program: of --draws the best few by the cost model "
                                   "are verified, the fastest is taken",
                                   when));
  command.add_option("--draws", draws, "programs that --untuned draws of a task")
      ->capture_default_str()
      ->check(positive())
      ->needs(flag);
  return flag;
}

void add_task_budget(CLI::App& command, TuneArguments& arguments) {
  add_budget(
      command, arguments,
      "number of candidates to measure, of all tasks together (default: 64 for each; with --minutes any "
      "number)",
      "minutes that tuning may take, the final ranking included; building comes after it");
  add_search(command, arguments);
}

void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("build", "write the best program found as a C library");
  command->footer("Example: tunesmith build gmm:n=512,m=512,k=512 --output lib");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
  command->add_option("--output,-o", arguments.output, "folder for lib<name>.so and <name>.h")
      ->capture_default_str();
  command->add_option("--name", arguments.name,
                      "name of the library and prefix of its functions (default: the workload's name)");
  command->add_flag("--example", arguments.example,
                    "also write a program in C and one in Python that call the library");
  CLI::Option* const trace = command->add_option(
      "--trace", arguments.trace, "a trace's file or a record's id, to be used instead of the best record");
  add_untuned(*command, arguments.untuned, arguments.draws, "where there is no record")->excludes(trace);
  add_threads(*command, arguments.threads, "number of threads that it was tuned for");
  add_candidate_time_out(*command, arguments.candidate_time_out, "verifying a program without a record");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, true);
  command->callback([&] { code = run_build(common, arguments); });
}

void add_bench(CLI::App& app, Common& common, BenchArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "bench", "verify programs, and time them in turn with each other and with the machine's peak");
  command->footer("Example: tunesmith bench gmm:n=512,m=512,k=512 --compare unscheduled --compare my.trace");
  command->add_option("workload", arguments.workloads, "one or more: NAME:PARAM=VALUE,...")->required();
  command->add_option("--trace", arguments.trace,
                      "a trace's file or a record's id, to be used instead of the best record");
  command
      ->add_option(
          "--compare", arguments.compare,
          "another program to time (may be given several times): 'unscheduled', 'space:NAME' for the "
          "best record of that space, a trace's file, or a record's id")
      ->allow_extra_args(false);
  command->add_option("--rounds", arguments.rounds, "number of times that each program is timed")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  add_threads(*command, arguments.threads, "number of threads to measure with");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, true);
  command->callback([&] { code = run_bench(common, arguments); });
}

void add_measure(CLI::App& app, Common& common, MeasureArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "measure", "measure candidates and jobs that another machine wrote, and record what came of them");
  command->footer("Example: tunesmith measure jobs.jsonl --lines > back.jsonl");
  command->add_option(
      "file", arguments.file,
      "lines of `trace export` (default: standard input); those on record are not measured again");
  command->add_flag("--lines", arguments.lines,
                    "print the records as lines for `records import`, and all else to standard error");
  add_not_negative(*command, "--threads", arguments.threads,
                   "number of threads to measure with; 0 = as each line says");
  add_database(*command, arguments.database);
  add_allow_memory(*command, arguments.allow_memory);
  command->add_flag("--fresh", arguments.fresh, "measure again what is on record");
  add_common(*command, common, true);
  command->callback([&] { code = run_measure(common, arguments); });
}

}  // namespace tunesmith::cli

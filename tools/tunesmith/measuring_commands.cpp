// The options of the commands that measure: tune, build and bench.
#include <CLI/CLI.hpp>

#include "options.h"

namespace tunesmith::cli {
namespace {

void add_allow_memory(CLI::App& command, bool& allow) {
  command.add_flag("--allow-memory", allow, "go on where measuring takes more memory than is available");
}

}  // namespace

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("tune", "search for a fast program, and record everything that is measured");
  command->footer("Example: tunesmith tune gmm:n=512,m=512,k=512 --trials 128");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")
      ->required();
  command->add_option("--trials", arguments.trials, "number of candidates to measure")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--batch", arguments.batch, "candidates that the searcher proposes at a time")
      ->capture_default_str()
      ->check(positive());
  command
      ->add_option("--seed", arguments.seed,
                   "seed of the random numbers: the same seed draws the same candidates")
      ->capture_default_str();
  command
      ->add_option("--threads", arguments.threads,
                   "number of threads to measure with; 0 = one for each processor")
      ->capture_default_str()
      ->check(not_negative());
  command->add_option("--time-limit", arguments.time_limit, "seconds after which the search ends; 0 = none")
      ->capture_default_str()
      ->check(not_negative());
  command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "seconds that one candidate may take")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--database", arguments.database,
                      "the file of the records (default: tunesmith/records.db in the user's data folder)");
  command->add_option("--model-file", arguments.model_file,
                      "the cost model is loaded from this file when it exists, and saved there at the end");
  add_allow_memory(*command, arguments.allow_memory);
  command->add_flag("--fresh", arguments.fresh,
                    "measure everything again instead of resuming from earlier records");
  add_common(*command, common, true);
  command->callback([&] { code = run_tune(common, arguments); });
}

void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("build", "write the best program found as a C library");
  command->footer("Example: tunesmith build gmm:n=512,m=512,k=512 --output lib");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
  command->add_option("--output,-o", arguments.output, "folder for lib<name>.so and <name>.h")
      ->capture_default_str();
  command->add_option("--name", arguments.name,
                      "name of the library and prefix of its functions (default: the workload's name)");
  command->add_option("--trace", arguments.trace,
                      "a trace's file or a record's id, to be used instead of the best record");
  command
      ->add_option("--threads", arguments.threads,
                   "number of threads that it was tuned for; 0 = one for each processor")
      ->capture_default_str()
      ->check(not_negative());
  command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "seconds that verifying a program without a record may take")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--database", arguments.database,
                      "the file of the records (default: tunesmith/records.db in the user's data folder)");
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
  command
      ->add_option("--threads", arguments.threads,
                   "number of threads to measure with; 0 = one for each processor")
      ->capture_default_str()
      ->check(not_negative());
  command
      ->add_option("--candidate-time-out", arguments.candidate_time_out, "seconds that one program may take")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--database", arguments.database,
                      "the file of the records (default: tunesmith/records.db in the user's data folder)");
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, true);
  command->callback([&] { code = run_bench(common, arguments); });
}

}  // namespace tunesmith::cli

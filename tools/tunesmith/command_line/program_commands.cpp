// The options of the commands that look at programs: workloads, features, trace and opt.
#include "options.h"

namespace tunesmith::cli {

void add_features(CLI::App& app, Common& common, FeaturesArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("features", "print the features that a cost model is given of a program");
  command->footer("Example: tunesmith features gmm:n=512,m=512,k=512 --trace 0123456789abcdef");
  command->add_option("workload", arguments.workload,
                      "NAME:PARAM=VALUE,...; without one, all features are listed with their meaning");
  command->add_option("--trace", arguments.trace,
                      "a trace's file, or a record's id, instead of a program drawn from the space");
  add_database(*command, arguments.database);
  add_not_negative(*command, "--seed", arguments.seed,
                   "seed of the random numbers that the program is drawn with");
  add_common(*command, common, true);
  command->callback([&] { code = run_features(common, arguments); });
}

void add_workloads(CLI::App& app, Common& common, std::string& workload, int& code) {
  CLI::App* group =
      add_group(app, "workloads", "show the built-in operators", "workloads show conv2d:h=14,w=14");
  CLI::App* list = group->add_subcommand("list", "list names, parameters and their defaults");
  add_common(*list, common, false);
  list->callback([&] { code = run_workloads_list(common); });
  CLI::App* show = group->add_subcommand("show", "print the program of one workload");
  show->add_option("workload", workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")->required();
  add_common(*show, common, false);
  show->callback([&] { code = run_workloads_show(common, workload); });
}

void add_check_verification(CLI::App& app, Common& common, CheckVerificationArguments& arguments, int& code) {
  CLI::App* command =
      app.get_subcommand("workloads")
          ->add_subcommand(
              "check-verification",
              "make wrong programs on purpose, and report whether verification accepts any; nothing "
              "is timed, so it waits only while another run measures");
  command->footer("Example: tunesmith workloads check-verification mine.yaml softmax:m=64 --types f32,bf16");
  command->add_option("workload", arguments.workloads, "one or more; the suite when there is none");
  command->add_option("--types", arguments.types, "values for the parameter dtype, with commas")
      ->delimiter(',');
  add_not_negative(*command, "--programs", arguments.programs,
                   "programs of the space, besides the unscheduled one");
  add_positive(*command, "--places", arguments.sites, "places for each kind of mistake in one program");
  add_not_negative(*command, "--seed", arguments.seed, "of the programs");
  add_threads(*command, arguments.threads, "number of threads to measure with");
  add_not_negative(*command, "--time-limit", arguments.time_limit,
                   "seconds after which no workload is begun; 0 = none");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_common(*command, common, true);
  command->callback([&] { code = run_workloads_check_verification(common, arguments); });
}

void add_trace(CLI::App& app, Common& common, TraceArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "trace", "show, replay and compare traces", "trace show 0123456789abcdef --lowered");
  const auto add = [&](const char* name, const char* help, int (*run)(const Common&, const TraceArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("trace", arguments.trace, "a file, or a record's id")->required();
    add_database(*command, arguments.database);
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  CLI::App* show = add("show", "print a trace, and on request the program that it makes", run_trace_show);
  show->add_option("--workload", arguments.workload, "the workload that a trace in a file is for");
  show->add_flag("--sequence", arguments.sequence,
                 "also print the task, the sketch, and each decision with its choices (docs/proposals.md)");
  show->add_flag("--program", arguments.program, "also print the scheduled program");
  show->add_flag("--passes", arguments.passes, "also print the program after each step of lowering");
  show->add_flag("--lowered", arguments.lowered, "also print the finished program, lowered");
  show->add_flag("--waste", arguments.waste,
                 "also print wasteful memory accesses (targets with a grid of threads)");
  show->add_flag("--code", arguments.code,
                 "also print the source text that the target hands to a compiler (targets that have one)");
  show->add_flag("--assembly", arguments.assembly, "also print the target's code");
  add("replay", "check that a trace is legal on a workload, and say which decisions were changed",
      run_trace_replay)
      ->add_option("--workload", arguments.workload,
                   "the workload: needed for a trace in a file; for a record, another one than its own");
  CLI::App* export_command =
      add("export",
          "write a trace, its workload and its target as one line for another machine, to `measure` there",
          run_trace_export);
  export_command->add_option("--workload", arguments.workload, "the workload that a trace in a file is for");
  export_command->add_option("--output,-o", arguments.output, "the file to write (default: standard output)");
  export_command
      ->add_option("--repeats", arguments.repeats,
                   "write a job, of so many timed repeats (default: as usual)")
      ->check(positive());
  export_command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "write a job, which may take so many seconds (default: as usual)")
      ->check(positive());
  CLI::App* check =
      group->add_subcommand("check", "say whether lines of `trace export` make the same programs here");
  check->add_option("file", arguments.trace, "a file of such lines")->required();
  add_common(*check, common, true);
  check->callback([&] { code = run_trace_check(common, arguments); });
  add("diff", "print what differs between two traces", run_trace_diff)
      ->add_option("other", arguments.other, "a file, or a record's id")
      ->required();
}

void add_opt(CLI::App& app, Common& common, OptArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("opt", "change a program that is text, and print it");
  command->footer("Example: tunesmith opt gmm.program --apply 'b = get_block(\"C\")' --until flatten");
  command->add_option("file", arguments.file,
                      "a file with a program, as `workloads show` and `trace show` print it, or with a "
                      "workload; NAME:PARAM=VALUE,...; - for standard input");
  command->add_option("--apply", arguments.apply,
                      "instructions as in a trace, one after the other; before any pass");
  command->add_option("--pass", arguments.passes, "passes by their names, one after the other")
      ->delimiter(',');
  command->add_option("--until", arguments.until, "all steps of lowering up to this one");
  command->add_flag("--lower", arguments.lower, "all steps of lowering");
  command->add_flag("--list", arguments.list, "list the passes");
  command->add_flag("--check", arguments.check,
                    "also check that the resulting program is well formed and computes the same as before");
  command
      ->add_option("--vector-bits", arguments.vector_bits,
                   "of the target (default: 128; with --space its own)")
      ->check(positive());
  add_common(*command, common, true);
  command->callback([&] { code = run_opt(common, arguments); });
}

}  // namespace tunesmith::cli

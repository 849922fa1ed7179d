// The options of the commands that look at programs: workloads, features, trace and opt.
#include "options.h"

namespace tunesmith::cli {

void add_features(CLI::App& app, Common& common, FeaturesArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("features", "print a program's cost-model features");
  command->footer("Example: tunesmith features gmm:n=512,m=512,k=512 --trace 0123456789abcdef");
  command->add_option("workload", arguments.workload,
                      "NAME:PARAM=VALUE,... (default: list all features with their meaning)");
  command->add_option("--trace", arguments.trace,
                      "trace file or record id (default: draw a program from the space)");
  add_database(*command, arguments.database);
  add_not_negative(*command, "--seed", arguments.seed, "random seed of the drawn program");
  add_common(*command, common, true);
  command->callback([&] { code = run_features(common, arguments); });
}

void add_workloads(CLI::App& app, Common& common, std::string& workload, int& code) {
  CLI::App* group =
      add_group(app, "workloads", "show the built-in operators", "workloads show conv2d:h=14,w=14");
  CLI::App* list = group->add_subcommand("list", "list the workloads with their parameters and defaults");
  add_common(*list, common, false);
  list->callback([&] { code = run_workloads_list(common); });
  CLI::App* show = group->add_subcommand("show", "print a workload's program");
  show->add_option("workload", workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")->required();
  add_common(*show, common, false);
  show->callback([&] { code = run_workloads_show(common, workload); });
}

void add_check_verification(CLI::App& app, Common& common, CheckVerificationArguments& arguments, int& code) {
  CLI::App* command = app.get_subcommand("workloads")
                          ->add_subcommand("check-verification",
                                           "check verification by mutation: make wrong programs and report "
                                           "those that verification accepts; nothing is timed");
  command->footer("Example: tunesmith workloads check-verification mine.yaml softmax:m=64 --types f32,bf16");
  command->add_option("workload", arguments.workloads, "workloads to check (default: the suites)");
  command->add_option("--types", arguments.types, "values of the parameter dtype, separated by commas")
      ->delimiter(',');
  add_not_negative(*command, "--programs", arguments.programs,
                   "number of programs of the space, besides the unscheduled one");
  add_positive(*command, "--places", arguments.sites,
               "number of places to mutate in a program for each kind of mistake");
  add_not_negative(*command, "--seed", arguments.seed, "random seed of programs and mutations");
  add_threads(*command, arguments.threads, "number of threads that run candidates");
  add_not_negative(*command, "--time-limit", arguments.time_limit,
                   "seconds after which no further workload is started; 0 = no limit");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_common(*command, common, true);
  command->callback([&] { code = run_workloads_check_verification(common, arguments); });
}

void add_trace(CLI::App& app, Common& common, TraceArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "trace", "show, replay and compare traces", "trace show 0123456789abcdef --lowered");
  const auto add = [&](const char* name, const char* help, int (*run)(const Common&, const TraceArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("trace", arguments.trace, "trace file or record id")->required();
    add_database(*command, arguments.database);
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  CLI::App* show = add("show", "print a trace and, on request, its program", run_trace_show);
  show->add_option("--workload", arguments.workload, "workload of a trace file");
  show->add_flag("--sequence", arguments.sequence,
                 "also print the task, the sketch and each decision with its choices as a token sequence "
                 "(docs/proposals.md)");
  show->add_flag("--program", arguments.program, "also print the scheduled program");
  show->add_flag("--passes", arguments.passes, "also print the program after each lowering step");
  show->add_flag("--lowered", arguments.lowered, "also print the lowered program");
  show->add_flag("--waste", arguments.waste,
                 "also print inefficient memory accesses (only targets with a grid of threads)");
  show->add_flag("--code", arguments.code,
                 "also print the generated source (only targets that generate source)");
  show->add_flag("--assembly", arguments.assembly, "also print the generated assembly");
  add("replay", "check that a trace is legal on a workload and list the decisions that were changed",
      run_trace_replay)
      ->add_option("--workload", arguments.workload,
                   "workload to replay on; required for a trace file (default: the record's)");
  CLI::App* export_command =
      add("export", "write a trace with its workload and target as one line, to `measure` on another machine",
          run_trace_export);
  export_command->add_option("--workload", arguments.workload, "workload of a trace file");
  export_command->add_option("--output,-o", arguments.output, "output file (default: standard output)");
  export_command
      ->add_option("--repeats", arguments.repeats,
                   "write a job with this number of timed repeats (default: the measuring machine's)")
      ->check(positive());
  export_command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "write a job with this time limit in seconds (default: the measuring machine's)")
      ->check(positive());
  CLI::App* check = group->add_subcommand(
      "check", "check that lines of `trace export` give the same programs on this machine");
  check->add_option("file", arguments.trace, "file of lines from `trace export`")->required();
  add_common(*check, common, true);
  check->callback([&] { code = run_trace_check(common, arguments); });
  add("diff", "print the differences of two traces", run_trace_diff)
      ->add_option("other", arguments.other, "trace file or record id")
      ->required();
}

void add_opt(CLI::App& app, Common& common, OptArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("opt", "transform a program given as text and print the result");
  command->footer("Example: tunesmith opt gmm.program --apply 'b = get_block(\"C\")' --until flatten");
  command->add_option("file", arguments.file,
                      "file with a program, as printed by `workloads show` and `trace show`, or with a "
                      "workload; NAME:PARAM=VALUE,...; or - for standard input");
  command->add_option("--apply", arguments.apply, "trace instructions to apply in order, before any pass");
  command->add_option("--pass", arguments.passes, "passes to run in order")->delimiter(',');
  command->add_option("--until", arguments.until, "run the lowering steps up to this one");
  command->add_flag("--lower", arguments.lower, "run all lowering steps");
  command->add_flag("--list", arguments.list, "list the passes");
  command->add_flag(
      "--check", arguments.check,
      "also check that the resulting program is well-formed and computes the same as the input");
  command
      ->add_option("--vector-bits", arguments.vector_bits,
                   "vector width of the target in bits (default: 128; with --space the target's)")
      ->check(positive());
  add_common(*command, common, true);
  command->callback([&] { code = run_opt(common, arguments); });
}

}  // namespace tunesmith::cli

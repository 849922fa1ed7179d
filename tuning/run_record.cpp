#include "run_record.h"

#include <fmt/format.h>

#include "tunesmith/measure/verifier_version.h"
#include "tunesmith/target/separate_device.h"

namespace tunesmith {

RecordedRun make_run(const Space& space, const Environment& environment, const TuneOptions& options) {
  RecordedRun run;
  run.id = make_id();
  run.command = options.command;
  run.seed = options.seed;
  run.space = space.spec().name;
  run.rules_hash = space.rules_hash();
  run.environment = environment.hash();
  run.searcher = space.search_text();
  run.cost_model = space.cost_model_text();
  run.threads = options.measure_threads;
  run.options = fmt::format("trials={} batch={} final_candidates={} final_rounds={}", options.trials,
                            options.batch, options.final_candidates, options.final_rounds);
  run.code_generator = space.target().fingerprint();
  run.began_ms = now_ms();
  return run;
}

Record common_record(const TaskKey& task, const RecordedRun& run, const std::string& workload) {
  Record record;
  record.workload = workload;
  record.workload_hash = task.workload_hash;
  record.target = task.target;
  record.threads = task.threads;
  record.device = task.device;
  record.run = run.id;
  record.environment = run.environment;
  record.space = run.space;
  record.rules_hash = run.rules_hash;
  record.seed = run.seed;
  record.verifier = kVerifierVersion;
  return record;
}

TaskKey task_key(const Workload& workload, const Space& space, int threads) {
  return {workload.hash, space.task_target().str(), threads,
          models_times(space.target()) ? kModelledDevice : ""};
}

}  // namespace tunesmith

// Measures on this machine: candidates run in a separate worker process.
#include <tunesmith/measuring/measuring_place.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/thread_pool.h>

namespace {

using namespace tunesmith;

class ThisMachine final : public MeasuringPlace {
 public:
  bool here() const override { return true; }

  MeasuredOn measured_on(const Space& space, int threads) override {
    return {detect_environment(space.plugin_versions()),
            threads > 0 ? threads : static_cast<int>(available_processors())};
  }

  std::unique_ptr<Runner> make_runner(const RunnerTask& task) override {
    return make_worker_runner(task.workload, task.space.target(), task.worker_target, task.options);
  }
};

}  // namespace

TUNESMITH_PLUGIN(ThisMachine, PluginKind::Runner, "local", "1.0.0",
                 "measures on this machine, in a separate process");

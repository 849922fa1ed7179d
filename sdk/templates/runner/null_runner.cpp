// A runner that measures on this machine, as the built-in one does: the start of a new one. The interface is
// documented in <tunesmith/measuring/measuring_place.h> and <tunesmith/measure/runner.h>.
#include <tunesmith/measuring/measuring_place.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/thread_pool.h>

namespace {

using namespace tunesmith;

class NullRunner final : public MeasuringPlace {
 public:
  // False where programs run on other machines: then nothing is asked of this one.
  bool here() const override { return true; }

  // Which machine the times are of, and with how many threads its programs run.
  MeasuredOn measured_on(const Space& space, int threads) override {
    return {detect_environment(space.plugin_versions()),
            threads > 0 ? threads : static_cast<int>(available_processors())};
  }

  // Here: a Runner of your own, which answers each request with a time or a failure.
  std::unique_ptr<Runner> make_runner(const RunnerTask& task) override {
    return make_worker_runner(task.workload, task.space.target(), task.worker_target, task.options);
  }
};

}  // namespace

// Class, kind, id, version, one line of help, options.
TUNESMITH_PLUGIN(NullRunner, PluginKind::Runner, "null_runner", "0.1.0", "measures on this machine");

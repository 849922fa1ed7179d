// A runner that measures on this machine, like the built-in one: a start for your own. The interface is
// documented in <tunesmith/measuring/measuring_place.h> and <tunesmith/measure/runner.h>.
#include <tunesmith/measuring/measuring_place.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/thread_pool.h>

namespace {

using namespace tunesmith;

class NullRunner final : public MeasuringPlace {
 public:
  // False if programs run on other machines: then this machine's lock and peaks do not apply.
  bool here() const override { return true; }

  // Returns the machine that measures, and the number of threads of its programs.
  MeasuredOn measured_on(const Space& space, int threads) override {
    return {detect_environment(space.plugin_versions()),
            threads > 0 ? threads : static_cast<int>(available_processors())};
  }

  // Here: return your own Runner, which answers each request with a time or a failure.
  std::unique_ptr<Runner> make_runner(const RunnerTask& task) override {
    return make_worker_runner(task.workload, task.space.target(), task.worker_target, task.options);
  }
};

}  // namespace

// Class, kind, id, version, one line of help, options.
TUNESMITH_PLUGIN(NullRunner, PluginKind::Runner, "null_runner", "0.1.0", "measures on this machine");

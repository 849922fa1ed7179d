// A library that `tunesmith build` wrote, timed in turn with OpenBLAS, oneDNN, a copy of the same bytes and
// the machine's peak, all in one process. bench/peaks.py calls it for the traces of sdk/examples/traces.
//
// Usage: bench_libraries WORKLOAD LIBRARY NAME ROUNDS
// Prints one JSON object: the 10th percentile of each contestant's seconds, and how far its result is from
// the library's. As many threads as the process may use.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "llvm_target.h"
#include "problem.h"
#include "tunesmith/measuring/machine_lock.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/tuning/ranking.h"
#include "tunesmith/workload/library.h"

namespace {

using tunesmith::bench::Contestant;
using tunesmith::bench::Memory;
using tunesmith::llvm_target::LlvmTarget;
using Clock = std::chrono::steady_clock;

/// The duration of a sample, and of the warming calls before it:
/// the caches are then as if the kernel were called repeatedly.
constexpr double kSampleSeconds = 500e-6;
/// Long enough for idle threads of the previous library to go to sleep.
constexpr auto kPause = std::chrono::milliseconds(40);

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// An opened built library; `name`: its function.
class BuiltLibrary {
 public:
  BuiltLibrary(const std::string& path, const std::string& name) : handle_(dlopen(path.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) throw tunesmith::EnvironmentError(dlerror());
    raw_ = reinterpret_cast<Raw>(dlsym(handle_, (name + "_raw").c_str()));
    prepare_ = reinterpret_cast<Raw>(dlsym(handle_, (name + "_prepare_raw").c_str()));
    bytes_ = reinterpret_cast<Bytes>(dlsym(handle_, (name + "_prepared_bytes").c_str()));
    if (raw_ == nullptr) throw tunesmith::EnvironmentError(path + " has no " + name + "_raw");
  }

  /// Prepares constant inputs if the library does so: appends the prepared memory to `buffers`. Returns the
  /// seconds it took.
  double prepare(std::vector<void*>& buffers) {
    if (prepare_ == nullptr) return 0.0;
    prepared_ = tunesmith::bench::aligned(static_cast<int64_t>(bytes_()));
    buffers.push_back(prepared_.get());
    check(prepare_(buffers.data()));
    const auto begin = Clock::now();
    check(prepare_(buffers.data()));
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  void call(const std::vector<void*>& buffers) const { check(raw_(buffers.data())); }

 private:
  using Raw = int (*)(void* const*);
  using Bytes = size_t (*)();
  static void check(int code) {
    if (code != 0) throw tunesmith::EnvironmentError(fmt::format("the library answers {}", code));
  }
  void* handle_;
  Raw raw_;
  Raw prepare_;
  Bytes bytes_;
  Memory prepared_{nullptr, std::free};
};

/// The machine's multiply-adds of a type on all processors.
class Peak {
 public:
  Peak(tunesmith::DType type, int threads)
      : target_(
            tunesmith::Options::defaults(tunesmith::llvm_target::TargetOptions::specs(), "target 'llvm'")),
        pool_(tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy) {
    const tunesmith::PeakKernel peak = target_.peak_kernel(type, threads);
    operations_ = peak.operations;
    workspace_ = tunesmith::bench::aligned(std::max<int64_t>(peak.kernel.workspace_bytes, 64));
    kernel_ = target_.load(peak.kernel);
  }
  double operations() const { return operations_; }
  void call() const {
    kernel_->entry()(nullptr, workspace_.get(), tunesmith_runtime_parallel_for, pool_.get());
  }

 private:
  LlvmTarget target_;
  std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)> pool_;
  std::unique_ptr<tunesmith::LoadedKernel> kernel_;
  Memory workspace_{nullptr, std::free};
  double operations_ = 0.0;
};

double seconds_of(const std::function<void()>& call, int calls) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

/// A contestant's samples of `calls` calls each.
struct Timed {
  Contestant contestant;
  int calls = 1;
  std::vector<double> samples;
};

void run_rounds(std::vector<Timed>& all, int rounds, bool pause) {
  for (Timed& one : all) {
    one.contestant.call();
    const double once = std::max(1e-7, seconds_of(one.contestant.call, 1));
    one.calls = std::max(1, static_cast<int>(kSampleSeconds / once));
  }
  for (int round = 0; round < rounds; ++round) {
    for (Timed& one : all) {
      if (pause) std::this_thread::sleep_for(kPause);
      seconds_of(one.contestant.call, one.calls);
      one.samples.push_back(seconds_of(one.contestant.call, one.calls));
    }
  }
}

int run(int argc, char** argv) {
  if (argc != 5) throw tunesmith::UserError("usage: bench_libraries WORKLOAD LIBRARY NAME ROUNDS");
  tunesmith::bench::Problem problem(tunesmith::WorkloadLibrary().load(argv[1]));
  const tunesmith::Workload& workload = problem.workload();
  const int threads = processors();
  const Peak peak(workload.program.inputs[0]->dtype, threads);
  BuiltLibrary library(argv[2], argv[3]);
  std::vector<void*> buffers = problem.buffers();
  const double prepare_seconds = library.prepare(buffers);

  std::vector<Contestant> contestants = {{"peak", [&] { peak.call(); }, {}},
                                         {"tunesmith", [&] { library.call(buffers); }, {}},
                                         {"copy", problem.copy(), {}}};
  for (const auto& more : {tunesmith::bench::tile(problem, threads),
                           tunesmith::bench::openblas(problem, threads), tunesmith::bench::onednn(problem)})
    contestants.insert(contestants.end(), more.begin(), more.end());
  std::vector<Timed> all;
  for (Contestant& contestant : contestants) all.push_back({std::move(contestant), 1, {}});
  {
    const auto turn = tunesmith::MachineLock().wait(tunesmith::MachineLock::Use::Measure);
    run_rounds(all, std::atoi(argv[4]), threads > 1);
  }

  nlohmann::json result{{"workload", workload.key},
                        {"threads", threads},
                        {"flops", workload.flops},
                        {"bytes", workload.bytes_min},
                        {"peak_operations", peak.operations()},
                        {"prepare_seconds", prepare_seconds}};
  for (const Timed& one : all) {
    nlohmann::json& entry = result["seconds"][one.contestant.name];
    entry = tunesmith::quantile_interval(one.samples, tunesmith::kTimeQuantile).value;
    if (one.contestant.difference) result["difference"][one.contestant.name] = one.contestant.difference();
  }
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_libraries: {}\n", error.what());
    return 4;
  }
}

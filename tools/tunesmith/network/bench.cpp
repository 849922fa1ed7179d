// `network bench`: times a call of a built library step by step.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/extents.h>
#include <tunesmith/measuring/machine_lock.h>
#include <tunesmith/measuring/peak.h>
#include <tunesmith/network/library_description.h>
#include <tunesmith/network/verify_in_place.h>
#include <tunesmith/runtime/pool.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tuning/ranking.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "peaks.h"
#include "progress/progress.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

using StepClock = std::chrono::steady_clock;

constexpr int kWarmUps = 3;

double seconds_between(StepClock::time_point begin, StepClock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// Runs the library's loops in a pool and measures how long loops take and how long their bodies run.
class WatchedThreads {
 public:
  explicit WatchedThreads(int threads)
      : pool_(tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy) {}

  tunesmith_runtime_pool* pool() const { return pool_.get(); }
  int threads() const { return tunesmith_runtime_pool_threads(pool_.get()); }

  struct Loops {
    int64_t count = 0;
    double seconds = 0;  // the sum of each loop's time from begin to end
    double waiting = 0;  // the part of it in which a thread is idle: the mean over the threads
  };
  /// Returns what was counted since the last call.
  Loops take() {
    Loops taken = loops_;
    taken.waiting = taken.seconds - 1e-9 * static_cast<double>(busy_nanoseconds_.exchange(0)) / threads();
    loops_ = {};
    return taken;
  }

  /// Implements tunesmith_parallel_for with this object as the pool.
  static void run(void* watched, int64_t count, tunesmith_loop_body body, void* closure) {
    auto& self = *static_cast<WatchedThreads*>(watched);
    Body whole{body, closure, &self.busy_nanoseconds_};
    const StepClock::time_point begin = StepClock::now();
    tunesmith_runtime_parallel_for(self.pool(), count, run_chunk, &whole);
    self.loops_.seconds += seconds_between(begin, StepClock::now());
    ++self.loops_.count;
  }

 private:
  struct Body {
    tunesmith_loop_body body;
    void* closure;
    std::atomic<int64_t>* busy_nanoseconds;
  };

  static void run_chunk(void* closure, int64_t begin, int64_t end) {
    const auto& whole = *static_cast<const Body*>(closure);
    const StepClock::time_point from = StepClock::now();
    whole.body(whole.closure, begin, end);
    *whole.busy_nanoseconds += std::chrono::nanoseconds(StepClock::now() - from).count();
  }

  std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool_;
  std::atomic<int64_t> busy_nanoseconds_{0};
  Loops loops_;
};

struct Roofs {
  std::map<std::string, double> peaks;  // arithmetic operations a second, by type
  double bandwidth = 0;                 // of memory, in bytes a second
  double cache_bytes = 0;
  double weight_bytes = 0;  // the sum over all steps

  /// Bytes that a step moves between caches and memory. Values stay in a cache between steps if they fit;
  /// weights stay there between calls if the weights of all steps fit.
  double from_memory(const network::LibraryDescription::Step& step) const {
    const double values = step.bytes_min - step.constant_bytes;
    return (weight_bytes > cache_bytes ? step.constant_bytes : 0) + (values > cache_bytes ? values : 0);
  }
};

/// The higher of the peak measured now and the recorded one: disturbances only lower measurements.
std::optional<Roofs> measure_roofs(Session& session, const network::LibraryDescription& description,
                                   int threads) {
  const std::unique_ptr<Space> space = session.space_for_target();
  Target& target = space->target();
  Benchmarking* const benchmarking = target.benchmarking();
  if (benchmarking == nullptr) return std::nullopt;
  const auto highest = [&](const std::string& quantity, double now) {
    return std::max(now, known_roof("", *space, threads, quantity));
  };
  Roofs roofs;
  for (const network::LibraryDescription::Step& step : description.steps) {
    roofs.weight_bytes += step.constant_bytes;
    const std::optional<DType> type = DType::parse(step.type);
    if (!type || roofs.peaks.contains(step.type)) continue;
    roofs.peaks[step.type] = highest(operations_roof(*type), measure_peak(target, *type, threads));
  }
  roofs.bandwidth = highest(std::string(kCopyRoof), benchmarking->measure_copy_bandwidth(threads));
  const DeviceModel& device = space->device();
  roofs.cache_bytes = std::max(device.get_or("l3_bytes", 0.0), threads * device.get_or("l2_bytes", 0.0));
  return roofs;
}

struct StepTimes {
  std::vector<double> seconds;
  std::vector<double> waiting;  // idle share of the step, from the same call
  int64_t loops = 0;
};

struct CallTimes {
  std::vector<double> seconds;
  std::vector<double> observed;  // sum of the step times, from calls with a clock at each step
  std::vector<StepTimes> steps;
};

/// Alternates three kinds of calls, so that a slow minute affects all: plain calls, calls with a clock at
/// each step, and calls with watched threads.
CallTimes time_calls(network::BuiltLibrary& library, std::span<void* const> data, WatchedThreads& threads,
                     int calls) {
  CallTimes times;
  times.steps.resize(static_cast<size_t>(library.steps()));
  library.set_parallel_for(tunesmith_runtime_parallel_for, threads.pool());
  for (int i = 0; i < kWarmUps; ++i) library.run_plainly(data);
  for (int i = 0; i < calls; ++i) {
    library.set_parallel_for(tunesmith_runtime_parallel_for, threads.pool());
    const StepClock::time_point begin = StepClock::now();
    library.run_plainly(data);
    times.seconds.push_back(seconds_between(begin, StepClock::now()));

    StepClock::time_point last;
    double& all = times.observed.emplace_back(0.0);
    for (StepTimes& step : times.steps) step.seconds.push_back(0.0);
    library.run_plainly(data, [&](int step, void* const*) {
      if (step >= 0) {
        const double seconds = seconds_between(last, StepClock::now());
        times.steps[static_cast<size_t>(step)].seconds.back() += seconds;
        all += seconds;
      }
      last = StepClock::now();
    });

    library.set_parallel_for(WatchedThreads::run, &threads);
    std::vector<double> watched(times.steps.size(), 0.0);
    for (StepTimes& step : times.steps) {
      step.waiting.push_back(0.0);
      step.loops = 0;
    }
    library.run_plainly(data, [&](int step, void* const*) {
      const double seconds = seconds_between(last, StepClock::now());
      const WatchedThreads::Loops loops = threads.take();
      if (step >= 0) {
        StepTimes& of_step = times.steps[static_cast<size_t>(step)];
        watched[static_cast<size_t>(step)] += seconds;
        of_step.waiting.back() += loops.waiting;
        of_step.loops += loops.count;
      }
      last = StepClock::now();
    });
    for (size_t step = 0; step < watched.size(); ++step)
      if (watched[step] > 0) times.steps[step].waiting.back() /= watched[step];
  }
  library.set_parallel_for(nullptr, nullptr);
  return times;
}

double usual(const std::vector<double>& samples) { return quantile_interval(samples, kTimeQuantile).value; }
double median_of(const std::vector<double>& samples) { return quantile_interval(samples, 0.5).value; }

nlohmann::json timed_step_json(const std::string& name, const StepTimes& times,
                               const network::LibraryDescription::Step& step,
                               const std::optional<Roofs>& roofs) {
  const double seconds = usual(times.seconds);
  const double waiting = median_of(times.waiting);
  nlohmann::json json = {{"name", name},
                         {"seconds", seconds},
                         {"median_seconds", median_of(times.seconds)},
                         {"flops", step.flops},
                         {"bytes_min", step.bytes_min},
                         {"operators", step.operators},
                         {"reads", step.reads},
                         {"loops", times.loops},
                         {"waiting_share", waiting},
                         {"type", step.type},
                         {"waiting_seconds", waiting * seconds},
                         {"roof", nullptr},
                         {"share_of_roof", nullptr}};
  if (!roofs || !roofs->peaks.contains(step.type)) return json;
  const double compute = step.flops / roofs->peaks.at(step.type);
  const double memory = roofs->from_memory(step) / roofs->bandwidth;
  // A step whose data stay in caches has no share of the memory's bandwidth.
  const bool cached = step.bytes_min / roofs->bandwidth > compute && memory <= compute;
  json["roof"] = cached ? "cache" : compute > memory ? "compute" : "memory";
  if (!cached) json["share_of_roof"] = std::max(compute, memory) / seconds;
  return json;
}

std::string roof_text(const nlohmann::json& step) {
  if (step["roof"].is_null()) return "-";
  const std::string roof = step["roof"];
  if (roof == "cache") return "in cache";
  return fmt::format("{:5.1f} % {}", 100 * step["share_of_roof"].get<double>(), roof);
}

/// Prints the peaks to which the shares refer.
void print_roofs(const nlohmann::json& said) {
  if (said["peaks_gflops"].is_null()) return;
  std::string peaks;
  for (const auto& [type, peak] : said["peaks_gflops"].items())
    peaks += fmt::format("{:.1f} {} of multiply-adds in {}, ", peak.get<double>(),
                         operations_unit(DType::parse(type).value_or(kF32)), type);
  fmt::print(output(), "roofs: {}{:.1f} GB/s of memory copies\n", peaks,
             said["copy_gbytes_per_second"].get<double>());
  const auto is = [&](const auto& test) { return std::ranges::any_of(said["steps"], test); };
  if (is([](const nlohmann::json& step) { return step["roof"] == "cache"; }))
    fmt::print(output(), "in cache: its data fit in caches, which are faster than memory\n");
  if (is([](const nlohmann::json& step) {
        return step["share_of_roof"].is_number() && step["share_of_roof"] > 1;
      }))
    fmt::print(output(),
               "above 100 %: caches hold part of the data, it skips operations on padding, or the roof was "
               "measured on a disturbed machine\n");
}

nlohmann::json peaks_json(const std::optional<Roofs>& roofs) {
  if (!roofs) return nullptr;
  nlohmann::json peaks = nlohmann::json::object();
  for (const auto& [type, peak] : roofs->peaks) peaks[type] = peak * 1e-9;
  return peaks;
}

void print_times(const nlohmann::json& said) {
  const double call = said["seconds"], sum = said["sum_of_steps"];
  const double median = said["median_seconds"], medians = said["sum_of_medians"];
  const double observed = said["observed_seconds"];
  fmt::print(output(), "step       time  of all   Gop/s  of its roof      loops  waiting  task\n");
  int64_t number = 0;
  double waiting = 0;
  for (const nlohmann::json& step : said["steps"]) {
    const double seconds = step["seconds"];
    fmt::print(output(), "{:4} {:>10}  {:4.1f} %  {:7.1f}  {:15}  {:5}  {:5.1f} %  {}\n", number++,
               seconds_text(seconds), 100 * seconds / sum, step["flops"].get<double>() / seconds * 1e-9,
               roof_text(step), step["loops"].get<int64_t>(), 100 * step["waiting_share"].get<double>(),
               step["name"].get<std::string>());
    waiting += step["waiting_seconds"].get<double>();
  }
  fmt::print(output(),
             "a call takes {} ({} threads); by medians {}, {:.3f} times its steps in other calls, {:.3f} "
             "times the sum of each step's median; threads wait for each other {:.1f} % of the time\n",
             seconds_text(call), said["threads"].get<int>(), seconds_text(median), median / observed,
             median / medians, 100 * waiting / sum);
  print_roofs(said);
}

}  // namespace

int run_network_bench(const Common& common, const NetworkBenchArguments& arguments) {
  Session session(common);
  const network::LibraryDescription description = network::read_description(arguments.folder);
  const std::vector<int64_t> values =
      values_given(description.varying, arguments.dimensions)
          .value_or(highest_values(network::parameters_of(description.varying)));
  network::BuiltLibrary library(arguments.folder, description.facts());
  library.set_extents(values);
  std::vector<Tensor> tensors = network::random_inputs(network::at_values(description.inputs, values), 1);
  for (const network::LibraryArgument& result : network::at_values(description.outputs, values))
    tensors.push_back(Tensor::zeros(result.type.dtype, result.type.shape));
  std::vector<void*> data;
  for (Tensor& tensor : tensors) data.push_back(tensor.bytes.data());
  WatchedThreads threads(arguments.threads);
  const MachineLock::Turn turn = machine_lock()->wait(MachineLock::Use::Measure);
  const std::optional<Roofs> roofs = measure_roofs(session, description, threads.threads());
  const CallTimes times = time_calls(library, data, threads, arguments.calls);

  nlohmann::json steps = nlohmann::json::array();
  double sum = 0, medians = 0;
  for (size_t i = 0; i < times.steps.size(); ++i) {
    steps.push_back(
        timed_step_json(library.step_name(static_cast<int>(i)), times.steps[i], description.steps[i], roofs));
    sum += steps.back()["seconds"].get<double>();
    medians += steps.back()["median_seconds"].get<double>();
  }
  const nlohmann::json said = {
      {"name", description.name},
      {"threads", threads.threads()},
      {"calls", arguments.calls},
      {"extents", network::text_of_values(description.varying, values)},
      {"seconds", usual(times.seconds)},
      {"median_seconds", median_of(times.seconds)},
      {"sum_of_steps", sum},
      {"sum_of_medians", medians},
      {"observed_seconds", median_of(times.observed)},
      {"peaks_gflops", peaks_json(roofs)},
      {"copy_gbytes_per_second", roofs ? nlohmann::json(roofs->bandwidth * 1e-9) : nlohmann::json()},
      {"steps", std::move(steps)}};
  if (common.json) {
    print_json(said);
  } else {
    print_times(said);
  }
  return kDone;
}

}  // namespace tunesmith::cli

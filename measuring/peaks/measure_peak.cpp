#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "runner/disturbance.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/monotonic_clock.h"
#include "tunesmith/target/separate_device.h"

namespace tunesmith {
namespace {

/// Long enough to meet a moment without neighbours and the processor's full clock.
constexpr double kMeasuringSeconds = 0.2;
constexpr int kMinRepeats = 5;
constexpr std::chrono::milliseconds kSamplingInterval{20};
/// The time limit of a unit, which may never return.
constexpr int kUnitSeconds = 10;

/// The result of `measure`, and how long each thread waited for a processor. The
/// threads of its pool end with it, so a separate thread samples them in the meantime.
std::pair<double, std::map<std::string, double>> with_waits(const std::function<double()>& measure) {
  std::map<std::string, double> waited;
  std::string sampler;
  double answer = 0.0;
  {
    std::mutex mutex;
    std::condition_variable_any stopped;
    const std::jthread sampling([&](const std::stop_token& stop) {
      sampler = std::to_string(gettid());
      std::unique_lock lock(mutex);
      while (!stopped.wait_for(lock, stop, kSamplingInterval, [&] { return stop.stop_requested(); })) {
        for (const auto& [thread, seconds] : waited_by_thread(getpid())) waited[thread] = seconds;
      }
    });
    answer = measure();
  }
  for (const auto& [thread, seconds] : waited_by_thread(getpid())) waited[thread] = seconds;
  waited.erase(sampler);
  return {answer, std::move(waited)};
}

double measure_here(Target& target, const PeakKernel& peak, int threads) {
  const std::unique_ptr<LoadedKernel> loaded = target.load(peak.kernel);
  if (const auto seconds = loaded->modelled_seconds()) return peak.operations / *seconds;
  const std::unique_ptr<tunesmith_runtime_pool, decltype(&tunesmith_runtime_pool_destroy)> pool(
      tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy);
  if (!pool || tunesmith_runtime_pool_threads(pool.get()) != threads)
    throw EnvironmentError(fmt::format("{} threads cannot be started", threads));
  const auto workspace = std::make_unique<std::byte[]>(static_cast<size_t>(peak.kernel.workspace_bytes) + 64);
  void* aligned = workspace.get();
  size_t space = static_cast<size_t>(peak.kernel.workspace_bytes) + 64;
  std::align(64, static_cast<size_t>(peak.kernel.workspace_bytes), aligned, space);
  double best = std::numeric_limits<double>::infinity();
  double total = 0.0;
  for (int i = 0; i < kMinRepeats || total < kMeasuringSeconds; ++i) {
    const auto started = std::chrono::steady_clock::now();
    const auto on_device = loaded->device_seconds(1, nullptr, aligned);
    if (!on_device) loaded->entry()(nullptr, aligned, tunesmith_runtime_parallel_for, pool.get());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    best = std::min(best, on_device.value_or(seconds));
    total += seconds;
  }
  if (const auto fault = loaded->take_fault())
    throw EnvironmentError("the peak cannot be measured: " + fault->message);
  return peak.operations / best;
}

}  // namespace

double measure_peak(Target& target, DType type, int threads) {
  return measure_peak(target, benchmarking_of(target).peak_kernel(type, threads), threads);
}

double measure_peak(Target& target, const PeakKernel& peak, int threads) {
  // A unit's code comes from its extension and may damage its process, so
  // it runs in another one. A device's code does not run in a process.
  if (peak.unit.empty() || target.separate_device() != nullptr) return measure_here(target, peak, threads);
  const CopiedWork done = run_in_copy(
      [&](int pipe) {
        std::string answer;
        try {
          answer = fmt::format("{}", measure_here(target, peak, threads));
        } catch (const std::exception& error) {
          answer = error.what();
        }
        write_whole(pipe, answer);
      },
      kUnitSeconds);
  double rate = 0.0;
  const char* const behind = done.sent.data() + done.sent.size();
  const auto [read, error] = std::from_chars(done.sent.data(), behind, rate);
  if (done.end.succeeded() && error == std::errc() && read == behind) return rate;
  std::string why = done.sent;
  if (done.end.cause == ProcessEnd::Cause::TimedOut)
    why = fmt::format("it has not returned in {} s", kUnitSeconds);
  if (why.empty()) why = fmt::format("it ended its process by: {}", done.end.str());
  throw EnvironmentError(fmt::format("the peak of {} cannot be measured: {}", peak.unit, why));
}

WatchedRate watched(const std::function<double()>& measure) {
  const std::map<std::string, double> before = waited_by_thread(getpid());
  const double begin = now_seconds();
  const auto [per_second, after] = with_waits(measure);
  const double seconds = now_seconds() - begin;
  return {per_second, DisturbanceDetector::disturbed(before, after, seconds)};
}

}  // namespace tunesmith

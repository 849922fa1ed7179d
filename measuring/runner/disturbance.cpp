#include "runner/disturbance.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "tunesmith/support/monotonic_clock.h"
#include "worker/pool_threads.h"

namespace tunesmith {
namespace {

/// About ten microseconds on current processors; it only matters that it is constant.
constexpr int kCalibrationSteps = 4000;
/// The shortest counts: a single interrupt is no disturbance.
constexpr int kCalibrations = 2;

/// A calibration above this multiple of the usual is slow. Neighbours' load alone changes clocks by less.
constexpr double kSlow = 1.25;
constexpr double kWaited = 0.1;
constexpr size_t kRemembered = 64;  // calibrations
constexpr size_t kRecent = 16;      // verdicts
constexpr int kRepeats = 2;
/// A neighbour does not slow a program more than this.
constexpr double kMaxSlowdown = 6.0;

/// Keeps the arithmetic of a core busy, and nothing else.
void work(void* /*closure*/, int64_t begin, int64_t end) {
  uint64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int64_t step = begin * kCalibrationSteps; step < end * kCalibrationSteps; ++step) {
    for (uint64_t& value : values) value = value * 6364136223846793005u + 1442695040888963407u;
  }
  volatile uint64_t sink = 0;
  for (const uint64_t value : values) sink = sink ^ value;
}

/// The seconds that a runnable thread did not run: the second number of its schedstat.
double waited_of(int descriptor) {
  char text[128];
  const ssize_t length = pread(descriptor, text, sizeof(text), 0);
  const std::string_view line(text, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  const size_t space = line.find(' ');
  uint64_t nanoseconds = 0;
  if (space != std::string_view::npos)
    std::from_chars(line.data() + space + 1, line.data() + line.size(), nanoseconds);
  return 1e-9 * static_cast<double>(nanoseconds);
}

std::vector<std::filesystem::path> schedstats_of(const std::string& process) {
  std::vector<std::filesystem::path> files;
  std::error_code unknown;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + process + "/task", unknown))
    files.push_back(thread.path() / "schedstat");
  return files;
}

bool may_be_the_machines(FailureCause cause) {
  return cause == FailureCause::TimeOut || cause == FailureCause::WorkerLost ||
         cause == FailureCause::OutOfMemory;
}

}  // namespace

std::map<std::string, double> waited_by_thread(pid_t process) {
  std::map<std::string, double> waited;
  for (const std::filesystem::path& file : schedstats_of(std::to_string(process))) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;  // the thread has ended
    waited.emplace(file.parent_path().filename(), waited_of(descriptor));
    close(descriptor);
  }
  return waited;
}

DisturbanceProbe::DisturbanceProbe(tunesmith_runtime_pool* pool) : pool_(pool) {
  for (const std::filesystem::path& file : schedstats_of("self")) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) threads_.push_back(descriptor);
  }
}

DisturbanceProbe::~DisturbanceProbe() {
  for (const int descriptor : threads_) close(descriptor);
}

double DisturbanceProbe::calibrate() const {
  const int threads = tunesmith_runtime_pool_threads(pool_);
  wake_threads(pool_);
  double least = 0.0;
  for (int i = 0; i < kCalibrations; ++i) {
    const double begin = now_seconds();
    tunesmith_runtime_parallel_for(pool_, threads, work, nullptr);
    const double seconds = now_seconds() - begin;
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

std::vector<double> DisturbanceProbe::waited_seconds() const {
  std::vector<double> waited;
  for (const int descriptor : threads_) waited.push_back(waited_of(descriptor));
  return waited;
}

void DisturbanceProbe::begin() {
  calibration_ = calibrate();
  waited_ = waited_seconds();
  began_ = now_seconds();
}

Reading DisturbanceProbe::end() {
  const double seconds = now_seconds() - began_;
  const std::vector<double> waited = waited_seconds();
  Reading reading;
  for (size_t i = 0; i < waited.size(); ++i)
    reading.waited = std::max(reading.waited, (waited[i] - waited_[i]) / std::max(seconds, 1e-9));
  reading.calibration = std::max(calibration_, calibrate());
  return reading;
}

bool DisturbanceDetector::disturbed(const Reading& reading) {
  calibrations_.push_back(reading.calibration);
  if (calibrations_.size() > kRemembered) calibrations_.pop_front();
  // The lower quartile: quiet moments are found among disturbed ones, and a few lucky ones do not set the
  // mark.
  std::vector<double> sorted(calibrations_.begin(), calibrations_.end());
  const auto usual = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 4);
  std::nth_element(sorted.begin(), usual, sorted.end());
  const bool verdict = reading.waited > kWaited || reading.calibration > kSlow * *usual;
  verdicts_.push_back(verdict);
  if (verdicts_.size() > kRecent) verdicts_.pop_front();
  return verdict;
}

std::optional<bool> DisturbanceDetector::disturbed(const std::map<std::string, double>& before,
                                                   const std::map<std::string, double>& after,
                                                   double seconds) {
  std::optional<bool> verdict;
  for (const auto& [thread, waited] : after) {
    const auto found = before.find(thread);
    const double here = waited - (found == before.end() ? 0.0 : found->second);
    verdict = verdict.value_or(false) || here > kWaited * seconds;
  }
  return verdict;
}

bool DisturbanceDetector::worth_repeating() const {
  const auto disturbed = std::count(verdicts_.begin(), verdicts_.end(), true);
  return verdicts_.size() < kRecent / 2 || 2 * disturbed <= static_cast<std::ptrdiff_t>(verdicts_.size());
}

void repeat_disturbed(std::span<MeasureResult> results, const DisturbanceDetector& detector,
                      double best_seconds, const std::function<MeasureResult(size_t)>& measure,
                      const std::function<bool()>& go_on) {
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (size_t i = 0; i < results.size(); ++i) {
      const MeasureResult& result = results[i];
      if (!result.timing || !result.disturbed.value_or(false)) continue;
      if (best_seconds > 0.0 && result.timing->min > kMaxSlowdown * best_seconds) continue;
      if (!detector.worth_repeating() || !go_on()) return;
      MeasureResult again = measure(i);
      if (again.failure ? !may_be_the_machines(again.failure->cause)
                        : !again.disturbed.value_or(false) || again.timing->min < result.timing->min) {
        results[i] = std::move(again);
      }
    }
  }
}

}  // namespace tunesmith

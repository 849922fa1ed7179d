#include "worker/foreign_threads.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <time.h>

#include "worker/numbered_entries.h"

namespace tunesmith {
namespace {

constexpr std::chrono::milliseconds kWindow{1};
/// Consecutive windows in which all sleep: a sleeping thread may have work left.
constexpr int kQuietWindows = 3;
/// Within a window: a sleeping thread that is woken now and then uses less.
constexpr double kAwakeNanoseconds = 0.3e6;
constexpr std::chrono::seconds kThreadPatience{2};

struct Usage {
  double ran = 0.0;    // nanoseconds
  bool awake = false;  // runs, or is ready to
};

using Usages = std::map<pid_t, Usage>;

/// Exact nanoseconds: /proc updates those of a running thread at
/// scheduler ticks only. Nothing for a thread that has ended.
std::optional<double> processor_time_of(pid_t thread) {
  // The system's encoding of a thread's CPU clock.
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | 6U);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

bool is_awake(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end).starts_with(") R");
}

Usages usages_of(const std::vector<pid_t>& threads) {
  Usages usages;
  for (const pid_t thread : threads) {
    if (const auto ran = processor_time_of(thread)) usages.emplace(thread, Usage{*ran, is_awake(thread)});
  }
  return usages;
}

/// The longest CPU time of one of them in between.
double longest_run(const Usages& before, const Usages& after) {
  double longest = 0.0;
  for (const auto& [thread, usage] : after) {
    const auto found = before.find(thread);
    longest = std::max(longest, usage.ran - (found == before.end() ? 0.0 : found->second.ran));
  }
  return longest;
}

bool all_sleep(const Usages& usages) {
  return std::ranges::none_of(usages, [](const auto& thread) { return thread.second.awake; });
}

}  // namespace

ForeignThreads::ForeignThreads() : own_(numbered_entries("/proc/self/task")) {}

std::vector<pid_t> ForeignThreads::now() const {
  const std::vector<pid_t> all = numbered_entries("/proc/self/task");
  std::vector<pid_t> foreign;
  std::ranges::set_difference(all, own_, std::back_inserter(foreign));
  return foreign;
}

bool ForeignThreads::come_to_rest() const {
  const Usages first = usages_of(now());
  const auto deadline = std::chrono::steady_clock::now() + kThreadPatience;
  int quiet = 0;
  for (Usages before = first;
       !before.empty() && quiet < kQuietWindows && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::sleep_for(kWindow);
    Usages after = usages_of(now());
    quiet = all_sleep(after) && longest_run(before, after) < kAwakeNanoseconds ? quiet + 1 : 0;
    if (longest_run(first, after) > 1e6 * kMaxAwakeMilliseconds) return false;
    before = std::move(after);
  }
  return true;
}

void ForeignThreads::outlast(std::chrono::milliseconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!now().empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kWindow);
}

}  // namespace tunesmith

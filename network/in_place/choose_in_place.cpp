#include "tunesmith/network/choose_in_place.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string_view>

#include <boost/math/distributions/binomial.hpp>
#include <fmt/format.h>

#include "tunesmith/ir/extents.h"
#include "tunesmith/network/built_library.h"
#include "tunesmith/network/library_description.h"
#include "tunesmith/network/verify_in_place.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 3.0;  // approximate time for the comparison of two libraries
constexpr int kMinRounds = 10;
constexpr int kMaxRounds = 60;
constexpr double kSignificance = 0.05;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Times of a task or of a whole call in each round, in the two libraries.
struct Pair {
  std::vector<double> base, other;
};

/// The upper median if the number is even.
double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

/// A library, called on random inputs.
class TimedLibrary {
 public:
  TimedLibrary(const std::string& folder, const TaskedNetwork& tasked, tunesmith_runtime_pool* pool)
      : tasked_(tasked) {
    const LibraryDescription description = read_description(folder);
    library_ = std::make_unique<BuiltLibrary>(folder, description.facts());
    library_->set_parallel_for(tunesmith_runtime_parallel_for, pool);
    // Memory for the highest extents suffices for all values.
    tensors_ = random_inputs(description.inputs, 1);
    for (const LibraryArgument& result : description.outputs)
      tensors_.push_back(tunesmith::Tensor::zeros(result.type.dtype, result.type.shape));
    for (tunesmith::Tensor& tensor : tensors_) data_.push_back(tensor.bytes.data());
    values_ = typical_values(parameters_of(description.varying));
  }

  double call() {
    double logarithms = 0.0;
    for_each_value([&] {
      const Clock::time_point begin = Clock::now();
      library_->run_plainly(data_);
      logarithms += std::log(seconds_since(begin));
    });
    return mean_of(logarithms);
  }

  /// The time of each task, summed over its steps.
  std::vector<double> call_by_task() {
    std::vector<double> logarithms(tasked_.tasks.size(), 0.0);
    for_each_value([&] {
      std::vector<double> seconds(tasked_.tasks.size(), 0.0);
      Clock::time_point last;
      library_->run_plainly(data_, [&](int step, void* const*) {
        if (step >= 0) seconds[tasked_.task_of[static_cast<size_t>(step)]] += seconds_since(last);
        last = Clock::now();
      });
      for (size_t task = 0; task < seconds.size(); ++task) logarithms[task] += std::log(seconds[task]);
    });
    for (double& each : logarithms) each = mean_of(each);
    return logarithms;
  }

 private:
  /// Each typical value counts equally, however long its call takes.
  void for_each_value(const std::function<void()>& call) {
    for (const std::vector<int64_t>& values : values_) {
      if (!values.empty()) library_->set_extents(values);
      call();
    }
  }

  double mean_of(double logarithms) const {
    return std::exp(logarithms / static_cast<double>(values_.size()));
  }

  const TaskedNetwork& tasked_;
  std::unique_ptr<BuiltLibrary> library_;
  std::vector<tunesmith::Tensor> tensors_;
  std::vector<void*> data_;
  std::vector<std::vector<int64_t>> values_;  // of the varying extents; a single empty list if there are none
};

/// Warms both libraries up, and derives the number of rounds from the time of a call.
int rounds_for(TimedLibrary& base, TimedLibrary& other) {
  base.call();
  other.call();
  const double both = base.call() + other.call();
  return std::clamp(static_cast<int>(kSeconds / both), kMinRounds, kMaxRounds);
}

std::vector<Pair> compare_tasks(TimedLibrary& base, TimedLibrary& other, size_t tasks) {
  std::vector<Pair> pairs(tasks);
  const int rounds = rounds_for(base, other);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> first = base.call_by_task();
    const std::vector<double> second = other.call_by_task();
    for (size_t task = 0; task < tasks; ++task) {
      pairs[task].base.push_back(first[task]);
      pairs[task].other.push_back(second[task]);
    }
  }
  return pairs;
}

Pair compare_calls(TimedLibrary& base, TimedLibrary& other) {
  Pair pair;
  const int rounds = rounds_for(base, other);
  for (int round = 0; round < rounds; ++round) {
    pair.base.push_back(base.call());
    pair.other.push_back(other.call());
  }
  return pair;
}

}  // namespace

double sign_test(std::span<const double> base, std::span<const double> other) {
  check_invariant(base.size() == other.size(), "times are compared in pairs");
  int wins = 0, rounds = 0;
  for (size_t i = 0; i < base.size(); ++i) {
    wins += other[i] < base[i] ? 1 : 0;
    rounds += other[i] != base[i] ? 1 : 0;
  }
  if (wins == 0) return 1.0;
  return boost::math::cdf(boost::math::complement(boost::math::binomial(rounds, 0.5), wins - 1));
}

ChosenPrograms choose_alone(ProgramsOfTasks programs) {
  ChosenPrograms chosen;
  for (const std::deque<CompiledKernel>& of_task : programs) chosen.kernels.push_back(&of_task.front());
  return chosen;
}

ChosenPrograms choose_in_place(const TaskedNetwork& tasked, ProgramsOfTasks programs, Target& target,
                               Packaging& packaging, const LibrarySource& source,
                               const InPlaceOptions& options) {
  const auto tell = [&](const std::string& text) {
    if (options.tell) options.tell(text);
  };
  ChosenPrograms chosen = choose_alone(programs);
  size_t variants = 1;
  for (const std::deque<CompiledKernel>& of_task : programs) variants = std::max(variants, of_task.size());
  // There is no choice, or the network is a single task, which was timed alone.
  if (variants == 1 || tasked.regions.size() == 1) return chosen;

  const std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool(
      tunesmith_runtime_pool_create(options.threads), tunesmith_runtime_pool_destroy);
  const auto timed = [&](std::string_view name, const std::vector<const CompiledKernel*>& kernels) {
    // Removed once the library is open, so that Ctrl-C during the comparisons leaves nothing behind.
    const ScratchFolder folder(fs::path(options.folder) / fmt::format("in_place_{}", name));
    build_network(tasked, kernels, {}, target, packaging, source, folder.path().string());
    return TimedLibrary(folder.path().string(), tasked, pool.get());
  };
  TimedLibrary alone = timed("alone", chosen.kernels);
  std::vector<const CompiledKernel*> fastest = chosen.kernels;
  std::vector<double> share(tasked.tasks.size(), 1.0);  // time relative to the program that is fastest alone
  for (size_t variant = 1; variant < variants; ++variant) {
    tell(fmt::format("choosing in place: programs {} of {}", variant + 1, variants));
    std::vector<const CompiledKernel*> kernels;
    for (const std::deque<CompiledKernel>& of_task : programs)
      kernels.push_back(&of_task[std::min(variant, of_task.size() - 1)]);
    TimedLibrary others = timed("others", kernels);
    const std::vector<Pair> pairs = compare_tasks(alone, others, tasked.tasks.size());
    for (size_t task = 0; task < pairs.size(); ++task) {
      const double now = median(pairs[task].other) / median(pairs[task].base);
      if (variant >= programs[task].size() || now >= share[task]) continue;
      if (sign_test(pairs[task].base, pairs[task].other) > kSignificance / static_cast<double>(variants))
        continue;
      share[task] = now;
      fastest[task] = kernels[task];
    }
  }
  if (fastest == chosen.kernels) return chosen;
  tell("choosing in place: the chosen programs together");
  TimedLibrary together = timed("together", fastest);
  const Pair calls = compare_calls(alone, together);
  chosen.seconds = median(calls.other);
  chosen.seconds_alone = median(calls.base);
  chosen.p = sign_test(calls.base, calls.other);
  if (chosen.seconds >= chosen.seconds_alone) return chosen;
  for (size_t task = 0; task < fastest.size(); ++task)
    chosen.others += fastest[task] != chosen.kernels[task] ? 1 : 0;
  chosen.kernels = std::move(fastest);
  return chosen;
}

}  // namespace tunesmith::network

// Compares orders in which a task's first programs may be timed: chance, the estimate, and trees that have
// learned from the other tables. The programs of recorded tables are taken for equally likely draws. Prints
// the speed after so many timed programs relative to the best. Usage: bench_first_programs TABLE...
// (docs/proposals.md)
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/evaluation/replay.h>
#include <tunesmith/performance/features.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/support/random.h>
#include <tunesmith/support/thread_pool.h>

#include "analytical/estimate.h"
#include "xgboost/pack_sum.h"

namespace {

using namespace tunesmith;

constexpr uint64_t kDraws = 128;    // of --untuned
constexpr uint64_t kSamples = 200;  // times that draws are made
constexpr size_t kLearned = 256;    // programs of each other table
constexpr int kTrees = 60;
constexpr std::array kTimed = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array kOrders = {"chance", "analytical", "trees"};

struct Task {
  std::string workload;
  DeviceModel device;
  std::vector<FeatureRows> programs;
  std::vector<double> seconds;  // of each
};

Task load(const std::string& file, PluginRegistry& registry, ThreadPool& pool) {
  const Table table = load_table(file);
  const Space space(table_space(table, SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu")),
                    registry, make_table_target(table));
  const Workload workload = workload_of(table);
  std::vector<std::optional<FeatureRows>> made(table.rows.size());
  pool.parallel_for(made.size(), [&](size_t i) {
    const TableRow& row = table.rows[i];
    const auto candidate =
        space.materialise(workload.program, Trace::parse(row.trace, file), RandomStream(0));
    if (candidate && (*candidate)->lowered_hash == row.lowered_hash)
      made[i] = extract_features((*candidate)->lowered.program, space.device());
  });
  Task task{workload.key, space.device(), {}, {}};
  for (size_t i = 0; i < made.size(); ++i) {
    const std::optional<double> seconds = seconds_of(table.rows[i]);
    if (!made[i] || !seconds) continue;
    task.programs.push_back(std::move(*made[i]));
    task.seconds.push_back(*seconds);
  }
  return task;
}

/// What trees that learned from the others say of its programs: higher is better.
std::vector<double> scores_by_trees(const std::vector<Task>& tasks, const Task& task) {
  xgboost::PackSum trees{xgboost::Settings()};
  trees.set_machine(task.device);
  std::vector<xgboost::Sample> samples;
  for (size_t other = 0; other < tasks.size(); ++other) {
    if (&tasks[other] == &task) continue;
    const size_t count = tasks[other].programs.size();
    for (size_t i = 0; i < std::min(count, kLearned); ++i) {
      const size_t place = i * count / std::min(count, kLearned);
      samples.push_back({&tasks[other].programs[place], tasks[other].seconds[place], other});
    }
  }
  trees.grow(samples, {}, kTrees);
  std::vector<const FeatureRows*> rows;
  for (const FeatureRows& program : task.programs) rows.push_back(&program);
  return trees.predict(rows);
}

/// Speeds relative to the fastest, in the order of the scores.
std::vector<double> in_order(const Task& task, const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return scores[i]; });
  const double best = *std::ranges::min_element(task.seconds);
  std::vector<double> speeds;
  for (const size_t i : order) speeds.push_back(best / task.seconds[i]);
  return speeds;
}

/// For each of kTimed the mean logarithm of the fastest of the first so many of the draws.
std::vector<double> mean_log_speeds(const std::vector<double>& speeds) {
  std::vector<double> means(kTimed.size());
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    RandomStream random(1, sample);
    std::set<size_t> places;
    for (uint64_t i = 0; i < kDraws; ++i) places.insert(random.below(speeds.size()));
    double best = 0.0;
    size_t timed = 0;
    auto place = places.begin();
    for (size_t row = 0; row < kTimed.size(); ++row) {
      for (; place != places.end() && timed < static_cast<size_t>(kTimed[row]); ++place, ++timed)
        best = std::max(best, speeds[*place]);
      means[row] += std::log(best) / static_cast<double>(kSamples);
    }
  }
  return means;
}

std::vector<double> scores_of(const std::vector<Task>& tasks, const Task& task, size_t order) {
  if (order == 2) return scores_by_trees(tasks, task);
  const analytical::Machine machine = analytical::machine_from(task.device);
  std::vector<double> scores;
  for (size_t i = 0; i < task.programs.size(); ++i) {
    scores.push_back(order == 0 ? RandomStream(2, i).uniform()
                                : -std::log(analytical::estimate_cycles(task.programs[i], machine)));
  }
  return scores;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "usage: bench_first_programs TABLE...: at least two, for trees to learn from others\n");
    return 2;
  }
  PluginRegistry registry;
  ThreadPool pool;
  std::vector<Task> tasks;
  for (int i = 1; i < argc; ++i) tasks.push_back(load(argv[i], registry, pool));
  std::array<std::vector<std::vector<double>>, kOrders.size()> figures;  // by order, task, and kTimed
  for (const Task& task : tasks) {
    fmt::print("{:<40} {:>5} programs; the first and the best of four:", task.workload, task.programs.size());
    for (size_t order = 0; order < kOrders.size(); ++order) {
      figures[order].push_back(mean_log_speeds(in_order(task, scores_of(tasks, task, order))));
      fmt::print("  {} {:.3f} {:.3f}", kOrders[order], std::exp(figures[order].back()[0]),
                 std::exp(figures[order].back()[2]));
    }
    fmt::print("\n");
  }
  fmt::print("{:>6}", "timed");
  for (const char* name : kOrders) fmt::print("  {:>13}", name);
  for (size_t row = 0; row < kTimed.size(); ++row) {
    fmt::print("\n{:>6}", kTimed[row]);
    for (const auto& of_order : figures) {
      double sum = 0.0;
      double worst = 0.0;
      for (const std::vector<double>& speeds : of_order) {
        sum += speeds[row];
        worst = std::min(worst, speeds[row]);
      }
      fmt::print("  {:.3f} ({:.3f})", std::exp(sum / static_cast<double>(of_order.size())), std::exp(worst));
    }
  }
  fmt::print("\n");
  return 0;
}

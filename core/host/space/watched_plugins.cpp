#include "space/watched_plugins.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/plugin/own_thread.h"

namespace tunesmith {
namespace {

class WatchedSearcher final : public Searcher {
 public:
  WatchedSearcher(std::string id, std::shared_ptr<Searcher> searcher)
      : id_(std::move(id)), searcher_(std::move(searcher)) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<CandidatePtr> proposed =
        guard_plugin(PluginKind::Searcher, id_, "propose", [&] { return searcher_->propose(context, n); });
    if (proposed.size() > n) {
      throw PluginError(PluginKind::Searcher, id_,
                        fmt::format("[P24] asked for {} candidates, it proposed {}", n, proposed.size()));
    }
    if (std::ranges::count(proposed, nullptr) > 0)
      throw PluginError(PluginKind::Searcher, id_, "[P24] proposed a null candidate");
    proposed_ = proposed.size();
    return proposed;
  }
  void observe(SearchContext& context, std::span<const Measured> results) override {
    guard_plugin(PluginKind::Searcher, id_, "observe", [&] { searcher_->observe(context, results); });
  }
  bool repeatable() const override {
    return guard_plugin(PluginKind::Searcher, id_, "repeatable", [&] { return searcher_->repeatable(); });
  }
  std::vector<double> expected() const override {
    std::vector<double> expected =
        guard_plugin(PluginKind::Searcher, id_, "expected", [&] { return searcher_->expected(); });
    if (expected.empty()) return expected;
    if (expected.size() != proposed_ ||
        !std::ranges::all_of(expected, [](double x) { return std::isfinite(x); }))
      throw PluginError(
          PluginKind::Searcher, id_,
          fmt::format(
              "[P24] expected_seconds() returned {1} numbers for {0} candidates, or one that is not finite",
              proposed_, expected.size()));
    return expected;
  }

 private:
  const std::string id_;
  const std::shared_ptr<Searcher> searcher_;
  size_t proposed_ = 0;  // number of programs in the last proposal
};

/// Copies a workload for a receiver that may outlive its owner.
Workload copy_of(const Workload& workload) {
  return {workload.program.clone(), workload.name, workload.params, workload.key,
          workload.definition,      workload.hash, workload.flops,  workload.bytes_min};
}

class WatchedCostModel final : public CostModel {
 private:
  /// Copies of arguments that the model may keep, even in a hanging call that outlives their owners.
  struct Told {
    std::shared_ptr<const ExecutionModel> execution;
    std::shared_ptr<const Workload> workload;
    std::shared_ptr<const DeviceModel> device;
  };

  /// `work` owns its data: if it hangs, it is abandoned and may outlive the run.
  template <typename Work>
  auto call(const char* name, Work work) {
    const int seconds = plugin_seconds();
    if (seconds == 0) return guard_plugin(PluginKind::CostModel, id_, name, work);
    const auto answer = std::make_shared<std::optional<std::invoke_result_t<Work&>>>();
    const bool returned =
        thread_.run([answer, name, id = id_, work = std::move(work)](std::atomic<bool>& given_up) {
          *answer = guard_plugin(PluginKind::CostModel, id, name, work, &given_up);
        });
    if (!returned)
      throw PluginHang(PluginKind::CostModel, id_,
                       fmt::format("[P22] {} has not returned in {} seconds", name, seconds));
    return std::move(**answer);
  }

 public:
  WatchedCostModel(std::string id, std::shared_ptr<CostModel> model)
      : id_(std::move(id)), model_(std::move(model)) {}

  void use_columns(std::span<const FeatureColumn> added) override {
    guard_plugin(PluginKind::CostModel, id_, "use_columns", [&] { model_->use_columns(added); });
  }
  void use_execution(const ExecutionModel& execution) override {
    told_.execution = std::make_shared<const ExecutionModel>(execution);
    guard_plugin(PluginKind::CostModel, id_, "use_execution",
                 [&] { model_->use_execution(*told_.execution); });
  }
  void begin(const Workload& workload, const DeviceModel& device) override {
    Told now{told_.execution, std::make_shared<const Workload>(copy_of(workload)),
             std::make_shared<const DeviceModel>(device)};
    call("begin", [model = model_, now] {
      model->begin(*now.workload, *now.device);
      return true;
    });
    told_ = std::move(now);  // only now: the model may have read the old arguments
  }
  void update(std::span<const Measured> results) override {
    call("update", [model = model_, kept = told_, told = std::vector(results.begin(), results.end())] {
      model->update(told);
      return true;
    });
  }
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    return call("predict",
                [model = model_, kept = told_, asked = std::vector(candidates.begin(), candidates.end())] {
                  return model->predict(asked);
                });
  }
  std::string save() const override {
    return guard_plugin(PluginKind::CostModel, id_, "save", [&] { return model_->save(); });
  }
  void load(std::string_view saved) override {
    guard_plugin(PluginKind::CostModel, id_, "load", [&] { model_->load(saved); });
  }
  std::vector<FeatureImportance> importance() const override {
    return guard_plugin(PluginKind::CostModel, id_, "importance", [&] { return model_->importance(); });
  }

 private:
  const std::string id_;
  const std::shared_ptr<CostModel> model_;
  Told told_;
  OwnThread thread_;
};

class WatchedTaskScheduler final : public TaskScheduler {
 public:
  WatchedTaskScheduler(std::string id, std::shared_ptr<TaskScheduler> scheduler)
      : id_(std::move(id)), scheduler_(std::move(scheduler)) {}

  size_t next(const TaskSet& set) const override {
    const size_t chosen =
        guard_plugin(PluginKind::TaskScheduler, id_, "next", [&] { return scheduler_->next(set); });
    if (chosen >= set.tasks.size()) {
      throw PluginError(
          PluginKind::TaskScheduler, id_,
          fmt::format("[P28] it chose task {1} of {0}, counted from 0", set.tasks.size(), chosen));
    }
    if (set.tasks[chosen].done) {
      throw PluginError(PluginKind::TaskScheduler, id_,
                        fmt::format("[P28] it chose task {}, which is done", chosen));
    }
    return chosen;
  }

 private:
  const std::string id_;
  const std::shared_ptr<TaskScheduler> scheduler_;
};

bool has_step(const Pipeline& pipeline, const std::string& name) {
  return std::ranges::find(pipeline.steps(), name, &LoweringStep::name) != pipeline.steps().end();
}

}  // namespace

std::shared_ptr<Searcher> watched(std::string id, std::shared_ptr<Searcher> searcher) {
  return std::make_shared<WatchedSearcher>(std::move(id), std::move(searcher));
}
std::shared_ptr<CostModel> watched(std::string id, std::shared_ptr<CostModel> model) {
  return std::make_shared<WatchedCostModel>(std::move(id), std::move(model));
}
std::shared_ptr<TaskScheduler> watched(std::string id, std::shared_ptr<TaskScheduler> scheduler) {
  return std::make_shared<WatchedTaskScheduler>(std::move(id), std::move(scheduler));
}

Pipeline watched_steps(PluginKind kind, const std::string& id, const Pipeline& pipeline,
                       const Pipeline& before) {
  static const Pipeline kernels = standard_pipeline();
  std::vector<LoweringStep> steps = pipeline.steps();
  for (LoweringStep& step : steps) {
    if (has_step(kernels, step.name) || has_step(before, step.name)) continue;
    step.run = [kind, id, call = "the step " + step.name, run = std::move(step.run)](LoweringState& state) {
      const PluginWatch watch(kind, id, call);
      try {
        run(state);
      } catch (const LowerError&) {
        throw;         // it is the candidate's failure
      } catch (...) {  // see guard_plugin
        rethrow_plugin_failure(kind, id, call, std::current_exception());
      }
    };
  }
  return Pipeline(std::move(steps));
}

std::vector<AddedColumn> watched_columns(const std::string& id, std::vector<AddedColumn> columns,
                                         std::span<const FeatureColumn> before) {
  std::vector<FeatureColumn> known(before.begin(), before.end());
  for (AddedColumn& added : columns) {
    std::string fault = column_fault(added.column, known);
    if (fault.empty() && !added.value) fault = fmt::format("the column '{}' has no value", added.column.name);
    if (!fault.empty()) throw PluginError(PluginKind::Extension, id, "[P27] " + fault);
    known.push_back(added.column);
    added.value = [id, call = "the column " + added.column.name,
                   value = std::move(added.value)](const FeatureStore& store) {
      const double number = guard_plugin(PluginKind::Extension, id, call, [&] { return value(store); });
      if (!std::isfinite(number))
        throw PluginError(PluginKind::Extension, id, fmt::format("[P27] {} gave {}", call, number));
      return number;
    };
  }
  return columns;
}

void check_description(PluginKind kind, const std::string& id, const DeviceModel& device,
                       const LowerOptions& options) {
  const char* rule = kind == PluginKind::Target ? "P26" : "P27";
  for (const auto& [name, value] : device.all()) {
    if (!std::isfinite(value))
      throw PluginError(kind, id, fmt::format("[{}] it sets the quantity {} to {}", rule, name, value));
  }
  if (options.vector_bits < 8 || options.vector_bits % 8 != 0 || options.vector_registers < 1) {
    throw PluginError(kind, id,
                      fmt::format("[{}] cannot lower for {} vectors of {} bits", rule,
                                  options.vector_registers, options.vector_bits));
  }
}

}  // namespace tunesmith

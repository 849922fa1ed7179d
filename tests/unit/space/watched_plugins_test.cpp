#include "space/watched_plugins.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/cost_model.h>
#include <tunesmith/workload/library.h>

#include "tunesmith/plugin/own_thread.h"

namespace tunesmith {
namespace {

/// The data that a model sees when it continues after the run has given it up.
struct Found {
  std::string workload;
  double cores = 0.0;
  size_t levels = 0;
};

/// Waits in begin() or predict() until it is released.
class SlowModel final : public CostModel {
 public:
  SlowModel(std::shared_future<void> go_on, std::promise<Found> found, bool in_begin)
      : go_on_(std::move(go_on)), found_(std::move(found)), in_begin_(in_begin) {}

  void use_execution(const ExecutionModel& execution) override { execution_ = &execution; }
  void begin(const Workload& workload, const DeviceModel& device) override {
    workload_ = &workload;
    device_ = &device;
    if (in_begin_) finish();
  }
  void update(std::span<const Measured> /*results*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    finish();
    return std::vector<double>(candidates.size());
  }

 private:
  void finish() {
    go_on_.wait();
    found_.set_value({workload_->key, device_->get_or("cores", 0), execution_->levels.size()});
  }

  std::shared_future<void> go_on_;
  std::promise<Found> found_;
  bool in_begin_;
  const Workload* workload_ = nullptr;
  const DeviceModel* device_ = nullptr;
  const ExecutionModel* execution_ = nullptr;
};

class LeftBehind : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WatchedCostModel, LeftBehind, testing::Bool(),
                         [](const auto& in_begin) { return in_begin.param ? "in_begin" : "in_predict"; });

TEST_P(LeftBehind, ACallThatHangsReadsWhatItWasToldWhenItsOwnersAreGone) {
  watch_plugins({1, 0});
  std::promise<void> go_on;
  std::promise<Found> found;
  std::future<Found> answer = found.get_future();
  {
    Workload workload = WorkloadLibrary().load("gmm:n=4,m=4,k=4");
    const std::string key = workload.key;
    DeviceModel device;
    device.set("cores", 3);
    const auto model = watched(
        "slow", std::make_shared<SlowModel>(go_on.get_future().share(), std::move(found), GetParam()));
    ExecutionModel execution;
    execution.levels.resize(2);
    model->use_execution(execution);
    if (GetParam()) {
      EXPECT_THROW(model->begin(workload, device), PluginHang);
    } else {
      model->begin(workload, device);
      EXPECT_THROW(static_cast<void>(model->predict({})), PluginHang);
    }
    // Simulates freed memory.
    workload.key = "gone";
    device.set("cores", -1);
    execution.levels.clear();
  }
  go_on.set_value();
  const Found last = answer.get();
  EXPECT_THAT(last.workload, testing::StartsWith("gmm:"));
  EXPECT_EQ(last.cores, 3);
  EXPECT_EQ(last.levels, 2u);
}

}  // namespace
}  // namespace tunesmith

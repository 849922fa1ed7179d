// Cost models in Python.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <tunesmith/search/cost_model.h>
#include <tunesmith/target/feature_column.h>

#include "candidate.h"
#include "plugins.h"

namespace tunesmith::python {
namespace {

/// The caller's workload may be destroyed while Python keeps this one.
WorkloadPtr copy_of(const Workload& workload) {
  return std::make_shared<const Workload>(Workload{workload.program.clone(), workload.name, workload.params,
                                                   workload.key, workload.definition, workload.hash,
                                                   workload.flops, workload.bytes_min});
}

class PythonCostModel final : public CostModel {
 public:
  explicit PythonCostModel(HeldPtr object) : object_(std::move(object)) {}

  void use_columns(std::span<const FeatureColumn> added) override {
    in_python([&] {
      nb::list names;
      for (const FeatureColumn& column : added) names.append(column.name);
      object_->get().attr("use_columns")(names);
    });
  }
  void begin(const Workload& workload, const DeviceModel& device) override {
    in_python([&] {
      object_->get().attr("begin")(WorkloadRef{copy_of(workload)},
                                   DeviceRef{std::make_shared<const DeviceModel>(device)});
    });
  }
  void update(std::span<const Measured> results) override {
    in_python([&] { object_->get().attr("update")(measured_of(results, nullptr)); });
  }
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    return in_python([&] {
      nb::list list;
      for (const CandidatePtr& candidate : candidates)
        list.append(nb::cast(CandidateRef{candidate, nullptr, nullptr, nullptr}));
      std::vector<double> scores;
      for (const nb::handle score : object_->get().attr("predict")(list))
        scores.push_back(nb::cast<double>(nb::float_(score)));
      return scores;
    });
  }
  std::string save() const override {
    return in_python([&] {
      const nb::bytes saved = nb::cast<nb::bytes>(object_->get().attr("save")());
      return std::string(saved.c_str(), saved.size());
    });
  }
  void load(std::string_view saved) override {
    in_python([&] { object_->get().attr("load")(nb::bytes(saved.data(), saved.size())); });
  }
  std::vector<FeatureImportance> importance() const override {
    return in_python([&] {
      std::vector<FeatureImportance> shares;
      for (const auto& [name, share] : nb::cast<nb::dict>(object_->get().attr("importance")()))
        shares.push_back({nb::cast<std::string>(name), nb::cast<double>(share)});
      return shares;
    });
  }

 private:
  const HeldPtr object_;
};

}  // namespace

std::shared_ptr<void> cost_model_of(HeldPtr object) {
  return std::static_pointer_cast<CostModel>(std::make_shared<PythonCostModel>(std::move(object)));
}

}  // namespace tunesmith::python

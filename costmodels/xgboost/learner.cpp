#include "learner.h"

namespace tunesmith::xgboost {

void Learner::begin(const DeviceModel& device) {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    earlier_.push_back(candidates_[i]->features(device_));
    earlier_throughputs_.push_back(throughputs_[i]);
  }
  candidates_.clear();
  throughputs_.clear();
  device_ = device;
}

void Learner::update(std::span<const CandidatePtr> candidates, std::span<const double> throughputs) {
  candidates_.assign(candidates.begin(), candidates.end());
  throughputs_.assign(throughputs.begin(), throughputs.end());
  std::vector<const FeatureRows*> programs;
  std::vector<double> labels = earlier_throughputs_;
  for (const FeatureRows& rows : earlier_) programs.push_back(&rows);
  for (const CandidatePtr& candidate : candidates) programs.push_back(&candidate->features(device_));
  labels.insert(labels.end(), throughputs.begin(), throughputs.end());
  trees_.learn(programs, labels, earlier_.size());
}

std::vector<size_t> Learner::held_out() const {
  std::vector<size_t> places;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (trees_.is_held_out(earlier_.size() + i)) places.push_back(i);
  }
  return places;
}

std::vector<double> Learner::predict(std::span<const CandidatePtr> candidates) const {
  std::vector<const FeatureRows*> programs;
  for (const CandidatePtr& candidate : candidates) programs.push_back(&candidate->features(device_));
  return trees_.predict(programs);
}

}  // namespace tunesmith::xgboost

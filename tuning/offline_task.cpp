#include "tunesmith/tuning/offline_task.h"

#include "task.h"

namespace tunesmith {

OfflineTask::OfflineTask(const Workload& workload, const Space& space, uint64_t seed, size_t threads)
    : task_(std::make_unique<Task>(workload, space, seed, threads)) {}
OfflineTask::~OfflineTask() = default;
SearchContext& OfflineTask::context() { return *task_; }
void OfflineTask::begin_round(int64_t trials) { task_->begin_round(trials); }
void OfflineTask::learn(std::span<const Measured> results) { task_->learn(results); }

}  // namespace tunesmith

#include "recorded_names.h"

#include <utility>

#include "tunesmith/ir/printer.h"
#include "tunesmith/support/error.h"
#include "tunesmith/tuning/with_names_of.h"

namespace tunesmith {

RecordedNames::RecordedNames(const Workload& workload, RecordStore& store,
                             std::shared_ptr<const TensorIntrinsics> intrinsics)
    : workload_(workload), intrinsics_(std::move(intrinsics)) {
  const std::optional<RecordedWorkload> first = store.workload(workload.hash);
  store.add_workload({workload.hash, workload.key, workload.definition});
  if (!first || (first->text == workload.key && first->definition == workload.definition)) return;
  Workload other = instantiate(*first);
  if (to_string(other.program) != to_string(workload.program)) first_ = std::move(other);
}

Trace RecordedNames::recorded(const Trace& trace) const {
  if (!first_) return trace;
  auto renamed = with_names_of(first_->program, workload_.program, trace, intrinsics_);
  check_invariant(renamed.has_value(), "a trace replays on an equal program");
  return std::move(*renamed);
}

std::optional<Trace> RecordedNames::own(const Trace& recorded) const {
  if (!first_) return recorded;
  auto renamed = with_names_of(workload_.program, first_->program, recorded, intrinsics_);
  if (!renamed) return std::nullopt;
  return std::move(*renamed);
}

}  // namespace tunesmith

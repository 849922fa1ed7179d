#include "recorded_names.h"

#include <utility>

#include "tunesmith/ir/printer.h"
#include "tunesmith/support/error.h"
#include "tunesmith/tuning/with_names_of.h"

namespace tunesmith {
namespace {

/// The recorded workload if its names differ; nothing if it is damaged.
std::optional<Workload> with_other_names(const RecordedWorkload& recorded, const Workload& workload) {
  if (recorded.text == workload.key && recorded.definition == workload.definition) return std::nullopt;
  auto other = sound_workload(recorded);
  if (!other || to_string(other->program) == to_string(workload.program)) return std::nullopt;
  return std::move(*other);
}

}  // namespace

RecordedNames::RecordedNames(const Workload& workload, RecordStore& store,
                             std::shared_ptr<const TensorIntrinsics> intrinsics)
    : workload_(workload), store_(store), intrinsics_(std::move(intrinsics)) {
  const std::optional<RecordedWorkload> first = store.workload(workload.hash);
  const RecordedWorkload own{workload.hash, workload.key, workload.definition};
  store.add_workload(own);
  const std::optional<RecordedWorkload> stored = store.workload(own.hash, own.text);
  if (stored && *stored != own && !sound_workload(*stored)) store.mend_workload(own);
  if (first) first_ = with_other_names(*first, workload);
}

Trace RecordedNames::recorded(const Trace& trace) const {
  if (!first_) return trace;
  auto renamed = with_names_of(first_->program, workload_.program, trace, intrinsics_);
  check_invariant(renamed.has_value(), "a trace replays on an equal program");
  return std::move(*renamed);
}

const Workload* RecordedNames::workload_of(const Record& record) const {
  if (record.workload == workload()) return first_ ? &*first_ : nullptr;
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = others_.try_emplace(record.workload);
  if (fresh) {
    const std::optional<RecordedWorkload> recorded = store_.workload(workload_.hash, record.workload);
    if (recorded && !recorded->definition.empty()) place->second = with_other_names(*recorded, workload_);
  }
  return place->second ? &*place->second : nullptr;
}

std::optional<Trace> RecordedNames::own(const Record& record) const {
  try {
    const Trace recorded = Trace::parse(record.trace, "record " + record.id);
    const Workload* const named = workload_of(record);
    if (named == nullptr) return recorded;
    auto renamed = with_names_of(workload_.program, named->program, recorded, intrinsics_);
    if (renamed) return std::move(*renamed);
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): of another version
  }
  return std::nullopt;
}

}  // namespace tunesmith

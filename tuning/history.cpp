#include "history.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "tunesmith/measure/verifier_version.h"

namespace tunesmith {
namespace {

/// Number of programs replayed at once: each takes 40 KB.
constexpr size_t kReplayedAtOnce = 256;

int standing(const Record& record) {
  if (record.failure && disqualifies(record.failure->cause)) return 4;
  if (record.timing) return record.kind == MeasurementKind::Search ? 3 : 2;
  return record.transient() ? 0 : 1;
}

/// Decides which recorded runs are interrupted parts of this one.
class OwnRuns {
 public:
  OwnRuns(const RecordStore& store, const RecordedRun& run) : store_(store), run_(run) {}

  bool operator()(const Record& record) {
    const auto [place, fresh] = known_.try_emplace(record.run, false);
    if (fresh) {
      const std::optional<RecordedRun> other = store_.run(record.run);
      place->second = other && other->rules_hash == run_.rules_hash && other->seed == run_.seed &&
                      other->searcher == run_.searcher && other->cost_model == run_.cost_model;
    }
    return place->second;
  }

 private:
  const RecordStore& store_;
  const RecordedRun& run_;
  std::map<std::string, bool> known_;
};

/// One entry for each program, in the order of their first records.
std::vector<RecordedProgram> entries_of(const RecordStore& store, const RecordFilter& task,
                                        const RecordedRun& run) {
  OwnRuns is_own(store, run);
  std::vector<RecordedProgram> entries;
  std::unordered_map<uint64_t, size_t> places;  // by lowered hash; never iterated
  for (Record& record : store.list(task)) {
    std::optional<int64_t> own_ms;
    if (record.kind == MeasurementKind::Search && is_own(record)) own_ms = record.time_ms;
    const auto [place, fresh] = places.try_emplace(record.lowered_hash, entries.size());
    const bool accepted = record.ok() && record.verifier.value_or(0) >= kVerifierVersion;
    if (fresh) {
      entries.push_back({std::move(record), own_ms, accepted});
      continue;
    }
    RecordedProgram& known = entries[place->second];
    known.accepted = known.accepted || accepted;
    if (!known.own_ms) known.own_ms = own_ms;
    if (standing(record) > standing(known.record)) known.record = std::move(record);
  }
  return entries;
}

/// Removes programs that the search does not get, and returns their hashes, without transient failures.
std::vector<uint64_t> keep_given(std::vector<RecordedProgram>& entries, size_t given) {
  constexpr size_t kPlainForms = 2;
  std::vector<double> times;
  for (size_t i = kPlainForms; i < entries.size(); ++i) {
    if (!entries[i].own_ms && entries[i].record.timing) times.push_back(entries[i].record.timing->min);
  }
  double slowest = std::numeric_limits<double>::infinity();
  if (times.size() > given) {
    const auto last = times.begin() + static_cast<std::ptrdiff_t>(given);
    std::nth_element(times.begin(), last, times.end());
    slowest = *last;
  }
  const bool all = entries.size() <= given + kPlainForms;
  std::vector<uint64_t> others;
  std::vector<RecordedProgram> kept;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Record& record = entries[i].record;
    if (all || i < kPlainForms || entries[i].own_ms || (record.timing && record.timing->min < slowest)) {
      kept.push_back(std::move(entries[i]));
    } else if (standing(record) > 0) {
      others.push_back(record.lowered_hash);
    }
  }
  entries = std::move(kept);
  return others;
}

}  // namespace

CandidatePtr candidate_of(const Record& record, const Workload& workload, const Space& space,
                          const RecordedNames& names) {
  const std::optional<Trace> trace = names.own(record);
  if (!trace) return nullptr;
  auto candidate = space.materialise(workload.program, *trace, RandomStream(0));
  if (!candidate || (*candidate)->lowered_hash != record.lowered_hash) return nullptr;
  return std::move(*candidate);
}

History::History(const Workload& workload, const Space& space, const RecordStore& store,
                 const RecordFilter& task, const RecordedRun& run, const RecordedNames& names, size_t given)
    : workload_(workload),
      space_(space),
      names_(names),
      recorded_(entries_of(store, task, run)),
      others_(keep_given(recorded_, given)) {}

std::vector<KnownProgram> History::next(ThreadPool& pool) {
  std::vector<KnownProgram> programs;
  while (programs.empty() && next_ < recorded_.size()) {
    std::vector<CandidatePtr> candidates(std::min(kReplayedAtOnce, recorded_.size() - next_));
    pool.parallel_for(candidates.size(), [&](size_t i) {
      candidates[i] = candidate_of(recorded_[next_ + i].record, workload_, space_, names_);
    });
    for (CandidatePtr& candidate : candidates) {
      const RecordedProgram& entry = recorded_[next_++];
      const Record& record = entry.record;
      if (!candidate) {
        ++lost_;
        continue;
      }
      programs.push_back({{std::move(candidate), record.timing, record.failure},
                          entry.own_ms,
                          standing(record) == 0,
                          entry.accepted});
    }
  }
  return programs;
}

}  // namespace tunesmith

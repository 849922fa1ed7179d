// Traces that a person names: files and records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

struct NamedTrace {
  std::string name;                          // as the person gave it
  std::optional<Record> record;              // nothing for a file
  std::optional<RecordedWorkload> workload;  // of a record: in whose names the trace is
  Trace trace;
  std::vector<SourceLocation> places;  // of its instructions
};

/// `name` is a file's, or else a record's id in `database` (as database_path() takes it). Throws UserError
/// with file, line and column.
NamedTrace load_trace(const std::string& name, const std::string& database);

/// The workload of this text: of the library or of a file, else one that the records remember, whose file may
/// be gone: by its whole text, or by its name and some parameters where only one fits. Throws UserError.
Workload find_workload(const std::string& text, const std::string& database);
/// Is `text`, a workload's on record, what was asked for: all of it, or its name and some of its parameters?
bool fits(const std::string& text, const std::string& asked);
/// The texts that the store remembers of workloads that fit `text` so; in the order they were stored.
std::vector<std::string> recorded_texts(const RecordStore& store, const std::string& text);

/// The record of this id, or of the only one that begins so (four digits at least). Throws UserError, with
/// the nearest id, when there is none, or several begin so.
Record find_record(const RecordStore& store, const std::string& id);

/// Nothing that fits the question was measured.
class NoRecord : public UserError {
 public:
  using UserError::UserError;
};

/// The best `n` records of the workload on this machine with this number of threads and the space's
/// extensions, by the store's one rule (RecordStore::best), of the space of this name if it is not empty; at
/// least one. Says on stderr when a space with other extensions has a faster one. Throws NoRecord when there
/// is none. `typed` is what the person called the workload, for the hint.
std::vector<Record> best_records(const Workload& workload, const Space& space, const std::string& database,
                                 int threads, const std::string& typed, size_t n,
                                 const std::string& space_name = "");
/// Is there a record that this very program was measured, and found right by the check as it is now, for this
/// task on this machine?
bool is_measured(const Candidate& candidate, const Workload& workload, const Space& space,
                 const std::string& database, int threads);

/// The workload that a record is of, from the text that the store keeps. Throws UserError for a file's trace.
Workload workload_of(const NamedTrace& named);
/// The program that the trace makes of the workload: that of a complete trace, else finished by the space's
/// modules; open decisions are drawn from stream 0. An instruction that is refused is a UserError at its
/// place, with the program as it then was.
CandidatePtr materialise(const Space& space, const Workload& workload, const NamedTrace& named,
                         const LoweringObserver& observer = {});
/// The same without finishing modules. `intrinsics`: those of the trace's space (Space::intrinsics()).
Schedule replay(const Workload& workload, const NamedTrace& named,
                const std::shared_ptr<const TensorIntrinsics>& intrinsics);

}  // namespace tunesmith::cli

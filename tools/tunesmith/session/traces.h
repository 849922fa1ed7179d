// Traces that the user names: files and records.
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
  std::string name;                          // as the user gave it
  std::optional<Record> record;              // nothing for a file
  std::optional<RecordedWorkload> workload;  // for a record: defines the names in the trace
  Trace trace;
  std::vector<SourceLocation> places;  // of its instructions
};

/// `name`: a file, or else the id of a record in `database` (as for
/// database_path()). Throws UserError with file, line and column.
NamedTrace load_trace(const std::string& name, const std::string& database);

/// The workload of a text: from the library or a file, else from the records, in case its file is
/// gone: by its whole text, or by its name and some parameters if that is unique. Throws UserError.
Workload find_workload(const std::string& text, const std::string& database);
/// Does `text`, a recorded workload's, match the request: all of it, or its name and some parameters?
bool fits(const std::string& text, const std::string& asked);
/// The texts that the store remembers of workloads that fit `text` so; in the order they were stored.
std::vector<std::string> recorded_texts(const RecordStore& store, const std::string& text);

/// The record with this id or unique prefix (at least four digits).
/// Throws UserError with the nearest id if there is none or several.
Record find_record(const RecordStore& store, const std::string& id);

/// No measurement matches the query.
class NoRecord : public UserError {
 public:
  using UserError::UserError;
};

/// The best `n` records of the workload on this machine with this number of threads and the
/// space's extensions, by the store's rule (RecordStore::best), of the space of this name if not
/// empty; at least one. Reports on stderr if a space with other extensions has a faster one.
/// Throws NoRecord if there is none. `typed`: the workload as the user wrote it, for the hint.
std::vector<Record> best_records(const Workload& workload, const Space& space, const std::string& database,
                                 int threads, const std::string& typed, size_t n,
                                 const std::string& space_name = "");
/// Is there a record that this very program was measured, and found right by the check as it is now, for this
/// task on this machine?
bool is_measured(const Candidate& candidate, const Workload& workload, const Space& space,
                 const std::string& database, int threads);

/// The workload that a record is of, from the text that the store keeps. Throws UserError for a file's trace.
Workload workload_of(const NamedTrace& named);
/// The program that the trace gives for the workload: by itself if complete, else
/// finished by the space's modules; open decisions are drawn from stream 0. A refused
/// instruction is a UserError at its location, with the program at that point.
CandidatePtr materialise(const Space& space, const Workload& workload, const NamedTrace& named,
                         const LoweringObserver& observer = {});
/// The same without finishing modules. `intrinsics`: those of the trace's space (Space::intrinsics()).
Schedule replay(const Workload& workload, const NamedTrace& named,
                const std::shared_ptr<const TensorIntrinsics>& intrinsics);

}  // namespace tunesmith::cli

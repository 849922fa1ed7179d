// Loads the traces that the user names: files and records.
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
  std::optional<Record> record;              // nothing if the trace is a file's
  std::optional<RecordedWorkload> workload;  // for a record: defines the names in the trace
  Trace trace;
  std::vector<SourceLocation> places;  // the location of each instruction
};

/// `name`: a file, or else the id of a record in `database` (as for
/// database_path()). Throws UserError with file, line and column.
NamedTrace load_trace(const std::string& name, const std::string& database);

/// The workload with this text: from the library or a file, else from the records, since the file may be
/// gone. Records are matched by the whole text, or by the name and some parameters if that is unique. Throws
/// UserError.
Workload find_workload(const std::string& text, const std::string& database);
/// Does `text`, a recorded workload's, match the request: entirely, or by its name and some parameters?
bool fits(const std::string& text, const std::string& asked);
/// The recorded workloads' texts that fit `text`, in the order of insertion.
std::vector<std::string> recorded_texts(const RecordStore& store, const std::string& text);

/// The record with this id or unique prefix (at least four digits). Throws UserError, with the nearest id if
/// no record has it.
Record find_record(const RecordStore& store, const std::string& id);

/// No measurement matches the query.
class NoRecord : public UserError {
 public:
  using UserError::UserError;
};

/// Where the programs were measured that a command takes.
struct Measurements {
  std::string database;  // as for database_path()
  int threads = 1;
  /// Environment::machine(). Nothing: this machine, or workers of its identity if they have a faster program
  /// of the task.
  std::optional<uint64_t> machine = {};
};
/// The machine of the measurements of the task.
uint64_t machine_of(const Measurements& measurements, const RecordStore& store, const TaskKey& task);

/// The best `n` records of the workload by these measurements and with the space's extensions, by the store's
/// rule (RecordStore::best); at least one. `space_name`, if not empty, restricts them to one space. Reports
/// on stderr if a space with other extensions has a faster one. Throws NoRecord if there is none. `typed`:
/// the workload as the user wrote it, for the hint.
std::vector<Record> best_records(const Workload& workload, const Space& space,
                                 const Measurements& measurements, const std::string& typed, size_t n,
                                 const std::string& space_name = "");
/// Does a record show that this very program was measured, and accepted by the current check, for this task
/// and by these measurements?
bool is_measured(const Candidate& candidate, const Workload& workload, const Space& space,
                 const Measurements& measurements);

/// The record's workload, from the text in the store. Throws UserError for a file's trace.
Workload workload_of(const NamedTrace& named);
/// The program that the trace gives for the workload. The space's modules finish an incomplete trace; open
/// decisions are drawn from stream 0. Throws UserError at the location of a refused instruction, with the
/// program at that point.
CandidatePtr materialise(const Space& space, const Workload& workload, const NamedTrace& named,
                         const LoweringObserver& observer = {});
/// The same without finishing an incomplete trace. `intrinsics`: those of the trace's space
/// (Space::intrinsics()).
Schedule replay(const Workload& workload, const NamedTrace& named,
                const std::shared_ptr<const TensorIntrinsics>& intrinsics);

}  // namespace tunesmith::cli

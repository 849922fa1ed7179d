// The record store: one SQLite database file that holds
// all measurements. docs/records.md describes its tables.
//
// Schema. Opening a store of an older schema for writing copies it aside and converts it;
// opening it for reading converts it in memory and leaves the file unchanged. migration()
// reports it. Schemas before 6 are refused: no release wrote them.
//
// Durability. When add() returns, the record is on disk (write-ahead
// log, synced at every commit): it survives SIGKILL at any moment,
// and power failures as far as the disk keeps its promises.
//
// Threads and processes. All functions are thread-safe (a mutex serialises them), and several
// processes may read and write one file; a writer waits for another up to 30 s. Reopen it after
// fork(). The file must be on a local file system: the write-ahead log does not work over a network.
//
// Errors. UserError: the file is not a record store, or has a newer schema.
// EnvironmentError: the disk is full; the file is damaged, not accessible, or stayed locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/records/environment.h"
#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The schema that this version writes.
inline constexpr int kRecordSchema = 9;

/// Selects records; unset fields match everything.
struct RecordFilter {
  std::optional<TaskKey> task = {};  // a search's history is {.task = ..., .environment = ...}
  std::optional<uint64_t> workload_hash = {};
  std::optional<std::string> workload = {};  // canonical text
  std::optional<std::string> target = {};
  std::optional<uint64_t> environment = {};  // Environment::hash()
  std::optional<uint64_t> machine = {};      // Environment::machine(): with any software
  std::optional<std::string> space = {};
  std::optional<uint64_t> rules_hash = {};
  std::optional<uint64_t> seed = {};
  std::optional<std::string> run = {};  // RecordedRun::id
  std::optional<uint64_t> lowered_hash = {};
  std::optional<MeasurementKind> kind = {};
  std::optional<bool> ok = {};
  std::optional<FailureCause> cause = {};
};

/// Selects the best programs.
struct BestQuery {
  TaskKey task;
  uint64_t machine = 0;                   // Environment::machine() of the measurements
  std::optional<std::string> space = {};  // only programs found by runs in the space of this name
};

/// What happened to a store of an older schema when it was opened.
struct MigrationReport {
  int from_schema = 0;
  std::filesystem::path copy;  // the original store: "records.db.schema6.bak"; empty if opened for reading
  size_t records = 0;          // converted
  size_t left_out = 0;         // from before schema 3, without threads and program
};

/// The result of importing lines of a JSONL file or merging a store.
struct ImportReport {
  size_t added = 0;
  size_t known = 0;  // already in the store with the same id and content
  /// Refused records, one text each: "file:line: reason". The rest was imported.
  std::vector<std::string> refused;
  /// Of a merged store with an older schema.
  std::optional<MigrationReport> migration;
};

/// What remove() deleted.
struct RemovalReport {
  size_t records = 0;
  size_t programs = 0;      // programs without any remaining record
  int64_t freed_bytes = 0;  // of the file and its log; other processes may have written meanwhile
};

struct CheckReport {
  size_t records = 0;
  size_t environments = 0;
  std::vector<std::string> faults;

  bool clean() const { return faults.empty(); }
};

class RecordStore {
 public:
  enum class Mode {
    Create,    // opens it, or creates the file and its folder
    Existing,  // opens it; UserError if the file does not exist
    Read,      // as Existing, without changes: functions that add throw EnvironmentError
    Rescue     // as Read; reads what is readable of a truncated file
  };

  explicit RecordStore(const std::filesystem::path& path, Mode mode = Mode::Create);
  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  const std::filesystem::path& path() const;

  /// Set in the process that converted the store (or its copy in memory), and only there.
  const std::optional<MigrationReport>& migration() const;

  /// From now on for_each(), list() and best() skip records with a damaged row and call this
  /// with the record and the damage; without it they throw. It must not call the store.
  void on_damage(std::function<void(const std::string& fault)> tell);

  /// Must precede the first run that names it; adding it again has no effect.
  void add_environment(const Environment& environment);
  std::optional<Environment> environment(uint64_t hash) const;
  /// The undamaged ones, ordered by hash.
  std::vector<Environment> environments() const;

  /// Must precede its first record. One hash may have several texts (equal layers
  /// of a network); a second definition for one hash and text has no effect.
  void add_workload(const RecordedWorkload& workload);
  /// Replaces the stored definition of this hash and text.
  void mend_workload(const RecordedWorkload& workload);
  /// The first stored workload with this hash and a definition. The names in a
  /// program's trace are those of Record::workload, which may be another one.
  std::optional<RecordedWorkload> workload(uint64_t hash) const;
  /// The workload with this hash and text.
  std::optional<RecordedWorkload> workload(uint64_t hash, std::string_view text) const;

  /// Must precede its first run; adding it again has no effect.
  void add_space(const RecordedSpace& space);
  std::optional<RecordedSpace> space(std::string_view name, uint64_t rules_hash) const;

  /// Must precede its first record. Its space and environment
  /// must be stored and its id new; otherwise InternalError.
  void add_run(const RecordedRun& run);
  /// A killed run never ends and keeps ended_ms == 0. InternalError for an unknown id.
  void end_run(std::string_view id, int64_t ended_ms, std::string_view because);
  /// All or none, with one sync to disk.
  void end_runs(std::span<const std::string> ids, int64_t ended_ms, std::string_view because);
  std::optional<RecordedRun> run(std::string_view id) const;

  /// Must be valid (roof_fault), with a new id and a stored environment; otherwise InternalError.
  void add_roof(const RecordedRoof& roof);
  /// The undamaged ones, in the order of measurement.
  std::vector<RecordedRoof> roofs() const;
  /// The highest roof of a quantity measured for the target, threads and device of
  /// `task` on `machine` (Environment::machine()), in any environment: all shares
  /// of a peak refer to it. "operations u8" includes a unit's ("operations u8 of
  /// UNIT"), for the extensions of `task` only. Nothing if none was measured.
  std::optional<RecordedRoof> highest_roof(const TaskKey& task, uint64_t machine,
                                           std::string_view quantity) const;

  /// True if it was added; false if a record with this id exists, which stays
  /// unchanged. The record must be valid (record_fault), and its environment,
  /// run and workload stored; otherwise InternalError.
  bool add(const Record& record);
  /// All or none, with one sync to disk; returns the number of new ones.
  size_t add(std::span<const Record> records);

  std::optional<Record> find(std::string_view id) const;
  size_t count(const RecordFilter& filter = {}) const;
  /// In the order of insertion, which resuming and learning rely on.
  std::vector<Record> list(const RecordFilter& filter = {}) const;
  /// The same records one by one, without holding all in memory. `visit` must not call this store.
  void for_each(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const;
  /// Every task that has records, in the order of insertion.
  std::vector<TaskKey> tasks(const RecordFilter& filter = {}) const;
  /// The best `n` programs of a task, best first, each with its representative measurement. `tune`, `build`,
  /// `bench` and `records best` use this order:
  ///  1. Only successes of exactly this task on this machine count. A program is excluded if any measurement
  ///     of this task on this machine found it to be wrong (wrong_result, out_of_bounds, process_state,
  ///     implausible_time, crash, illegal_instruction). Measurements of kind Bench are ignored.
  ///  2. One ranking decides. A later one, in the order of insertion (clocks may be wrong), replaces it only
  ///     if it timed the earlier ranking's best again or found a faster one: a ranking does not beat a
  ///     program that it omits.
  ///  3. First come programs that searches measured after the deciding ranking, in its environment, and that
  ///     took less than the smallest sample of its best: an interrupted run has not ranked them.
  ///  4. Then the programs of that ranking, by Record::seconds: they were timed in turn.
  ///  5. Then all others, by Record::seconds, those of the ranking's environment (hardware and software)
  ///     before others; without a ranking, those of the environment with most programs, of equals the
  ///     latest. An undisturbed measurement represents a program before a disturbed one, then the one with
  ///     the most samples, then the latest.
  /// Ties go to the earlier record.
  std::vector<Record> best(const BestQuery& query, size_t n) const;

  /// Is a ranking missing? True if no ranking timed the first of best(), if a program measured later may be
  /// faster, or if one that its ranking omits was clearly faster by its own measurement.
  bool never_compared(const BestQuery& query) const;

  /// Writes one JSON object per line, each with a checksum; environments, workloads,
  /// spaces and runs precede the first line that refers to them. Roofs are written with
  /// their environment. Returns the damaged items that were omitted, one text each.
  [[nodiscard]] std::vector<std::string> export_jsonl(std::ostream& out,
                                                      const RecordFilter& filter = {}) const;
  /// The same for these records of this store.
  [[nodiscard]] std::vector<std::string> export_jsonl(std::ostream& out,
                                                      std::span<const Record> records) const;
  /// Imports the output of export_jsonl, lines in any order. A damaged
  /// line is refused and reported with its number; the rest is imported. `name`
  /// names the input in the report.
  [[nodiscard]] ImportReport import_jsonl(std::istream& in, const std::string& name);
  /// Imports everything from another store. It is only read, but
  /// a store of an older schema is converted as by opening it.
  [[nodiscard]] ImportReport merge(const std::filesystem::path& other);

  /// Deletes the matching records permanently, with programs that
  /// have no other record, all or none, and shrinks the file.
  RemovalReport remove(const RecordFilter& filter);

  /// Returns what is wrong with a record's trace, or "".
  using TraceValidator = std::function<std::string(const Record&)>;
  /// Checks the database's integrity, its references, all checksums, the validity
  /// of all records, and, with a validator, the traces of all records.
  [[nodiscard]] CheckReport check(const TraceValidator& validator = {}) const;

  /// Private to the library.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

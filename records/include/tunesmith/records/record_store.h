// The record store: one SQLite database file that holds everything ever measured. docs/records.md has its
// tables.
//
// Schema. A store of an older schema is copied aside and brought to this one when it is opened to be written;
// to be read, it is brought to this one in memory, and the file stays as it is. migration() says so. What an
// older schema did not say stays unknown (Record::attributed).
//
// Durability. add() returns when the record is on disk (write-ahead log, synced at every commit): what was
// reported after that survives SIGKILL of the process at any moment, and a power cut as far as the disk keeps
// its word.
//
// Threads and processes. All functions may be called from any thread (a mutex serialises them), and several
// processes may read and write one file at once; a writer waits for another up to 30 s. Open it anew after
// fork(). The file must lie on a local file system: the write-ahead log does not work over a network.
//
// Errors. UserError: the file is not a record store, or was written by a newer Tunesmith. EnvironmentError:
// the disk is full, the file is damaged or cannot be read or written, or it stayed locked.
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

/// Of the stores that this Tunesmith writes.
inline constexpr int kRecordSchema = 8;

/// Which records; what is not set is not asked for.
struct RecordFilter {
  std::optional<TaskKey> task = {};  // what a search's history is: {.task = ..., .environment = ...}
  std::optional<uint64_t> workload_hash = {};
  std::optional<std::string> workload = {};  // canonical text
  std::optional<std::string> target = {};
  std::optional<uint64_t> environment = {};  // Environment::hash()
  std::optional<uint64_t> machine = {};      // Environment::machine(): any software on that machine
  std::optional<std::string> space = {};
  std::optional<uint64_t> rules_hash = {};
  std::optional<uint64_t> seed = {};
  std::optional<std::string> run = {};  // RecordedRun::id
  std::optional<uint64_t> lowered_hash = {};
  std::optional<MeasurementKind> kind = {};
  std::optional<bool> attributed = {};
  std::optional<bool> ok = {};
  std::optional<FailureCause> cause = {};
};

/// Of what the best programs are asked.
struct BestQuery {
  TaskKey task;
  uint64_t machine = 0;                   // Environment::machine(): on which they were measured
  std::optional<std::string> space = {};  // only what runs in the space of this name measured
};

/// What became of a store of an older schema when it was opened.
struct MigrationReport {
  int from_schema = 0;
  std::filesystem::path copy;  // the store as it was: "records.db.schema2.bak"; empty: it was only read
  size_t records = 0;          // carried over; those of schemas 1 and 2 are unattributed
  /// Damaged ones, which are in the store as it was alone; one text each.
  std::vector<std::string> left_out;
};

/// What became of the lines of a JSONL file or of the records of a merged store.
struct ImportReport {
  size_t added = 0;
  size_t known = 0;  // already here under the same id, with the same content
  /// Refused, one text each: "file:line: reason". The rest was taken in.
  std::vector<std::string> refused;
  /// Of a merged store that was of an older schema.
  std::optional<MigrationReport> migration;
};

/// What remove() took away.
struct RemovalReport {
  size_t records = 0;
  size_t programs = 0;      // of which no record is left
  int64_t freed_bytes = 0;  // of the file and its log; another process may have written meanwhile
};

struct CheckReport {
  size_t records = 0;
  size_t unattributed = 0;  // of `records`
  size_t environments = 0;
  std::vector<std::string> faults;

  bool clean() const { return faults.empty(); }
};

class RecordStore {
 public:
  enum class Mode {
    Create,    // opens, or creates the file and its folder
    Existing,  // opens; a file that is not there is a UserError
    Read,      // as Existing, and changes nothing: what adds to it throws EnvironmentError
    Rescue     // as Read, of a file that is cut short what can be read
  };

  explicit RecordStore(const std::filesystem::path& path, Mode mode = Mode::Create);
  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  const std::filesystem::path& path() const;

  /// Set by the process that brought the store, or what it read of it, up to date, and only there.
  const std::optional<MigrationReport>& migration() const;

  /// From now on for_each(), list() and best() leave out a record whose row is damaged, and call this with
  /// its name and what is wrong; without it they throw. It must not call the store.
  void on_damage(std::function<void(const std::string& fault)> tell);

  /// Must precede the first run that names it; adding again does nothing.
  void add_environment(const Environment& environment);
  std::optional<Environment> environment(uint64_t hash) const;
  /// Those that are not damaged, in order of their hashes.
  std::vector<Environment> environments() const;

  /// Must precede the first record of it. One hash may have several texts, as equal layers of a network have;
  /// a second definition for one hash and text changes nothing.
  void add_workload(const RecordedWorkload& workload);
  /// Takes the definition in the place of the one that is stored with this hash and text.
  void mend_workload(const RecordedWorkload& workload);
  /// The first that was stored with this hash and a definition. A program's trace has the names of the
  /// workload of Record::workload, which may be another.
  std::optional<RecordedWorkload> workload(uint64_t hash) const;
  /// That with this text.
  std::optional<RecordedWorkload> workload(uint64_t hash, std::string_view text) const;

  /// Must precede the first run in it; adding again does nothing.
  void add_space(const RecordedSpace& space);
  std::optional<RecordedSpace> space(std::string_view name, uint64_t rules_hash) const;

  /// Must precede its first record. Its space and environment must be known and its id new; otherwise
  /// InternalError.
  void add_run(const RecordedRun& run);
  /// A run that was killed never ends, and keeps ended_ms == 0. InternalError for an unknown id.
  void end_run(std::string_view id, int64_t ended_ms, std::string_view because);
  /// All or none, with one sync to disk.
  void end_runs(std::span<const std::string> ids, int64_t ended_ms, std::string_view because);
  std::optional<RecordedRun> run(std::string_view id) const;

  /// Must be fit (roof_fault), its id new and its environment known; otherwise InternalError.
  void add_roof(const RecordedRoof& roof);
  /// Those that are not damaged, in the order in which they were measured.
  std::vector<RecordedRoof> roofs() const;
  /// The highest of a quantity that was measured for the target, threads and device of `task` on `machine`
  /// (Environment::machine()), in whichever of its environments: what every share of a peak is of. With
  /// "operations u8" also that of a unit ("operations u8 of UNIT"), for the extensions of `task` alone.
  /// Nothing when none was measured.
  std::optional<RecordedRoof> highest_roof(const TaskKey& task, uint64_t machine,
                                           std::string_view quantity) const;

  /// True when it was added; false when a record with this id is there already, which stays as it is.
  /// The record must be fit (record_fault) and its environment known, and when it is attributed, its run and
  /// workload, too; otherwise InternalError.
  bool add(const Record& record);
  /// All or none, with one sync to disk; answers how many were new.
  size_t add(std::span<const Record> records);

  std::optional<Record> find(std::string_view id) const;
  size_t count(const RecordFilter& filter = {}) const;
  /// In the order of insertion: what resume and learning read.
  std::vector<Record> list(const RecordFilter& filter = {}) const;
  /// The same records one by one, without holding them all. `visit` must not call this store.
  void for_each(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const;
  /// Every task that has records, in the order in which they came.
  std::vector<TaskKey> tasks(const RecordFilter& filter = {}) const;
  /// The best `n` programs of a task, each with the measurement that it counts by, best first. The one rule
  /// by which `tune`, `build`, `bench` and `records best` decide:
  ///  1. Only attributed successes of exactly this task, measured on this machine. A program that any
  ///     measurement of this task on this machine found to be wrong (wrong_result, out_of_bounds,
  ///     process_state, implausible_time, crash, illegal_instruction) is out. Measurements of kind Bench
  ///     decide nothing.
  ///  2. One ranking decides. A later one (in the order of insertion: clocks go wrong) takes its place only
  ///  if
  ///     it timed the best of the earlier one again, or found a faster one: what a ranking leaves out was not
  ///     beaten by it.
  ///  3. First what searches found since that ranking, where it took less than the best one of the ranking
  ///     ever did: a run that was interrupted has not ranked it.
  ///  4. Then the programs of that ranking, by Record::seconds: they were measured interleaved.
  ///  5. Behind them the rest, by Record::seconds, those of the ranking's environment (hardware and software)
  ///     before others; where nothing was ranked, those of the one in which most programs were measured, of
  ///     equals the latest. A program counts by its undisturbed measurement with the most samples, of equals
  ///     the latest.
  /// Ties go to the earlier record.
  std::vector<Record> best(const BestQuery& query, size_t n) const;

  /// One JSON object a line, each with a checksum; environments, workloads, spaces and runs stand before the
  /// first line that names them. With an environment go its roofs. Answers what was left out because it is
  /// damaged, one text each.
  [[nodiscard]] std::vector<std::string> export_jsonl(std::ostream& out,
                                                      const RecordFilter& filter = {}) const;
  /// The same of these records, which are this store's.
  [[nodiscard]] std::vector<std::string> export_jsonl(std::ostream& out,
                                                      std::span<const Record> records) const;
  /// Takes in what export_jsonl wrote, lines in any order, also what older versions wrote, as unattributed
  /// records. A damaged line is refused and reported with its
  /// number; the rest is imported. `name` stands for the input in the report.
  [[nodiscard]] ImportReport import_jsonl(std::istream& in, const std::string& name);
  /// Takes in all of another store. It is only read, save that one of an older schema is brought up to date
  /// as by opening it.
  [[nodiscard]] ImportReport merge(const std::filesystem::path& other);

  /// Takes away the records that fit, for good, and the programs of which no other record is, all or none,
  /// and gives the file's room back.
  RemovalReport remove(const RecordFilter& filter);

  /// What is wrong with a record's trace, or "".
  using TraceValidator = std::function<std::string(const Record&)>;
  /// The database's own integrity, its references, every checksum, every record's fitness, and, where a
  /// validator is given, every attributed record's trace.
  [[nodiscard]] CheckReport check(const TraceValidator& validator = {}) const;

  /// Private to the library.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunesmith
#pragma GCC visibility pop

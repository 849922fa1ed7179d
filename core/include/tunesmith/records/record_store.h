// The record store: one SQLite database file that holds every candidate ever measured.
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

#include "tunesmith/measure/environment.h"
#include "tunesmith/records/record.h"

namespace tunesmith {

/// Which records; what is not set is not asked for.
struct RecordFilter {
  std::optional<uint64_t> workload_hash = {};
  std::optional<std::string> workload = {};  // canonical text
  std::optional<std::string> target = {};
  std::optional<uint64_t> environment = {};  // Environment::hash()
  std::optional<uint64_t> machine = {};      // Environment::machine(): any software on that machine
  std::optional<std::string> space = {};
  std::optional<uint64_t> rules_hash = {};
  std::optional<uint64_t> seed = {};
  std::optional<bool> ok = {};
  std::optional<FailureCause> cause = {};
};

/// What became of the lines of a JSONL file or of the records of a merged store.
struct ImportReport {
  size_t added = 0;
  size_t known = 0;  // already here under the same id, with the same content
  /// Refused, one text each: "file:line: reason". The rest was taken in.
  std::vector<std::string> refused;
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
    Create,   // opens, or creates the file and its folder
    Existing  // opens; a file that is not there is a UserError
  };

  explicit RecordStore(const std::filesystem::path& path, Mode mode = Mode::Create);
  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  const std::filesystem::path& path() const;

  /// Must precede the first record that names it; adding again does nothing.
  void add_environment(const Environment& environment);
  std::optional<Environment> environment(uint64_t hash) const;
  /// Those that are not damaged, in order of their hashes.
  std::vector<Environment> environments() const;

  /// True when it was added; false when a record with this id is there already, which stays as it is.
  /// The record must be fit (record_fault) and its environment known; otherwise InternalError.
  bool add(const Record& record);
  /// All or none, with one sync to disk; answers how many were new.
  size_t add(std::span<const Record> records);

  std::optional<Record> find(std::string_view id) const;
  size_t count(const RecordFilter& filter = {}) const;
  /// In the order of insertion: what resume and learning read.
  std::vector<Record> list(const RecordFilter& filter = {}) const;
  /// The same records one by one, without holding them all. `visit` must not call this store.
  void for_each(const RecordFilter& filter, const std::function<void(const Record&)>& visit) const;
  /// The fastest `n` programs by their least time, since disturbances only add; each once for a target and
  /// environment: a program measured several times counts by its record with the most samples, the latest of
  /// equals. Ties go to the earlier record. Set `environment` or `machine` in the filter wherever times are
  /// compared.
  std::vector<Record> best(const RecordFilter& filter, size_t n) const;

  /// One JSON object a line, each with a checksum; an environment stands before the first record that names
  /// it. Answers what was left out because it is damaged, one text each.
  [[nodiscard]] std::vector<std::string> export_jsonl(std::ostream& out,
                                                      const RecordFilter& filter = {}) const;
  /// Takes in what export_jsonl wrote, lines in any order. A damaged line is refused and reported with its
  /// number; the rest is imported. `name` stands for the input in the report.
  [[nodiscard]] ImportReport import_jsonl(std::istream& in, const std::string& name);
  /// Takes in all of another store, which is only read.
  [[nodiscard]] ImportReport merge(const std::filesystem::path& other);

  /// What is wrong with a record's trace, or "".
  using TraceValidator = std::function<std::string(const Record&)>;
  /// The database's own integrity, its references, every checksum, every record's fitness, and, where a
  /// validator is given, every trace.
  [[nodiscard]] CheckReport check(const TraceValidator& validator = {}) const;

  /// Private to the kernel.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunesmith

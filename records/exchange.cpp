// Records between stores: JSONL out and in, and whole stores merged.
#include <chrono>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "store_impl.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
/// Writes lines: each item once, before the first line that refers to it.
class Export {
 public:
  Export(sqlite::Database& database, std::ostream& out) : out_(out) {
    gather("environments", environments_, database, scan_environments,
           [](const Environment& environment) { return std::to_string(environment.hash()); });
    gather("workloads", workloads_, database, scan_workloads,
           [](const RecordedWorkload& workload) { return key(workload.hash, workload.text); });
    gather("spaces", spaces_, database, scan_spaces,
           [](const RecordedSpace& space) { return key(space.rules_hash, space.name); });
    gather("runs", runs_, database, scan_runs, [](const RecordedRun& run) { return run.id; });
    past_damage("roofs", [&] {
      scan_roofs(database, [&](const Stored<RecordedRoof>& stored) {
        if (const RecordedRoof* roof = stored.value()) {
          roofs_.push_back(*roof);
        } else {
          left_out.push_back(fmt::format("{}: {}", stored.name, stored.fault()));
        }
      });
    });
  }

  void write(const Record& record) {
    write(environments_, std::to_string(record.environment));
    named_.insert(record.environment);
    write(workloads_, key(record.workload_hash, record.workload));
    write(spaces_, key(record.rules_hash, record.space));
    write(runs_, record.run);
    out_ << line_of(record) << '\n';
  }

  /// Writes the roofs of all environments that records referred to.
  void finish() {
    for (const RecordedRoof& roof : roofs_) {
      if (named_.contains(roof.environment)) out_ << line_of(roof) << '\n';
    }
    out_.flush();
    if (!out_) throw EnvironmentError("the export could not be written");
  }

  std::vector<std::string> left_out;

 private:
  using Lines = std::map<std::string, std::string>;  // that are not written yet

  static std::string key(uint64_t hash, const std::string& text) { return fmt::format("{} {}", hash, text); }

  template <class Value, class Key>
  void gather(const char* what, Lines& lines, sqlite::Database& database,
              void (*scan)(sqlite::Database&, const Visit<Value>&), const Key& key_of) {
    past_damage(what, [&] {
      scan(database, [&](const Stored<Value>& stored) {
        if (const Value* value = stored.value()) {
          lines.emplace(key_of(*value), line_of(*value));
        } else {
          left_out.push_back(fmt::format("{}: {}", stored.name, stored.fault()));
        }
      });
    });
  }

  /// Data behind an unreadable page is omitted.
  template <class Scan>
  void past_damage(const char* what, const Scan& scan) {
    try {
      scan();
    } catch (const sqlite::DamagedFile&) {
      left_out.push_back(fmt::format("some {}: that part of the file is damaged", what));
    }
  }

  void write(Lines& lines, const std::string& key) {
    const auto found = lines.find(key);
    if (found == lines.end()) return;
    out_ << found->second << '\n';
    lines.erase(found);
  }

  std::ostream& out_;
  Lines environments_;
  Lines workloads_;
  Lines spaces_;
  Lines runs_;
  std::vector<RecordedRoof> roofs_;
  std::set<uint64_t> named_;  // environments written so far
};

/// Insertions per transaction. Other writers get their turn between transactions.
constexpr size_t kBatch = 1000;
/// The pause between transactions: waiting writers poll the lock.
constexpr std::chrono::milliseconds kTurn{5};

/// Imports items.
class Intake {
 public:
  Intake(sqlite::Database& database, ImportReport& report) : database_(database), report_(report) {}

  void add(const Environment& environment, const std::string& /*place*/) {
    begin();
    insert_environment(database_, environment);
    turn();
  }
  void add(const RecordedWorkload& workload, const std::string& /*place*/) {
    begin();
    insert_workload(database_, workload);
    turn();
  }
  void add(const RecordedSpace& space, const std::string& /*place*/) {
    begin();
    insert_space(database_, space);
    turn();
  }
  void add(const RecordedRun& run, const std::string& place) {
    if (!take(run, place)) waiting_runs_.emplace_back(place, run);
  }
  void add(const RecordedRoof& roof, const std::string& place) {
    if (!take(roof, place)) waiting_roofs_.emplace_back(place, roof);
  }
  void add(const Record& record, const std::string& place) {
    if (const std::string fault = record_fault(record); !fault.empty()) {
      refuse(place, fault);
    } else if (!take(record, place)) {
      waiting_.emplace_back(place, record);
    }
  }

  void refuse(const std::string& place, const std::string& why) {
    report_.refused.push_back(fmt::format("{}: {}", place, why));
  }

  /// Imports what waited for later lines, and commits.
  void finish() {
    for (const auto& [place, run] : waiting_runs_) {
      if (!take(run, place))
        refuse(place, "its space or its environment is missing in the store and in the input");
    }
    for (const auto& [place, roof] : waiting_roofs_) {
      if (!take(roof, place)) refuse(place, "its environment is missing in the store and in the input");
    }
    for (const auto& [place, record] : waiting_) {
      if (!take(record, place))
        refuse(place, "its environment, its workload or its run is missing in the store and in the input");
    }
    commit();
  }

  /// Releases the write lock until the next insertion.
  void commit() {
    if (transaction_) transaction_->commit();
    transaction_.reset();
    pending_ = 0;
  }

 private:
  // Returns false if something that the item refers to is unknown so far.
  bool take(const RecordedRun& run, const std::string& place) {
    begin();
    const Insertion insertion = insert_run(database_, run);
    if (insertion == Insertion::UnknownReference) return false;
    if (insertion == Insertion::Conflict) refuse(place, fmt::format("another run has its id '{}'", run.id));
    turn();
    return true;
  }
  bool take(const RecordedRoof& roof, const std::string& place) {
    begin();
    const Insertion insertion = insert_roof(database_, roof);
    if (insertion == Insertion::UnknownReference) return false;
    if (insertion == Insertion::Conflict) refuse(place, fmt::format("another roof has its id '{}'", roof.id));
    turn();
    return true;
  }
  bool take(const Record& record, const std::string& place) {
    begin();
    switch (insert_record(database_, record)) {
      case Insertion::Added:
        ++report_.added;
        break;
      case Insertion::Known:
        ++report_.known;
        break;
      case Insertion::Conflict:
        refuse(place, fmt::format("another record has its id '{}'", record.id));
        break;
      case Insertion::ContradictsItsRun:
        refuse(place, "its seed, space or environment is not that of its run");
        break;
      case Insertion::UnknownReference:
        return false;
    }
    turn();
    return true;
  }

  void begin() {
    if (!transaction_) transaction_.emplace(database_);
  }

  void turn() {
    if (++pending_ < kBatch) return;
    commit();
    std::this_thread::sleep_for(kTurn);
  }

  sqlite::Database& database_;
  ImportReport& report_;
  std::optional<sqlite::Transaction> transaction_;
  size_t pending_ = 0;
  // The second is the first's place in the input.
  std::vector<std::pair<std::string, RecordedRun>> waiting_runs_;
  std::vector<std::pair<std::string, RecordedRoof>> waiting_roofs_;
  std::vector<std::pair<std::string, Record>> waiting_;
};
/// The next lines; empty at the end of the input.
std::vector<std::string> next_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < kBatch && read_line(in, line);) lines.push_back(std::move(line));
  return lines;
}
}  // namespace

std::vector<std::string> RecordStore::export_jsonl(std::ostream& out, const RecordFilter& filter) const {
  const std::lock_guard lock(impl_->mutex);
  const sqlite::Transaction snapshot(impl_->database, sqlite::Transaction::Kind::Read);
  Export lines(impl_->database, out);
  std::set<std::string> seen;
  const Visit<Record> write = [&](const Stored<Record>& stored) {
    if (!seen.insert(stored.name).second) return;
    if (const Record* record = stored.value()) {
      lines.write(*record);
    } else {
      lines.left_out.push_back(fmt::format("{}: {}", stored.name, stored.fault()));
    }
  };
  try {
    scan_records(impl_->database, filter, write);
  } catch (const sqlite::DamagedFile&) {
    const int64_t lost = scan_readable_records(impl_->database, filter, write);
    lines.left_out.push_back(
        fmt::format("{}: the file is damaged: up to {} records are unreadable, {} are readable",
                    path().string(), lost, seen.size()));
  }
  lines.finish();
  return std::move(lines.left_out);
}

std::vector<std::string> RecordStore::export_jsonl(std::ostream& out, std::span<const Record> records) const {
  const std::lock_guard lock(impl_->mutex);
  const sqlite::Transaction snapshot(impl_->database, sqlite::Transaction::Kind::Read);
  Export lines(impl_->database, out);
  for (const Record& record : records) lines.write(record);
  lines.finish();
  return std::move(lines.left_out);
}

ImportReport RecordStore::import_jsonl(std::istream& in, const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  ImportReport report;
  Intake intake(impl_->database, report);
  size_t number = 0;
  // A batch is read before its transaction begins: input that blocks must not hold the write lock.
  for (std::vector<std::string> lines; !(lines = next_lines(in)).empty(); intake.commit()) {
    for (const std::string& line : lines) {
      ++number;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::string place = fmt::format("{}:{}", name, number);
      try {
        std::visit([&](const auto& content) { intake.add(content, place); }, parse_line(line));
      } catch (const UserError& error) {
        intake.refuse(place, error.what());
      }
    }
  }
  intake.finish();
  if (in.bad()) throw EnvironmentError(fmt::format("{}: could not be read completely", name));
  return report;
}

ImportReport RecordStore::merge(const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(path(), other, error)) {
    throw UserError({other.string()}, "a record store cannot be merged into itself");
  }
  Impl source(other, Mode::Read);
  const sqlite::Transaction snapshot(source.database, sqlite::Transaction::Kind::Read);
  const std::lock_guard lock(impl_->mutex);
  ImportReport report;
  report.migration = source.migration;
  Intake intake(impl_->database, report);
  const auto take = [&](const auto& stored) {
    const std::string place = fmt::format("{}: {}", other.string(), stored.name);
    if (const auto* value = stored.value()) {
      intake.add(*value, place);
    } else {
      intake.refuse(place, stored.fault());
    }
  };
  scan_environments(source.database, take);
  scan_workloads(source.database, take);
  scan_spaces(source.database, take);
  scan_runs(source.database, take);
  scan_roofs(source.database, take);
  scan_records(source.database, {}, take);
  intake.finish();
  return report;
}

}  // namespace tunesmith

// Records between stores: JSONL out and in, and whole stores merged.
#include <istream>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "records/record_json.h"
#include "records/store_impl.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
/// Takes records in, a thousand to a transaction: other writers get their turn between.
class Intake {
 public:
  Intake(RecordStore::Impl& store, ImportReport& report) : store_(store), report_(report) {}

  void add(const Environment& environment) {
    store_.insert_environment(environment);
    turn();
  }
  /// False when the record's environment is not known (yet).
  bool add(const Record& record, const std::string& place) {
    switch (store_.insert(record)) {
      case RecordStore::Impl::Insertion::Added:
        ++report_.added;
        break;
      case RecordStore::Impl::Insertion::Known:
        ++report_.known;
        break;
      case RecordStore::Impl::Insertion::Conflict:
        report_.refused.push_back(fmt::format("{}: another record has its id '{}'", place, record.id));
        break;
      case RecordStore::Impl::Insertion::UnknownEnvironment:
        return false;
    }
    turn();
    return true;
  }
  void finish() { transaction_->commit(); }

 private:
  void turn() {
    if (++pending_ < 1000) return;
    transaction_->commit();
    transaction_.emplace(store_.database);
    pending_ = 0;
  }

  RecordStore::Impl& store_;
  ImportReport& report_;
  std::optional<sqlite::Transaction> transaction_{std::in_place, store_.database};
  size_t pending_ = 0;
};
}  // namespace

std::vector<std::string> RecordStore::export_jsonl(std::ostream& out, const RecordFilter& filter) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> left_out;
  std::map<uint64_t, std::string> environments;
  impl_->scan_environments([&](const StoredEnvironment& stored) {
    if (const Environment* environment = stored.environment()) {
      environments.emplace(environment->hash(), environment_line(*environment));
    } else {
      left_out.push_back(
          fmt::format("environment {}: {}", stored.hash, std::get<std::string>(stored.content)));
    }
  });
  impl_->scan(filter, true, [&](const StoredRow& row) {
    const Record* record = row.record();
    if (record == nullptr) {
      left_out.push_back(fmt::format("record '{}': {}", row.id, std::get<std::string>(row.content)));
      return;
    }
    if (const auto environment = environments.find(record->environment); environment != environments.end()) {
      out << environment->second << '\n';
      environments.erase(environment);
    }
    out << record_line(*record) << '\n';
  });
  out.flush();
  if (!out) throw EnvironmentError("the export could not be written");
  return left_out;
}

ImportReport RecordStore::import_jsonl(std::istream& in, const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  ImportReport report;
  Intake intake(*impl_, report);
  // Lines may stand in any order, so a record may come before its environment.
  std::vector<std::pair<std::string, Record>> waiting;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("{}:{}", name, number);
    try {
      const auto content = parse_line(line);
      if (const auto* environment = std::get_if<Environment>(&content)) {
        intake.add(*environment);
        continue;
      }
      const Record& record = std::get<Record>(content);
      if (const std::string fault = record_fault(record); !fault.empty()) throw UserError(fault);
      if (!intake.add(record, place)) waiting.emplace_back(place, record);
    } catch (const UserError& error) {
      report.refused.push_back(fmt::format("{}: {}", place, error.what()));
    }
  }
  for (const auto& [place, record] : waiting) {
    if (!intake.add(record, place))
      report.refused.push_back(place + ": its environment is neither here nor in the input");
  }
  intake.finish();
  if (in.bad()) throw EnvironmentError(fmt::format("{}: could not be read to its end", name));
  return report;
}

ImportReport RecordStore::merge(const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(path(), other, error)) {
    throw UserError({other.string()}, "a record store cannot be merged into itself");
  }
  Impl source(other, Mode::Existing);
  const std::lock_guard lock(impl_->mutex);
  ImportReport report;
  Intake intake(*impl_, report);
  source.scan_environments([&](const StoredEnvironment& stored) {
    if (const Environment* environment = stored.environment()) {
      intake.add(*environment);
    } else {
      report.refused.push_back(fmt::format("{}: environment {}: {}", other.string(), stored.hash,
                                           std::get<std::string>(stored.content)));
    }
  });
  source.scan({}, true, [&](const StoredRow& row) {
    const std::string place = fmt::format("{}: record '{}'", other.string(), row.id);
    const Record* record = row.record();
    if (record == nullptr) {
      report.refused.push_back(fmt::format("{}: {}", place, std::get<std::string>(row.content)));
    } else if (!intake.add(*record, place)) {
      report.refused.push_back(place + ": its environment is damaged");
    }
  });
  intake.finish();
  return report;
}

}  // namespace tunesmith

#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/progress.h>

#include "commands.h"
#include "exit_codes.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

RecordStore open(const RecordsArguments& arguments) {
  return open_records(arguments.database, RecordStore::Mode::Existing);
}

RecordFilter filter_of(const RecordsArguments& arguments) {
  RecordFilter filter;
  if (!arguments.workload.empty()) filter.workload_hash = WorkloadLibrary().load(arguments.workload).hash;
  return filter;
}

void print_records(const Common& common, const std::vector<Record>& records) {
  nlohmann::json list = nlohmann::json::array();
  for (const Record& record : records) {
    if (common.json) {
      nlohmann::json one{
          {"id", record.id}, {"workload", record.workload}, {"space", record.space}, {"ok", record.ok()}};
      if (record.timing) one["seconds"] = record.timing->min;
      if (record.failure) one["cause"] = failure_cause_name(record.failure->cause);
      list.push_back(std::move(one));
      continue;
    }
    const std::string outcome = record.ok() ? seconds_text(record.timing->min)
                                            : fmt::format("{} {}", failure_cause_name(record.failure->cause),
                                                          record.failure->message);
    fmt::print(output(), "{}  {:<10} {}  {}\n", record.id, record.space, record.workload, outcome);
  }
  if (common.json) fmt::print(output(), "{}\n", nlohmann::json{{"records", list}}.dump());
}

int report_import(const Common& common, const ImportReport& report) {
  for (const std::string& refused : report.refused) fmt::print(stderr, "tunesmith: {}\n", refused);
  if (common.json) {
    fmt::print(
        output(), "{}\n",
        nlohmann::json{{"added", report.added}, {"known", report.known}, {"refused", report.refused}}.dump());
  } else {
    fmt::print(output(), "{} added, {} known, {} refused\n", report.added, report.known,
               report.refused.size());
  }
  return report.refused.empty() ? kDone : kBadInput;
}

}  // namespace

int run_records_best(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  RecordFilter filter = filter_of(arguments);
  filter.attributed = true;
  const uint64_t machine = detect_environment({}).machine();
  std::vector<Record> records;
  for (const TaskKey& task : store.tasks(filter)) {
    for (Record& record : store.best({task, machine}, static_cast<size_t>(arguments.count)))
      records.push_back(std::move(record));
  }
  print_records(common, records);
  return records.empty() ? kNothingFound : kDone;
}

int run_records_list(const Common& common, const RecordsArguments& arguments) {
  std::vector<Record> records = open(arguments).list(filter_of(arguments));
  const auto wanted = static_cast<size_t>(arguments.count);
  if (records.size() > wanted)
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(wanted));
  print_records(common, records);
  return kDone;
}

int run_records_export(const Common& /*common*/, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  std::ofstream file;
  if (!arguments.file.empty()) {
    file.open(arguments.file);
    if (!file) throw EnvironmentError(fmt::format("{}: cannot be written", arguments.file));
  }
  std::ostream& out = arguments.file.empty() ? std::cout : file;
  const std::vector<std::string> left_out = store.export_jsonl(out, filter_of(arguments));
  out.flush();
  if (!out) throw EnvironmentError("the records could not be written whole");
  for (const std::string& fault : left_out) fmt::print(stderr, "tunesmith: {}\n", fault);
  return left_out.empty() ? kDone : kEnvironmentFault;
}

int run_records_import(const Common& common, const RecordsArguments& arguments) {
  RecordStore store = open_records(arguments.database);
  if (arguments.file.empty()) return report_import(common, store.import_jsonl(std::cin, "stdin"));
  std::ifstream in(arguments.file);
  if (!in) throw UserError(SourceLocation{arguments.file, 0, 0}, "cannot be read");
  return report_import(common, store.import_jsonl(in, arguments.file));
}

int run_records_merge(const Common& common, const RecordsArguments& arguments) {
  RecordStore store = open_records(arguments.database);
  return report_import(common, store.merge(arguments.file));
}

int run_records_check(const Common& common, const RecordsArguments& arguments) {
  const CheckReport report = open(arguments).check([](const Record& record) -> std::string {
    try {
      Trace::parse(record.trace, "record " + record.id);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  });
  for (const std::string& fault : report.faults) fmt::print(stderr, "tunesmith: {}\n", fault);
  if (common.json) {
    fmt::print(
        output(), "{}\n",
        nlohmann::json{{"records", report.records}, {"faults", report.faults}, {"clean", report.clean()}}
            .dump());
  } else {
    fmt::print(output(), "{} records, {} environments: {}\n", report.records, report.environments,
               report.clean() ? "clean" : fmt::format("{} faults", report.faults.size()));
  }
  return report.clean() ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli

#include "traces.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <tunesmith/measure/environment.h>
#include <tunesmith/records/record_store.h>

#include "session.h"

namespace tunesmith::cli {

NamedTrace load_trace(const std::string& name, const std::string& database) {
  NamedTrace named{name, "", {}, {}};
  const bool is_file = std::filesystem::exists(name);
  // Ids are 16 hexadecimal digits; everything else was meant to be a file.
  if (!is_file && (name.size() != 16 || name.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    throw UserError(SourceLocation{name}, "no such file, and no record's id",
                    "tunesmith records list shows the records");
  }
  if (is_file) {
    std::ifstream file(name);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file && !file.eof()) throw UserError(SourceLocation{name}, "cannot be read");
    named.trace = Trace::parse(text, name, &named.places);
    return named;
  }
  const RecordStore store = open_records(database, RecordStore::Mode::Existing);
  const Record record = find_record(store, name);
  named.workload = record.workload;
  named.trace = Trace::parse(record.trace, "record " + name, &named.places);
  return named;
}

Record find_record(const RecordStore& store, const std::string& id) {
  if (std::optional<Record> record = store.find(id)) return std::move(*record);
  std::vector<std::string> known;
  store.for_each({}, [&](const Record& record) { known.push_back(record.id); });
  const std::string nearest = nearest_name(id, known);
  throw UserError(fmt::format("no record '{}' in {}", id, store.path().string()),
                  nearest.empty() ? "tunesmith records list shows the records"
                                  : fmt::format("did you mean '{}'?", nearest));
}

Record best_record(const Workload& workload, const Space& space, const std::string& database, int threads,
                   const std::string& space_name) {
  const RecordStore store = open_records(database, RecordStore::Mode::Existing);
  BestQuery query;
  query.task = {workload.hash, task_target(space.target()), threads, ""};
  query.machine = detect_environment(space.plugin_versions()).machine();
  if (!space_name.empty()) query.space = space_name;
  const std::vector<Record> best = store.best(query, 1);
  if (!best.empty()) return best.front();
  throw UserError(
      fmt::format("no record of {} with {} threads on this machine{} in {}", workload.key, threads,
                  space_name.empty() ? "" : fmt::format(" of space '{}'", space_name), store.path().string()),
      fmt::format("run: tunesmith tune {}{}", workload.key,
                  space_name.empty() ? "" : " --space " + space_name));
}

Schedule replay(const Workload& workload, const NamedTrace& named) {
  size_t refused_at = 0;
  auto schedule = tunesmith::replay(workload.program, named.trace, RandomStream(0), &refused_at);
  if (!schedule) throw UserError(named.places.at(refused_at), schedule.error().what());
  return std::move(*schedule);
}

CandidatePtr materialise(const Space& space, const Workload& workload, const NamedTrace& named,
                         const LoweringObserver& observer) {
  auto candidate = space.materialise(workload.program, named.trace, RandomStream(0), observer);
  if (candidate) return std::move(*candidate);
  if (candidate.error().cause == FailureCause::IllegalSchedule) static_cast<void>(replay(workload, named));
  throw UserError(SourceLocation{named.name},
                  fmt::format("the trace does not fit {}: {}", workload.key, candidate.error().message));
}

}  // namespace tunesmith::cli

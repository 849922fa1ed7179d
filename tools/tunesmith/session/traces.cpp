#include "traces.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include <tunesmith/measure/verifier_version.h>
#include <tunesmith/measuring/turns.h>
#include <tunesmith/records/environment.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/support/files.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/target/target_identity.h>
#include <tunesmith/tuning/tuner.h>
#include <tunesmith/tuning/with_names_of.h>
#include <tunesmith/workload/library.h>

#include "next_command.h"
#include "progress/progress.h"
#include "say.h"
#include "session.h"

namespace tunesmith::cli {

namespace fs = std::filesystem;

namespace {
/// The length of a record's id.
constexpr size_t kIdDigits = 16;
constexpr size_t kMinIdDigits = 4;
}  // namespace

NamedTrace load_trace(const std::string& name, const std::string& database) {
  NamedTrace named{name, {}, {}, {}, {}};
  const bool is_file = std::filesystem::exists(name);
  // A name with other than hexadecimal digits was meant to be a file.
  if (!is_file && (name.size() < kMinIdDigits || name.size() > kIdDigits ||
                   name.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    throw UserError(SourceLocation{name}, "neither a file nor a record id",
                    "list records with: tunesmith records list");
  }
  if (is_file) {
    constexpr int64_t kMaxTraceBytes = int64_t{64} << 20;
    const std::string text = read_whole_file(name, kMaxTraceBytes);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      throw UserError(SourceLocation{name}, "the file is empty",
                      fmt::format("the trace of the unscheduled program is the line '# tunesmith trace {}'",
                                  kTraceVersion));
    named.trace = Trace::parse(text, name, &named.places);
    return named;
  }
  const RecordStore store = open_records(database, RecordStore::Mode::Read);
  named.record = find_record(store, name);
  named.workload = store.workload(named.record->workload_hash);
  if (named.workload && named.record->workload != named.workload->text)
    named.workload = store.workload(named.record->workload_hash, named.record->workload);
  // Stores without definitions have only the workload's name.
  if (!named.workload)
    named.workload = RecordedWorkload{named.record->workload_hash, named.record->workload, ""};
  named.trace = Trace::parse(named.record->trace, "record " + name, &named.places);
  return named;
}

namespace {

/// Renames the trace's blocks to the workload's names.
NamedTrace in_names_of(const Workload& workload, const NamedTrace& named,
                       const std::shared_ptr<const TensorIntrinsics>& intrinsics) {
  // Equal kernels of two networks may have one text but name arrays differently.
  const bool same_names =
      named.record && named.record->workload == workload.key &&
      (named.workload->definition.empty() || named.workload->definition == workload.definition);
  if (!named.record || same_names) return named;
  const auto other = sound_workload(*named.workload);
  if (!other) return named;  // it has another task or unknown names: replaying accepts or refuses it
  if (other->hash != workload.hash) return named;
  NamedTrace renamed = named;
  if (auto trace = with_names_of(workload.program, other->program, named.trace, intrinsics))
    renamed.trace = *trace;
  return renamed;
}

}  // namespace

bool fits(const std::string& text, const std::string& asked) {
  if (text == asked) return true;
  const auto [name, known] = parse_workload_text(text);
  const auto [asked_name, wanted] = parse_workload_text(asked);
  return name == asked_name && std::ranges::all_of(wanted, [&](const ParamText& param) {
           return std::ranges::find(known, param) != known.end();
         });
}

std::vector<std::string> recorded_texts(const RecordStore& store, const std::string& text) {
  std::vector<std::string> found;
  for (const TaskKey& task : store.tasks({})) {
    const std::optional<RecordedWorkload> recorded = store.workload(task.workload_hash);
    if (!recorded || std::ranges::find(found, recorded->text) != found.end()) continue;
    if (fits(recorded->text, text)) found.push_back(recorded->text);
  }
  return found;
}

Workload find_workload(const std::string& text, const std::string& database) {
  const std::string name = parse_workload_text(text).first;
  const WorkloadLibrary library;
  const std::vector<std::string> known = library.list();
  const fs::path path = database_path(database);
  const bool is_file = name.find('/') != std::string::npos || name.ends_with(".yaml");
  if (is_file || std::ranges::find(known, name) != known.end() || !fs::exists(path))
    return library.load(text);
  const RecordStore store = open_records(database, RecordStore::Mode::Read);
  const std::vector<std::string> texts = recorded_texts(store, text);
  if (texts.empty()) return library.load(text);  // it reports what is wrong with the text
  const auto exact = std::ranges::find(texts, text);
  if (texts.size() > 1 && exact == texts.end()) {
    throw UserError(fmt::format("'{}' matches {} recorded workloads", text, texts.size()),
                    fmt::format("give all parameters, for example {}", texts.front()));
  }
  const std::string& chosen = exact != texts.end() ? *exact : texts.front();
  for (const TaskKey& task : store.tasks({})) {
    if (const auto recorded = store.workload(task.workload_hash, chosen);
        recorded && !recorded->definition.empty())
      return workload_of({"", {}, recorded, {}, {}});
  }
  return library.load(text);
}

Record find_record(const RecordStore& store, const std::string& id) {
  if (std::optional<Record> record = store.find(id)) return std::move(*record);
  std::vector<std::string> known;
  store.for_each({}, [&](const Record& record) { known.push_back(record.id); });
  const auto begins = [&](const std::string& other) { return other.starts_with(id); };
  const auto count = std::ranges::count_if(known, begins);
  if (id.size() >= kMinIdDigits && count == 1) return *store.find(*std::ranges::find_if(known, begins));
  if (id.size() >= kMinIdDigits && count > 1)
    throw UserError(fmt::format("'{}' matches the ids of {} records in {}", id, count, store.path().string()),
                    "give more of the id");
  const std::string nearest = nearest_name(id, known);
  throw UserError(fmt::format("no record '{}' in {}", id, store.path().string()),
                  nearest.empty() ? "list records with: tunesmith records list"
                                  : fmt::format("did you mean '{}'?", nearest));
}

namespace {

/// The best programs of the same workload, threads and target with other extensions, one per task.
std::vector<Record> best_with_other_extensions(const RecordStore& store, const BestQuery& query) {
  std::vector<Record> others;
  RecordFilter filter;
  filter.workload_hash = query.task.workload_hash;
  filter.machine = query.machine;
  for (const TaskKey& task : store.tasks(filter)) {
    const bool alike = task.threads == query.task.threads && task.device == query.task.device &&
                       same_but_extensions(task.target, query.task.target);
    if (!alike || task.target == query.task.target) continue;
    const std::vector<Record> best = store.best({task, query.machine, {}}, 1);
    if (!best.empty()) others.push_back(best.front());
  }
  return others;
}

/// Tells the user of a faster program of another space, which this space does not consider.
void tell_of_faster(const RecordStore& store, const BestQuery& query, const Record& best) {
  const std::vector<Record> others = best_with_other_extensions(store, query);
  const auto fastest = std::ranges::min_element(others, {}, &Record::seconds);
  if (fastest == others.end() || fastest->seconds >= best.seconds) return;
  say(fmt::format(
      "space '{}', with other extensions, has a faster program for {}: {} instead of {}; use --space {}",
      fastest->space, fastest->workload, seconds_text(fastest->seconds), seconds_text(best.seconds),
      fastest->space));
}

}  // namespace

namespace {

/// Whose measurements count: the named machine, or this one and workers of its identity.
std::vector<uint64_t> machines_of(const Measurements& measurements) {
  if (measurements.machine) return {*measurements.machine};
  const Environment here = detect_environment({});
  return {here.machine(), common_environment(here).machine()};
}

}  // namespace

uint64_t machine_of(const Measurements& measurements, const RecordStore& store, const TaskKey& task) {
  const std::vector<uint64_t> machines = machines_of(measurements);
  uint64_t chosen = machines.front();
  double fastest = std::numeric_limits<double>::infinity();
  for (const uint64_t machine : machines) {
    const std::vector<Record> best = store.best({task, machine, {}}, 1);
    if (best.empty() || best.front().seconds >= fastest) continue;
    chosen = machine;
    fastest = best.front().seconds;
  }
  return chosen;
}

std::vector<Record> best_records(const Workload& workload, const Space& space,
                                 const Measurements& measurements, const std::string& typed, size_t n,
                                 const std::string& space_name) {
  const RecordStore store = open_records(measurements.database, RecordStore::Mode::Read);
  const int threads = measurements.threads;
  BestQuery query;
  query.task = task_key(workload, space, threads);
  query.machine = machine_of(measurements, store, query.task);
  if (!space_name.empty()) query.space = space_name;
  std::vector<Record> best = store.best(query, n);
  if (!best.empty()) {
    tell_of_faster(store, query, best.front());
    return best;
  }
  const std::vector<Record> others = best_with_other_extensions(store, query);
  Common asked;
  asked.space = space_name.empty() ? space.spec().name : space_name;
  const auto available = static_cast<int>(available_processors());
  throw NoRecord(
      fmt::format("no record of {} with {} threads on this machine{} in {}{}", workload.key, threads,
                  space_name.empty() ? "" : fmt::format(" of space '{}'", space_name), store.path().string(),
                  others.empty() ? ""
                                 : fmt::format("; space '{}' has some with other extensions or versions",
                                               others.front().space)),
      "run: " + spoken_command(with_same_place({"tune", typed}, asked, measurements.database,
                                               threads == available ? 0 : threads)));
}

bool is_measured(const Candidate& candidate, const Workload& workload, const Space& space,
                 const Measurements& measurements) {
  if (!std::filesystem::exists(database_path(measurements.database))) return false;
  const RecordStore store = open_records(measurements.database, RecordStore::Mode::Read);
  RecordFilter filter;
  filter.task = task_key(workload, space, measurements.threads);
  filter.lowered_hash = candidate.lowered_hash;
  bool right = false;
  bool wrong = false;
  for (const uint64_t machine : machines_of(measurements)) {
    filter.machine = machine;
    store.for_each(filter, [&](const Record& record) {
      right = right || (record.ok() && record.verifier.value_or(0) >= kVerifierVersion);
      wrong = wrong || (record.failure && !record.transient());
    });
  }
  return right && !wrong;
}

Workload workload_of(const NamedTrace& named) {
  if (!named.workload)
    throw UserError("a trace file does not name its workload", "give the workload with --workload");
  if (named.workload->definition.empty()) return WorkloadLibrary().load(named.workload->text);
  auto recorded = sound_workload(*named.workload);
  if (recorded) return std::move(*recorded);
  try {
    Workload known = WorkloadLibrary().load(named.workload->text);
    if (known.hash == named.workload->hash) return known;
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): the record's own fault is told
  }
  throw UserError(fmt::format("workload '{}' on record: {}", named.workload->text, recorded.error()),
                  "'tunesmith records check' lists damaged records; tuning the workload again repairs it");
}

Schedule replay(const Workload& workload, const NamedTrace& named,
                const std::shared_ptr<const TensorIntrinsics>& intrinsics) {
  size_t refused_at = 0;
  const NamedTrace own = in_names_of(workload, named, intrinsics);
  auto schedule = tunesmith::replay(workload.program, own.trace, RandomStream(0), &refused_at, intrinsics);
  if (!schedule) throw UserError(own.places.at(refused_at), schedule.error().what());
  return std::move(*schedule);
}

CandidatePtr materialise(const Space& space, const Workload& workload, const NamedTrace& named,
                         const LoweringObserver& observer) {
  const Trace trace = in_names_of(workload, named, space.intrinsics()).trace;
  auto candidate = space.materialise(workload.program, trace, RandomStream(0), observer);
  if (candidate) return std::move(*candidate);
  if (candidate.error().cause == FailureCause::IllegalSchedule)
    static_cast<void>(replay(workload, named, space.intrinsics()));
  throw UserError(SourceLocation{named.name},
                  fmt::format("the trace does not fit {}: {}", workload.key, candidate.error().message));
}

}  // namespace tunesmith::cli

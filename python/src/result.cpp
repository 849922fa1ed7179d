// The result of a run in Python: attributes, printing, pickling.
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/target/separate_device.h>

#include "errors.h"
#include "records.h"
#include "session.h"
#include "traces.h"
#include "tune.h"

namespace tunesmith::python {
namespace {

/// A number, text or truth of a result: shown, and part of its pickle.
template <typename T>
struct Field {
  const char* name;
  T TuneResult::* member;
  const char* help;
};

constexpr std::tuple kShown{
    Field{"best_seconds", &TuneResult::best_seconds, "Of one call."},
    Field{"baseline_seconds", &TuneResult::baseline_seconds, "Of the unscheduled program."},
    Field{"ended_because", &TuneResult::ended_because, "\"trials\", \"time limit\", \"expected gain\", ..."},
    Field{"trials", &TuneResult::trials, "Programs measured, those taken from the records included."},
    Field{"valid", &TuneResult::valid, "Of the trials: right, and timed."},
    Field{"resumed", &TuneResult::resumed, "Of the trials: taken from the records of the same run."},
    Field{"known", &TuneResult::known, "Programs of the task on record when the run began."},
    Field{"disturbed", &TuneResult::disturbed, "Measured while something else used the machine."},
    Field{"plain_alone", &TuneResult::plain_alone,
          "The budget covered only the baseline programs; nothing was searched."},
    Field{"interrupted", &TuneResult::interrupted, "Ctrl-C, or a callback, ended it."},
    Field{"exhausted", &TuneResult::exhausted, "Nothing was left to propose."},
};
constexpr std::tuple kBest{Field{"best_id", &TuneResult::best_id, ""},
                           Field{"best_space", &TuneResult::best_space, ""}};

struct Seconds {
  const char* name;
  double TuneTimes::* member;
};
constexpr Seconds kTimes[] = {
    {"generate", &TuneTimes::generate}, {"propose", &TuneTimes::propose}, {"model", &TuneTimes::model},
    {"build", &TuneTimes::build},       {"measure", &TuneTimes::measure}, {"wait", &TuneTimes::wait},
    {"wall", &TuneTimes::wall},
};

template <typename Fields, typename Work>
void for_each(const Fields& fields, const Work& work) {
  std::apply([&](const auto&... field) { (work(field), ...); }, fields);
}

bool found(const ResultRef& self) { return !self.value.best_id.empty(); }

RecordRef best_of(const ResultRef& self) {
  if (!found(self))
    throw cli::NoRecord(fmt::format("no valid program found for {}", self.workload->key),
                        "Result.found says so, and Result.failures why");
  const RecordStore store = cli::open_records(self.database, RecordStore::Mode::Read);
  std::shared_ptr<HeldSpace> own =
      self.value.best_space == self.space.source().name ? self.space.held() : nullptr;
  return RecordRef{cli::find_record(store, self.value.best_id), self.database, std::move(own), self.workload};
}

std::map<std::string, int64_t> failures_of(const TuneResult& result) {
  std::map<std::string, int64_t> named;
  for (const auto& [cause, count] : result.failures) named[std::string(failure_cause_name(cause))] = count;
  return named;
}

std::map<std::string, double> times_of(const TuneResult& result) {
  std::map<std::string, double> named;
  for (const Seconds& one : kTimes) named[one.name] = result.times.*one.member;
  return named;
}

double peak_of(const TuneResult& result) { return result.peak ? result.peak->per_second : 0.0; }

nb::list dropped_of(const TuneResult& result) {
  nb::list list;
  for (const NotRanked& one : result.dropped) {
    nb::dict fields;
    fields["record"] = one.record;
    fields["seconds"] = one.seconds;
    fields["why"] = one.why;
    list.append(fields);
  }
  return list;
}

/// Remarks on records that the result does not include.
std::string remarks(const TuneResult& result) {
  std::string text;
  if (result.plain_alone)
    text += "\n  only the baseline programs were measured: search starts with the trials after them";
  for (const NotRanked& one : result.dropped)
    text += fmt::format("\n  record {}, the previous best with {}, could not be timed again: {}", one.record,
                        seconds_text(one.seconds), one.why);
  return text;
}

std::string result_text(const ResultRef& self) {
  const TuneResult& result = self.value;
  std::string text = fmt::format("{}: {} trials, {} valid{}", self.workload->key, result.trials, result.valid,
                                 result.interrupted ? ", interrupted" : "");
  if (!found(self)) return text + "; no valid program found" + remarks(result);
  const double speed = self.workload->flops / result.best_seconds;
  text += fmt::format("\n  best      {}{}, {:.1f} {}", seconds_text(result.best_seconds),
                      self.modelled ? " modelled" : "", speed * 1e-9,
                      operations_unit(computed_type(self.workload->program)));
  if (result.peak) text += fmt::format(", {:.1f} % of the peak", 100.0 * speed / result.peak->per_second);
  if (result.baseline_seconds > 0.0)
    text += fmt::format("\n  baseline  {}: the best is {:.1f} times as fast",
                        seconds_text(result.baseline_seconds), result.baseline_seconds / result.best_seconds);
  return text + fmt::format("\n  record    {}", result.best_id) + remarks(result);
}

/// The content of a pickle by name: numbers and texts.
nb::dict state_of(const ResultRef& self) {
  nb::dict state;
  const auto keep = [&](const auto& field) { state[field.name] = self.value.*field.member; };
  for_each(kShown, keep);
  for_each(kBest, keep);
  state["failures"] = failures_of(self.value);
  state["times"] = times_of(self.value);
  state["peak"] = peak_of(self.value);
  state["dropped"] = dropped_of(self.value);
  state["modelled"] = self.modelled;
  state["space"] = nb::make_tuple(self.space.source().file, self.space.source().name,
                                  nb::cast(self.space.source().plugin_paths));
  return state;
}

TuneResult value_of(const nb::dict& state) {
  TuneResult result;
  const auto take = [&](const auto& field) {
    auto& value = result.*field.member;
    value = nb::cast<std::remove_reference_t<decltype(value)>>(state[field.name]);
  };
  for_each(kShown, take);
  for_each(kBest, take);
  const auto failures = nb::cast<std::map<std::string, int64_t>>(state["failures"]);
  for (const FailureCause cause : all_failure_causes()) {
    const auto found = failures.find(std::string(failure_cause_name(cause)));
    if (found != failures.end()) result.failures[cause] = found->second;
  }
  const auto times = nb::cast<std::map<std::string, double>>(state["times"]);
  for (const Seconds& one : kTimes) result.times.*one.member = times.at(one.name);
  if (const auto peak = nb::cast<double>(state["peak"]); peak > 0.0) result.peak.emplace().per_second = peak;
  for (const nb::handle one : nb::cast<nb::list>(state["dropped"]))
    result.dropped.push_back({nb::cast<std::string>(one["record"]), nb::cast<double>(one["seconds"]),
                              nb::cast<std::string>(one["why"])});
  return result;
}

ResultRef restored(const nb::dict& state, const WorkloadRef& workload, const std::string& database) {
  const nb::tuple space = nb::cast<nb::tuple>(state["space"]);
  return {value_of(state),
          OriginalSpace(SpaceSource{nb::cast<std::string>(space[0]), nb::cast<std::string>(space[1]),
                                    nb::cast<std::vector<std::string>>(space[2])}),
          workload.value, database, nb::cast<bool>(state["modelled"])};
}

void bind_pickle(nb::class_<ResultRef>& result) {
  result
      .def_static(
          "restored", &restored, nb::arg("state"), nb::arg("workload"), nb::arg("database"),
          nb::sig("def restored(state: dict[str, typing.Any], workload: Workload, database: str) -> Result"),
          "Restores a result from its pickled state.")
      .def("__reduce__", [](nb::handle object) -> Reduced {
        const ResultRef& self = nb::cast<const ResultRef&>(object);
        return nb::make_tuple(nb::module_::import_("tunesmith._pickles").attr("result"),
                              nb::make_tuple(state_of(self), WorkloadRef{self.workload}, self.database),
                              object.attr("__dict__"));
      });
}

}  // namespace

void bind_result(nb::module_& module) {
  nb::class_<ResultRef> bound(module, "Result", nb::dynamic_attr(),
                              "What a run has found. Printed, it is a summary.");
  bound.def_prop_ro("found", &found, "Was anything valid found?")
      .def_prop_ro(
          "best", &best_of,
          "The best program of the task on record: a Record. Raises NoRecord if no valid program was found.");
  for_each(kShown, [&](const auto& field) {
    bound.def_prop_ro(
        field.name, [member = field.member](const ResultRef& self) { return self.value.*member; },
        field.help);
  });
  bound
      .def_prop_ro(
          "peak", [](const ResultRef& self) { return peak_of(self.value); },
          "Operations a second of the machine's peak kernel: the highest on record. 0: nothing was ranked.")
      .def_prop_ro(
          "failures", [](const ResultRef& self) { return failures_of(self.value); },
          "Trials that failed, by cause.")
      .def_prop_ro(
          "dropped", [](const ResultRef& self) { return dropped_of(self.value); },
          nb::for_getter(nb::sig("def dropped(self) -> list[Dropped]")),
          "The best on record before that the ranking could not time again: a list of dict (record, seconds, "
          "why).")
      .def_prop_ro(
          "seconds", [](const ResultRef& self) { return self.value.times.wall; }, "Of wall-clock.")
      .def_prop_ro(
          "times", [](const ResultRef& self) { return times_of(self.value); },
          "Wall-clock seconds by activity.")
      .def_prop_ro(
          "workload", [](const ResultRef& self) { return WorkloadRef{self.workload}; },
          "What was tuned: a Workload.")
      .def_prop_ro(
          "space", [](const ResultRef& self) { return SpaceRef{self.space.held()}; },
          "The Space that was searched.")
      .def_ro("records", &ResultRef::database, "The store's file.")
      .def("__repr__", &result_text);
  bind_pickle(bound);
}

}  // namespace tunesmith::python

// Records: measurements, and programs made from them.
#include "records.h"

#include <filesystem>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/target/packaging.h>

#include "errors.h"
#include "kernel.h"
#include "library_examples.h"
#include "shipping.h"
#include "traces.h"
#include "tunesmith/records/record_json.h"

namespace tunesmith::python {
namespace {

/// A store's file, reopened for each query: sees
/// what other processes add, and holds no lock.
struct RecordsRef {
  std::string path;
};

int threads_or_all(int threads) { return threads > 0 ? threads : static_cast<int>(available_processors()); }

WorkloadPtr workload_of(const RecordRef& self) {
  if (self.workload) return self.workload;
  return std::make_shared<const Workload>(cli::workload_of(cli::load_trace(self.value.id, self.database)));
}

std::shared_ptr<HeldSpace> space_of(const RecordRef& self, const SpaceLike& given) {
  if (!given.is_none()) return space_from(given).value;
  if (self.space) return self.space;
  const nb::str name(self.value.space.c_str());
  return space_from(name).value;
}

struct Shipment {
  std::shared_ptr<HeldSpace> space;
  WorkloadPtr workload;
  cli::Shipped shipped;
};

/// The record's program, verified when it was tuned or now.
Shipment ship_record(const RecordRef& self, const SpaceLike& space, const std::string& name) {
  require_own_process();
  Shipment shipment{space_of(self, space), workload_of(self), {}};
  cli::require_arrays_without_gaps(shipment.workload->program);
  const int threads = self.value.threads;
  const nb::gil_scoped_release unlocked;
  const cli::Shipper shipper(
      shipment.space->session, *shipment.space->space,
      {.measurements = {self.database, threads}, .worker_threads = threads, .quiet = true});
  const std::string symbol = (name.empty() ? cli::c_identifier(shipment.workload->name) : name) + "_kernel";
  shipment.shipped = shipper.ship(*shipment.workload, self.value.id, symbol);
  return shipment;
}

KernelObject build_record(const RecordRef& self, const SpaceLike& space) {
  Shipment shipment = ship_record(self, space, "");
  return kernel_of(std::move(shipment.space), std::move(shipment.workload),
                   std::move(shipment.shipped.kernel), self.value.threads,
                   std::move(shipment.shipped.provenance));
}

std::vector<std::string> library_of(const RecordRef& self, const PathLike& where, std::string name,
                                    const SpaceLike& space, bool example) {
  if (!name.empty()) cli::require_identifier(name);
  const std::string folder = path_from(where);
  Shipment shipment = ship_record(self, space, name);
  const nb::gil_scoped_release unlocked;
  Packaging* const packaging = shipment.space->space->target().packaging();
  if (packaging == nullptr)
    throw UserError(
        fmt::format("the target of space '{}' builds no libraries", shipment.space->space->spec().name));
  if (name.empty()) name = cli::c_identifier(shipment.workload->name);
  std::filesystem::create_directories(folder);
  const std::lock_guard lock(shipment.space->target);
  LibraryFiles files = packaging->build_library(
      {&shipment.shipped.kernel, &shipment.workload->program, name, folder, shipment.shipped.provenance});
  std::vector<std::string> all{files.library, files.header};
  all.insert(all.end(), files.others.begin(), files.others.end());
  if (!example) return all;
  const bool prepares = shipment.shipped.kernel.prepare.has_value();
  for (std::string& file : cli::write_examples(shipment.workload->program, name, prepares, folder))
    all.push_back(std::move(file));
  return all;
}

DictOf<nb::any> dict_of(const Record& record) {
  nb::dict fields;
  fields["id"] = record.id;
  fields["workload"] = record.workload;
  fields["seconds"] = record.ok() ? nb::cast(record.seconds) : nb::object(nb::none());
  fields["failure"] =
      record.failure ? nb::cast(std::string(failure_cause_name(record.failure->cause))) : nb::none();
  fields["message"] = record.failure ? nb::cast(record.failure->message) : nb::none();
  fields["kind"] = std::string(measurement_kind_name(record.kind));
  fields["space"] = record.space;
  fields["threads"] = record.threads;
  fields["modelled"] = record.modelled();
  fields["disturbed"] = record.disturbed;
  fields["verified_error"] = record.verified_error;
  fields["seed"] = record.seed;
  fields["candidate"] = record.candidate;
  fields["round"] = record.round;
  fields["score"] = record.score;
  fields["run"] = record.run;
  fields["time_ms"] = record.time_ms;
  fields["target"] = record.target;
  fields["program"] = hex64(record.lowered_hash);
  return fields;
}

std::string record_text(const RecordRef& self) {
  const Record& record = self.value;
  const std::string what =
      record.ok() ? fmt::format("{:.6g} s{}", record.seconds, record.modelled() ? " (modelled)" : "")
                  : fmt::format("failed: {}", failure_cause_name(record.failure->cause));
  return fmt::format("Record {}: {}, {}, space '{}'", record.id, record.workload, what, record.space);
}

ListOf<RecordRef> list_of(std::vector<Record> records, const std::string& database) {
  nb::list list;
  for (Record& record : records)
    list.append(nb::cast(RecordRef{std::move(record), database, nullptr, nullptr}));
  return list;
}

ListOf<RecordRef> best_on_record(const RecordsRef& self, const WorkloadLike& task, size_t n,
                                 const SpaceLike& space, int threads) {
  require_own_process();
  const WorkloadPtr workload = workload_from(task).value;
  const std::shared_ptr<HeldSpace> held = space_from(space).value;
  std::vector<Record> found;
  {
    const nb::gil_scoped_release unlocked;
    found =
        cli::best_records(*workload, *held->space, {self.path, threads_or_all(threads)}, workload->key, n);
  }
  nb::list list;
  for (Record& record : found) list.append(nb::cast(RecordRef{std::move(record), self.path, held, workload}));
  return list;
}

ListOf<RecordRef> all_on_record(const RecordsRef& self, const WorkloadLike& task, std::optional<bool> ok) {
  require_own_process();
  RecordFilter filter;
  filter.ok = ok;
  if (!task.is_none()) filter.workload_hash = workload_from(task).value->hash;
  std::vector<Record> found;
  {
    const nb::gil_scoped_release unlocked;
    found = cli::open_records(self.path, RecordStore::Mode::Read).list(filter);
  }
  return list_of(std::move(found), self.path);
}

/// From a line of an export.
RecordRef parse_record(const std::string& line, const WorkloadLike& workload, const std::string& database) {
  LineContent content = parse_line(line);
  auto* const record = std::get_if<Record>(&content);
  if (record == nullptr) throw UserError("the line is not a record");
  return {std::move(*record), database, nullptr, workload_from(workload).value};
}

nb::class_<RecordRef> bind_measurement(nb::module_& module) {
  return nb::class_<RecordRef>(module, "Record",
                               "One measurement: a program with its time in seconds, or why it failed.")
      .def_prop_ro(
          "id", [](const RecordRef& self) { return self.value.id; }, "The id that the command also uses.")
      .def_prop_ro(
          "seconds",
          [](const RecordRef& self) {
            return self.value.ok() ? std::optional(self.value.seconds) : std::nullopt;
          },
          "Of one call, what it is compared by; None: it failed.")
      .def_prop_ro(
          "samples",
          [](const RecordRef& self) {
            return self.value.timing ? self.value.timing->samples : std::vector<double>();
          },
          "Seconds, in the order in which they were taken.")
      .def_prop_ro(
          "failure",
          [](const RecordRef& self) {
            return self.value.failure
                       ? std::optional(std::string(failure_cause_name(self.value.failure->cause)))
                       : std::nullopt;
          },
          "The cause, as \"wrong_result\"; None: it succeeded.")
      .def_prop_ro(
          "message",
          [](const RecordRef& self) {
            return self.value.failure ? self.value.failure->message : std::string();
          },
          "Details of the failure; \"\": it worked.")
      .def_prop_ro(
          "modelled", [](const RecordRef& self) { return self.value.modelled(); },
          "Its time is modelled; only correctness was tested.")
      .def_prop_ro(
          "space", [](const RecordRef& self) { return self.value.space; },
          "The name of the space that it was found in.")
      .def_prop_ro(
          "threads", [](const RecordRef& self) { return self.value.threads; }, "That it was measured with.")
      .def_prop_ro(
          "workload", [](const RecordRef& self) { return WorkloadRef{workload_of(self)}; },
          "The Workload that it computes.")
      .def_prop_ro(
          "trace",
          [](const RecordRef& self) {
            IntrinsicsPtr intrinsics = self.space ? self.space->space->intrinsics() : nullptr;
            return TraceRef{Trace::parse(self.value.trace, "record " + self.value.id), workload_of(self),
                            std::move(intrinsics)};
          },
          "How its program is made.");
}

void bind_record(nb::module_& module) {
  bind_measurement(module)
      .def(
          "as_dict", [](const RecordRef& self) { return dict_of(self.value); },
          "Its columns by name: what a row of Records.frame() has.")
      .def(
          "build", &build_record, nb::arg("space") = nb::none(),
          R"(Compiles its program for this process: a Kernel. A program is called only if it was verified: when it was tuned, by
the check as it is now, or now. Raises UserError where the check refuses it, or the space has another target.)")
      .def("library", &library_of, nb::arg("folder"), nb::arg("name") = "", nb::arg("space") = nb::none(),
           nb::arg("example") = false,
           "Writes its program as a plain C library, as `tunesmith build` does: the files, the library and "
           "its header first. `example`: also programs in C and Python that call it.")
      .def("__eq__", [](const RecordRef& self, const RecordRef& other) { return self.value == other.value; })
      .def("__eq__", [](const RecordRef&, nb::handle) { return false; })
      .def("__hash__",
           [](const RecordRef& self) {
             return static_cast<int64_t>(std::hash<std::string>()(self.value.id) >> 1);
           })
      .def("__repr__", &record_text)
      .def_static("parse", &parse_record, nb::arg("line"), nb::arg("workload"), nb::arg("database"),
                  "Restores a record from its pickled line.")
      .def(
          "against",
          [](nb::handle self, const std::string& library, const SpaceLike& space, double seconds) {
            return nb::module_::import_("tunesmith.against")
                .attr("compare")(self, library, nb::arg("space") = space, nb::arg("seconds") = seconds);
          },
          nb::arg("library") = "best", nb::kw_only(), nb::arg("space") = nb::none(), nb::arg("seconds") = 3.0,
          nb::sig("def against(self, library: str = 'best', *, space: SpaceLike | None = None, "
                  "seconds: float = 3.0) -> Comparison"),
          "Times its program in turn with a library, called from Python: tunesmith.against.compare().")
      .def("__reduce__", [](const RecordRef& self) -> Reduced {
        return nb::make_tuple(
            nb::module_::import_("tunesmith._pickles").attr("record"),
            nb::make_tuple(line_of(self.value), WorkloadRef{workload_of(self)}, self.database));
      });
}

}  // namespace

void bind_records(nb::module_& module) {
  bind_record(module);
  nb::class_<RecordsRef>(module, "Records",
                         R"(A store of all that was measured, one SQLite file (docs/records.md).

    Records()         the one that the command uses
    Records("r.db")

It is opened anew for each question, so processes may write to it meanwhile.)")
      .def(
          "__init__",
          [](RecordsRef* self, const PathLike& path) {
            const std::string asked = path.is_none() ? "" : path_from(path);
            new (self) RecordsRef{cli::database_path(asked)};
          },
          nb::arg("path") = nb::none())
      .def_ro("path", &RecordsRef::path, "The store's file.")
      .def(
          "best", &best_on_record, nb::arg("task"), nb::arg("n") = 1, nb::arg("space") = nb::none(),
          nb::arg("threads") = 0,
          R"(The best `n` records of a workload on this machine, best first, at least one: by the rule of `tunesmith records best`.
`space`: with whose target and extensions; None: the default. `threads`: of the measured programs; 0: all. Raises
NoRecord.)")
      .def("list", &all_on_record, nb::arg("task") = nb::none(), nb::arg("ok") = nb::none(),
           "Records in the order in which they were measured: of a workload or of all; with `ok` only "
           "successes, or only failures.")
      .def(
          "frame",
          [](nb::handle self, const WorkloadLike& task,
             std::optional<bool> ok) -> nb::typed<nb::object, nb::any> {
            return nb::module_::import_("tunesmith._records").attr("frame")(self, task, ok);
          },
          nb::arg("task") = nb::none(), nb::arg("ok") = nb::none(),
          R"(The records of list() as a pandas frame, a row for each, by id: seconds, failure, kind, space, threads, seed, ...;
`time` is when it was measured, UTC. Needs pandas.)")
      .def(
          "find",
          [](const RecordsRef& self, const std::string& id) {
            require_own_process();
            const RecordStore store = cli::open_records(self.path, RecordStore::Mode::Read);
            return RecordRef{cli::find_record(store, id), self.path, nullptr, nullptr};
          },
          nb::arg("id"), "The record of this id, or of the only one that begins so. Raises UserError.")
      .def("__len__",
           [](const RecordsRef& self) {
             require_own_process();
             return cli::open_records(self.path, RecordStore::Mode::Read).count();
           })
      .def("__reduce__",
           [](nb::handle self) -> Reduced {
             return nb::make_tuple(nb::handle(self.type()), nb::make_tuple(self.attr("path")));
           })
      .def("__repr__", [](const RecordsRef& self) { return fmt::format("Records('{}')", self.path); });
}

}  // namespace tunesmith::python

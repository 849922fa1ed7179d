// Spaces: their files, sketches and candidates.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "refs.h"

namespace tunesmith::python {

namespace {

std::string builtin_spaces() { return (builtin_workload_folder().parent_path() / "spaces.yaml").string(); }

std::vector<std::string> absolute(std::vector<std::string> paths) {
  for (std::string& path : paths) path = std::filesystem::absolute(path).string();
  return paths;
}

std::string file_of_source(const SpacesFile& file) {
  return file.file() == builtin_spaces() ? "" : std::filesystem::absolute(file.file()).string();
}

}  // namespace

HeldSpace::HeldSpace(const cli::Common& common, SpacesFile file)
    : source{file_of_source(file), "", absolute(common.plugin_paths)},
      session(common, std::move(file)),
      space(session.space(TargetPresence::NotRequired)) {
  source.name = space->spec().name;
}

namespace {

cli::Common common_of(const std::string& file, const std::string& space,
                      const std::vector<std::string>& plugin_paths) {
  cli::Common common;
  common.plugin_paths = plugin_paths;
  common.spaces_file = file;
  common.space = space;
  common.command_line = "python";
  common.owns_process = false;
  return common;
}

/// A file whose spaces are composed on demand.
struct SpacesRef {
  std::shared_ptr<const SpacesFile> file;
  std::vector<std::string> plugin_paths;

  SpaceRef take(const std::string& name) const {
    require_own_process();
    const nb::gil_scoped_release unlocked;
    return {std::make_shared<HeldSpace>(common_of(file->file(), name, plugin_paths), *file)};
  }
};

SpacesRef load_spaces(const std::string& path, std::vector<std::string> plugin_paths) {
  require_own_process();
  const nb::gil_scoped_release unlocked;
  return {std::make_shared<const SpacesFile>(SpacesFile::load(path)), std::move(plugin_paths)};
}

/// The built-in spaces, or a file's.
SpacesRef spaces_of(nb::handle file, std::vector<std::string> plugin_paths) {
  return load_spaces(file.is_none() ? builtin_spaces() : path_from(file), std::move(plugin_paths));
}

std::string status_text(ModuleResult::Status status) {
  if (status == ModuleResult::Status::Broken) return "broken";
  return status == ModuleResult::Status::Applied ? "applied" : "declined";
}

ListOf<ScheduleRef> sketches(const SpaceRef& self, const WorkloadLike& workload) {
  require_own_process();
  const WorkloadPtr of = workload_from(workload).value;
  SketchSet set;
  {
    const nb::gil_scoped_release unlocked;
    set = self.value->space->generate(of->program);
  }
  nb::list list;
  for (Schedule& sketch : set.sketches) {
    list.append(nb::cast(ScheduleRef{std::make_shared<Schedule>(std::move(sketch)), of,
                                     self.value->space->intrinsics(), std::make_shared<const int>(0)}));
  }
  return list;
}

ListOf<DictOf<nb::any>> explain(const SpaceRef& self, const WorkloadLike& workload) {
  require_own_process();
  const WorkloadPtr of = workload_from(workload).value;
  SketchSet set;
  {
    const nb::gil_scoped_release unlocked;
    set = self.value->space->generate(of->program);
  }
  nb::list events;
  for (const ModuleEvent& event : set.events) {
    nb::dict one;
    one["module"] = event.module;
    one["block"] = event.block;
    one["status"] = status_text(event.status);
    one["reason"] = event.reason;
    one["schedules"] = event.forks;
    one["count"] = event.count;
    events.append(one);
  }
  return events;
}

}  // namespace

std::shared_ptr<HeldSpace> composed(const SpaceSource& source) {
  const SpacesRef file = source.file.empty() ? spaces_of(nb::none(), source.plugin_paths)
                                             : load_spaces(source.file, source.plugin_paths);
  return file.take(source.name).value;
}

SpaceRef space_from(nb::handle object) {
  if (nb::isinstance<SpaceRef>(object)) return nb::cast<SpaceRef>(object);
  if (object.is_none()) return spaces_of(nb::none(), {}).take("");
  if (nb::isinstance<nb::str>(object)) return spaces_of(nb::none(), {}).take(nb::cast<std::string>(object));
  throw UserError(fmt::format("expected a space or its name, not {}",
                              nb::cast<std::string>(nb::str(nb::handle(object.type())))));
}

namespace {

ProgramRef lower_in(const SpaceRef& self, const TraceRef& trace, const WorkloadLike& workload,
                    uint64_t seed) {
  require_own_process();
  const WorkloadPtr of = workload.is_none() ? trace.workload : workload_from(workload).value;
  if (!of) throw UserError("this trace has no workload", "name the workload");
  const nb::gil_scoped_release unlocked;
  auto candidate = self.value->space->materialise(of->program, trace.value, RandomStream(seed));
  if (!candidate)
    throw UserError(
        fmt::format("{}: {}", failure_cause_name(candidate.error().cause), candidate.error().message));
  const CandidatePtr made = *candidate;
  return {std::shared_ptr<const Program>(of, &of->program),
          std::shared_ptr<const LoweredProgram>(made, &made->lowered)};
}

void bind_spaces(nb::module_& module) {
  nb::class_<SpacesRef>(
      module, "Spaces",
      "The spaces of a file, by name. Each is composed, with its plugins, when it is asked for.")
      .def("__getitem__", &SpacesRef::take, nb::arg("name"),
           "The space of this name. Raises UserError with the nearest name, or where its text is wrong.")
      .def("__len__", [](const SpacesRef& self) { return self.file->names().size(); })
      .def("__iter__",
           [](const SpacesRef& self) { return IteratorOf<nb::str>(nb::iter(nb::cast(self.file->names()))); })
      .def("__contains__",
           [](const SpacesRef& self, const std::string& name) {
             const std::vector<std::string> names = self.file->names();
             return std::ranges::find(names, name) != names.end();
           })
      .def(
          "keys", [](const SpacesRef& self) { return self.file->names(); }, "The names of the spaces.")
      .def("__repr__", [](const SpacesRef& self) {
        std::string names;
        for (const std::string& name : self.file->names()) names += (names.empty() ? "" : ", ") + name;
        return fmt::format("Spaces of {}: {}", self.file->file(), names);
      });
}

nb::class_<SpaceRef> bind_description(nb::module_& module) {
  return nb::class_<SpaceRef>(module, "Space", R"(A target and the modules that make programs for it.

    Space("cpu")                       one that comes with Tunesmith
    Space.load("mine.yaml")["mine"]    one of a file (docs/spaces-yaml.md))")
      .def(
          "__init__",
          [](SpaceRef* self, const std::string& name) {
            new (self) SpaceRef(spaces_of(nb::none(), {}).take(name));
          },
          nb::arg("name") = "")
      .def_static(
          "load",
          [](const PathLike& file, std::vector<std::string> plugin_paths) {
            return spaces_of(file, std::move(plugin_paths));
          },
          nb::arg("file") = nb::none(), nb::arg("plugin_paths") = std::vector<std::string>(),
          R"(The spaces of a file; None: those that come with Tunesmith. `plugin_paths`: folders with packs, searched first.
Raises UserError with the line and a caret.)")
      .def_prop_ro(
          "name", [](const SpaceRef& self) { return self.value->space->spec().name; },
          "As its file names it.")
      .def_prop_ro(
          "description", [](const SpaceRef& self) { return self.value->space->spec().description; },
          "One line; \"\" where its file has none.")
      .def_prop_ro(
          "modules",
          [](const SpaceRef& self) {
            ListOf<nb::str> names{nb::list()};
            for (const PluginUse& use : self.value->space->spec().modules) names.append(use.id);
            return names;
          },
          "Ids, in the order in which they are applied.")
      .def_prop_ro(
          "target", [](const SpaceRef& self) { return self.value->space->target().identity(); },
          "What code is compiled for: processor, features, options.")
      .def_prop_ro(
          "plugins",
          [](const SpaceRef& self) -> DictOf<nb::str> {
            nb::dict versions;
            for (const auto& [id, version] : self.value->space->plugin_versions())
              versions[id.c_str()] = version;
            return versions;
          },
          "Versions of the plugins in use, by kind and id, as \"target:llvm\".");
}

}  // namespace

void bind_space(nb::module_& module) {
  bind_spaces(module);
  bind_description(module)
      .def("sketches", &sketches, nb::arg("workload"),
           "The schedules that the modules make of a workload, with their decisions still to be searched: a "
           "list of Schedule.")
      .def("explain", &explain, nb::arg("workload"),
           "What each module did to each block, or why it declined: a list of dict (module, block, status, "
           "reason, ...).")
      .def(
          "lower", &lower_in, nb::arg("trace"), nb::arg("workload") = nb::none(), nb::arg("seed") = 0,
          R"(The program that a trace gives, finished by the space's modules where the trace is not complete, and lowered for its
target. Open decisions are drawn from `seed`. Raises UserError where the candidate fails.)")
      .def("__reduce__",
           [](const SpaceRef& self) -> Reduced {
             const SpaceSource& source = self.value->source;
             return nb::make_tuple(nb::module_::import_("tunesmith._pickles").attr("space"),
                                   nb::make_tuple(source.file, source.name, nb::cast(source.plugin_paths)));
           })
      .def("__repr__", [](const SpaceRef& self) {
        return fmt::format("Space '{}' for {}", self.value->space->spec().name,
                           self.value->space->target().identity());
      });
}

}  // namespace tunesmith::python

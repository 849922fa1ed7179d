// Transformation modules in Python.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/space/check_space.h>

#include "candidate.h"
#include "plugins.h"

namespace tunesmith::python {
namespace {

/// The context as Python sees it.
struct ModuleContextRef {
  std::shared_ptr<Lent<ModuleContext>> value;

  ModuleContext& get() const { return value->get(); }
};

ModuleStage stage_of(const std::string& name) {
  std::vector<std::string> known;
  for (const ModuleStage stage : {ModuleStage::Block, ModuleStage::Root, ModuleStage::Finishing}) {
    known.emplace_back(stage_name(stage));
    if (stage_name(stage) == name) return stage;
  }
  throw UserError(fmt::format("unknown stage '{}'", name), suggest(name, known));
}

ModuleDescription description_of(nb::handle object) {
  const auto list = [&](const char* name) {
    std::vector<std::string> texts;
    for (const nb::handle text : object.attr(name)) texts.push_back(nb::cast<std::string>(text));
    return texts;
  };
  return {list("makes"), list("consumes"), list("partners"), list("before")};
}

/// A schedule, several, or the reason for none.
ModuleResult result_of(nb::handle answer) {
  if (nb::isinstance<ScheduleRef>(answer))
    return ModuleResult::applied(nb::cast<const ScheduleRef&>(answer).value->clone());
  if (nb::isinstance<nb::str>(answer)) return ModuleResult::not_applicable(nb::cast<std::string>(answer));
  if (!nb::isinstance<nb::list>(answer) && !nb::isinstance<nb::tuple>(answer)) {
    return ModuleResult::broken(fmt::format(
        "apply() returned {}: expected a Schedule, a list of them, or a str with the reason for declining",
        kind_of_object(answer)));
  }
  std::vector<Schedule> schedules;
  for (const nb::handle one : answer) {
    if (!nb::isinstance<ScheduleRef>(one))
      return ModuleResult::broken(
          fmt::format("apply() returned a list with {}: expected Schedules", kind_of_object(one)));
    schedules.push_back(nb::cast<const ScheduleRef&>(one).value->clone());
  }
  return ModuleResult::applied(std::move(schedules));
}

class PythonModule final : public TransformationModule {
 public:
  explicit PythonModule(HeldPtr object)
      : object_(std::move(object)),
        stage_(stage_of(nb::cast<std::string>(nb::str(object_->get().attr("stage"))))),
        description_(description_of(object_->get())) {}

  ModuleStage stage() const override { return stage_; }
  ModuleDescription description() const override { return description_; }
  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    return in_python([&] {
      const Lending<ModuleContext> lending(context);
      return result_of(object_->get().attr("apply")(schedule_ref(std::move(schedule)), block_name,
                                                    ModuleContextRef{lending.lent()}));
    });
  }

 private:
  const HeldPtr object_;
  const ModuleStage stage_;
  const ModuleDescription description_;
};

}  // namespace

std::shared_ptr<void> module_of(HeldPtr object) {
  return std::static_pointer_cast<TransformationModule>(std::make_shared<PythonModule>(std::move(object)));
}

void bind_module_context(nb::module_& module) {
  nb::class_<ModuleContextRef>(module, "ModuleContext",
                               "Information for a Module. Valid during one call of apply().")
      .def_prop_ro(
          "device",
          [](const ModuleContextRef& self) {
            return DeviceRef{std::make_shared<const DeviceModel>(self.get().device())};
          },
          "The machine's quantities: a Device.")
      .def_prop_ro(
          "levels",
          [](const ModuleContextRef& self) {
            ListOf<nb::str> names{nb::list()};
            for (const ExecutionLevel& level : self.get().execution().levels) names.append(level.name);
            return names;
          },
          "The names of the machine's levels, outermost first; none on a processor.")
      .def_prop_ro(
          "axes", [](const ModuleContextRef& self) { return self.get().execution().axis_names(); },
          "What Schedule.bind() takes, as \"block.x\".")
      .def_prop_ro(
          "scopes",
          [](const ModuleContextRef& self) {
            ListOf<nb::str> names{nb::list()};
            for (const MemoryScope& scope : self.get().execution().scopes) names.append(scope.name);
            return names;
          },
          "The names of the machine's memory scopes, beside those that every machine has.")
      .def_prop_ro(
          "original",
          [](const ModuleContextRef& self) {
            return ProgramRef{std::make_shared<const Program>(self.get().original().clone()), nullptr};
          },
          "The Program before any module.")
      .def(
          "has_extension",
          [](const ModuleContextRef& self, const std::string& name) {
            return self.get().has_extension(name);
          },
          nb::arg("name"), "Is the extension of this name in the space, and the hardware here?")
      .def(
          "intrinsics",
          [](const ModuleContextRef& self, const std::string& extension) {
            ListOf<nb::str> names{nb::list()};
            for (const TensorIntrinsicPtr& intrinsic : self.get().intrinsics(extension))
              names.append(intrinsic->name);
            return names;
          },
          nb::arg("extension"),
          "The names of the tensor intrinsics that the extension gives to the target; none where it is not "
          "here.")
      .def(
          "claim",
          [](const ModuleContextRef& self, const std::string& block, const std::string& why) {
            self.get().claim(block, why);
          },
          nb::arg("block"), nb::arg("why"),
          "Excludes the block from later modules; Space.explain() shows the module and the reason.");
}

}  // namespace tunesmith::python

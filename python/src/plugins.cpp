#include "plugins.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/analysis/schedule_error.h>
#include <tunesmith/plugin/error.h>

#include "errors.h"

namespace tunesmith::python {
namespace {

std::string text_of(const nb::object& object, const char* attribute) {
  return nb::cast<std::string>(nb::str(nb::getattr(object, attribute, nb::str(""))));
}

SourceLocation place_of(const nb::object& error) {
  return {text_of(error, "file"), nb::cast<int>(error.attr("line")), nb::cast<int>(error.attr("column"))};
}

/// The message without location and remedy.
std::string bare_message(const nb::object& error) {
  std::string message = text_of(error, "message");
  const std::string place = place_of(error).str() + ": ";
  const std::string remedy = "; " + text_of(error, "remedy");
  if (place.size() > 2 && message.starts_with(place)) message.erase(0, place.size());
  if (remedy.size() > 2 && message.ends_with(remedy)) message.resize(message.size() - remedy.size());
  return message;
}

[[noreturn]] void throw_user_error(const nb::object& error, const SourceLocation& elsewhere) {
  const SourceLocation place = place_of(error);
  throw UserError(place.line > 0 ? place : elsewhere, bare_message(error), text_of(error, "remedy"));
}

bool is_a(const nb::object& error, const char* name) {
  return nb::isinstance(error, nb::module_::import_("tunesmith.errors").attr(name));
}

/// The line of Python that raised it.
SourceLocation raised_at(const nb::object& error) {
  const nb::tuple place =
      nb::cast<nb::tuple>(nb::module_::import_("tunesmith._plugins").attr("raised_at")(error));
  return {nb::cast<std::string>(place[0]), nb::cast<int>(place[1])};
}

OptionSpec option_of(const std::string& name, const nb::object& value, const std::string& help) {
  if (nb::isinstance<nb::bool_>(value)) return OptionSpec::boolean(name, nb::cast<bool>(value), help);
  if (nb::isinstance<nb::int_>(value)) return OptionSpec::integer(name, nb::cast<int64_t>(value), help);
  if (nb::isinstance<nb::float_>(value)) return OptionSpec::real(name, nb::cast<double>(value), help);
  if (nb::isinstance<nb::str>(value)) return OptionSpec::string(name, nb::cast<std::string>(value), help);
  std::vector<int64_t> numbers;
  if (nb::try_cast(value, numbers)) {
    return OptionSpec::integers(name, numbers, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max(), help);
  }
  return OptionSpec::strings(name, nb::cast<std::vector<std::string>>(value), {}, help);
}

void give(nb::dict& keywords, const OptionSpec& spec, const Options& options) {
  const char* name = spec.name.c_str();
  switch (spec.type) {
    case OptionType::Boolean:
      keywords[name] = options.get_bool(name);
      return;
    case OptionType::Integer:
      keywords[name] = options.get_int(name);
      return;
    case OptionType::Real:
      keywords[name] = options.get_double(name);
      return;
    case OptionType::String:
    case OptionType::Choice:
      keywords[name] = options.get_string(name);
      return;
    case OptionType::IntegerList:
      keywords[name] = options.get_ints(name);
      return;
    case OptionType::StringList:
      keywords[name] = options.get_strings(name);
      return;
  }
}

std::shared_ptr<void> object_of(PluginKind kind, HeldPtr object) {
  switch (kind) {
    case PluginKind::Module:
      return module_of(std::move(object));
    case PluginKind::Searcher:
      return searcher_of(std::move(object));
    case PluginKind::CostModel:
      return cost_model_of(std::move(object));
    case PluginKind::TaskScheduler:
      return task_scheduler_of(std::move(object));
    default:
      throw InternalError("a plugin of this kind cannot be written in Python");
  }
}

/// Calls the class with its options as keywords. An
/// exception of __init__ is a user's error in the options.
std::shared_ptr<void> create(const ScriptSource& source, const HeldObject& class_object,
                             const std::vector<OptionSpec>& specs, const Options& options) {
  return in_python([&] {
    nb::dict keywords;
    for (const OptionSpec& spec : specs) give(keywords, spec, options);
    try {
      return object_of(source.kind, std::make_shared<const HeldObject>(class_object.get()(**keywords)));
    } catch (const nb::python_error& raised) {
      const nb::object error = nb::borrow(raised.value());
      if (is_a(error, "UserError")) throw_user_error(error, source.asked_at);
      if (!raised.matches(PyExc_ValueError)) throw;
      throw UserError(source.asked_at, fmt::format("{}: {}", plugin_name(source.kind, source.class_name),
                                                   nb::cast<std::string>(nb::str(error))));
    } catch (const UserError& error) {
      if (error.location().line > 0) throw;
      throw UserError(source.asked_at, error.what());
    }
  });
}

ScriptPlugin read_class(const ScriptSource& source) {
  return in_python([&] {
    try {
      const nb::tuple found =
          nb::cast<nb::tuple>(nb::module_::import_("tunesmith._plugins")
                                  .attr("load")(std::string(kind_name(source.kind)), source.file.string(),
                                                source.text, source.class_name));
      std::vector<OptionSpec> specs;
      for (const nb::handle option : nb::cast<nb::list>(found[2])) {
        specs.push_back(option_of(nb::cast<std::string>(option[0]), nb::borrow(nb::object(option[1])),
                                  nb::cast<std::string>(option[2])));
      }
      if (const std::string fault = check_option_specs(specs); !fault.empty())
        throw UserError(source.asked_at, fmt::format("{}: {}", source.class_name, fault));
      const auto held = std::make_shared<const HeldObject>(nb::object(found[0]));
      return ScriptPlugin{
          specs, nb::cast<std::string>(found[1]),
          [source, held, specs](const Options& options) { return create(source, *held, specs, options); }};
    } catch (const nb::python_error& raised) {
      const nb::object error = nb::borrow(raised.value());
      if (!is_a(error, "UserError")) throw;
      throw_user_error(error, source.asked_at);
    }
  });
}

}  // namespace

HeldObject::~HeldObject() {
  if (!Py_IsInitialized()) {
    object_.release();
    return;
  }
  const nb::gil_scoped_acquire locked;
  object_.reset();
}

void throw_raised(const nb::python_error& raised) {
  const nb::object error = nb::borrow(raised.value());
  if (is_a(error, "ScheduleMisuse"))
    throw ScheduleMisuse(text_of(error, "primitive"), text_of(error, "reason"), text_of(error, "message"));
  if (is_a(error, "ScheduleError"))
    throw ScheduleError(text_of(error, "primitive"), text_of(error, "reason"), text_of(error, "message"));
  if (is_a(error, "UserError")) throw_user_error(error, raised_at(error));
  // Ctrl-C is handled by the main thread when it is back in Python.
  if (raised.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  throw std::runtime_error(
      nb::cast<std::string>(nb::module_::import_("tunesmith._plugins").attr("described")(error)));
}

std::string kind_of_object(nb::handle object) {
  if (object.is_none()) return "None";
  return "an object of " + nb::cast<std::string>(nb::str(nb::handle(object.type())));
}

ScheduleRef schedule_ref(Schedule schedule) {
  auto held = std::make_shared<Schedule>(std::move(schedule));
  const TensorIntrinsics& intrinsics = held->intrinsics();
  IntrinsicsPtr kept(held, &intrinsics);
  return {std::move(held), nullptr, std::move(kept), std::make_shared<const int>(0)};
}

void bind_plugins(nb::module_& module) {
  bind_module_context(module);
  bind_search_context(module);
  bind_task_set(module);
  module.def("suggest", &suggest, nb::arg("name"), nb::arg("known"),
             "The nearest known name as a remedy, or what names there are.");
  set_script_reader(read_class);
}

}  // namespace tunesmith::python

// Checks of plugins of every kind: loading has no effect, and options are declared correctly.
#include <cmath>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "checks.h"
#include "tunesmith/measuring/measuring_place.h"
#include "tunesmith/network/importer.h"

namespace tunesmith::conformance {
namespace {

size_t threads_of_this_process() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

Verdict check_loads(const Subject& subject) {
  const size_t before = threads_of_this_process();
  try {
    subject.registry().option_specs(subject.info().kind, subject.info().id);
  } catch (const PluginError& error) {
    // The loader's message cites the violated rule.
    const std::string why = error.what();
    std::smatch rule;
    return failed(why, std::regex_search(why, rule, std::regex(R"(\[(P\d+)\])")) ? rule[1].str() : "");
  }
  if (const size_t after = threads_of_this_process(); after != before) {
    return failed(fmt::format("loading it started threads: {}", after - before), "P17");
  }
  return passed();
}

/// Creates the object of any kind; throws its constructor's exception.
std::shared_ptr<void> make(const Subject& subject, const Options& options) {
  PluginRegistry& registry = subject.registry();
  const std::string& id = subject.info().id;
  switch (subject.info().kind) {
    case PluginKind::Module:
      return registry.create<TransformationModule>(id, options);
    case PluginKind::Target:
      return registry.create<Target>(id, options);
    case PluginKind::Extension:
      return registry.create<TargetExtension>(id, options);
    case PluginKind::Searcher:
      return registry.create<Searcher>(id, options);
    case PluginKind::CostModel:
      return registry.create<CostModel>(id, options);
    case PluginKind::TaskScheduler:
      return registry.create<TaskScheduler>(id, options);
    case PluginKind::Importer:
      return registry.create<Importer>(id, options);
    case PluginKind::Runner:
      return registry.create<MeasuringPlace>(id, options);
  }
  throw InternalError("a plugin without a kind");
}

}  // namespace

Verdict construction(const Subject& subject) {
  const PluginInfo& info = subject.info();
  try {
    make(subject, Options::defaults(subject.registry().option_specs(info.kind, info.id), subject.name()));
  } catch (const PluginError& error) {
    // A message without a rule is the plugin's own EnvironmentError [P12].
    const std::string why = error.what();
    if (why.find(": [P") == std::string::npos) return unsupported(why);
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): the check `options` reports it
  }
  return passed();
}

namespace of_any {
namespace {

RawOption written(const OptionSpec& spec, const std::string& text, bool list) {
  RawOption option{spec.name, {}, list ? RawOption::Shape::List : RawOption::Shape::Scalar, {}, {}};
  option.values.push_back({text, {}, true});
  if (spec.type != OptionType::String && spec.type != OptionType::Choice &&
      spec.type != OptionType::StringList) {
    option.values.back().quoted = false;
  }
  return option;
}

/// The ends of the declared range, if it has ends.
std::vector<RawOption> edges_of(const OptionSpec& spec) {
  std::vector<RawOption> edges;
  const bool list = spec.type == OptionType::IntegerList || spec.type == OptionType::StringList;
  switch (spec.type) {
    case OptionType::Boolean:
      edges.push_back(written(spec, "true", false));
      edges.push_back(written(spec, "false", false));
      break;
    case OptionType::Integer:
    case OptionType::IntegerList:
      for (const double edge : {spec.min, spec.max}) {
        if (std::isfinite(edge))
          edges.push_back(written(spec, fmt::format("{}", static_cast<int64_t>(edge)), list));
      }
      break;
    case OptionType::Real:
      for (const double edge : {spec.min, spec.max}) {
        if (std::isfinite(edge)) edges.push_back(written(spec, fmt::format("{}", edge), false));
      }
      break;
    case OptionType::Choice:
    case OptionType::String:
    case OptionType::StringList:
      for (const std::string& choice : spec.choices) edges.push_back(written(spec, choice, list));
      break;
  }
  return edges;
}

/// Every declared value, and the default, is accepted or refused with a UserError that names the option.
Verdict check_options(const Subject& subject) {
  const std::vector<OptionSpec>& specs =
      subject.registry().option_specs(subject.info().kind, subject.info().id);
  if (subject.registry().help(subject.info().kind, subject.info().id).empty()) {
    return failed("it has no line of help");
  }
  try {
    make(subject, Options::defaults(specs, subject.name()));
  } catch (const UserError& error) {
    return failed(fmt::format("it refuses its own defaults: {}", error.what()));
  }
  for (const OptionSpec& spec : specs) {
    for (const RawOption& edge : edges_of(spec)) {
      const std::string& text = edge.values.front().text;
      try {
        make(subject, Options::validate(specs, std::span(&edge, 1), subject.name()));
      } catch (const UserError& error) {
        const std::string message = error.what();
        if (message.find(spec.name) == std::string::npos) {
          return failed(fmt::format("{}: {} is declared, but refused without naming the option: {}",
                                    spec.name, text, message));
        }
      } catch (const PluginError& error) {
        // Without the rule it says what this machine lacks for the value, which is valid.
        if (std::string_view(error.what()).find("[P12]") != std::string_view::npos) {
          return failed(fmt::format("{}: {} is declared, but: {}", spec.name, text, error.what()));
        }
      }
    }
  }
  return passed();
}

/// Creates the object without the option `left_out`: an
/// InternalError shows that the constructor reads it.
bool reads(const Subject& subject, const std::vector<OptionSpec>& specs, const std::string& left_out,
           const std::vector<RawOption>& others) {
  std::vector<OptionSpec> fewer;
  for (const OptionSpec& spec : specs) {
    if (spec.name != left_out) fewer.push_back(spec);
  }
  try {
    make(subject, Options::validate(fewer, others, subject.name()));
  } catch (const PluginError& error) {
    return std::string_view(error.what()).find("'" + left_out + "'") != std::string_view::npos;
  } catch (const UserError&) {
    return false;  // other options need this one
  }
  return false;
}

/// An option that the constructor never reads has no effect.
Verdict check_options_are_read(const Subject& subject) {
  const std::vector<OptionSpec>& specs =
      subject.registry().option_specs(subject.info().kind, subject.info().id);
  if (specs.empty()) return skipped("it declares no options");
  for (const OptionSpec& spec : specs) {
    bool read = reads(subject, specs, spec.name, {});
    for (const OptionSpec& other : specs) {
      if (read || other.name == spec.name) continue;
      for (const RawOption& edge : edges_of(other)) read = read || reads(subject, specs, spec.name, {edge});
    }
    if (!read)
      return failed(
          fmt::format("it declares the option '{}', but its constructor never reads it", spec.name));
  }
  return passed();
}

constexpr Check kChecks[] = {
    {"loads", "P1", &check_loads},
    {"options", "P13", &check_options},
    {"options_are_read", "P13", &check_options_are_read},
};

}  // namespace
}  // namespace of_any

std::span<const Check> common_checks() { return of_any::kChecks; }

}  // namespace tunesmith::conformance

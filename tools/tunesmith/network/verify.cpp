// `network verify`: checks each step of a built library against a reference, given the inputs that the step
// got.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/forked_workers.h>
#include <tunesmith/network/library_description.h>
#include <tunesmith/network/plan_library.h>
#include <tunesmith/network/verify_in_place.h>
#include <tunesmith/verification/data_sets.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "progress/progress.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

using network::VerifiedCall;
using network::VerifiedStep;

/// JSON has no infinity.
nlohmann::json number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json step_json(const VerifiedStep& step) {
  return {{"name", step.name},
          {"right", step.faults.empty()},
          {"reference", step.interpreted ? "interpreted" : "compiled"},
          {"any_values", step.any_values},
          {"drawn", step.drawn},
          {"elements", step.elements},
          {"worst", number_json(step.worst)},
          {"looseness", number_json(step.looseness)},
          {"faults", step.faults}};
}

/// The inputs of a call.
struct Given {
  std::vector<int64_t> values;  // of the varying extents
  std::string said;             // "batch=7"
  uint64_t seed = 0;
};

nlohmann::json call_json(const VerifiedCall& call, const Given& given) {
  nlohmann::json steps = nlohmann::json::array();
  for (const VerifiedStep& step : call.steps) steps.push_back(step_json(step));
  return {{"seed", given.seed},
          {"extents", given.said},
          {"right", call.right()},
          {"steps", std::move(steps)},
          {"faults", call.faults}};
}

/// The result of a call during which the library ended the process.
nlohmann::json lost_json(const std::string& why, const Given& given) {
  return {{"seed", given.seed},
          {"extents", given.said},
          {"right", false},
          {"steps", nlohmann::json::array()},
          {"faults", {why}}};
}

/// Each seed with the requested values of the varying extents, or else with all values to verify.
std::vector<Given> calls_of(const network::LibraryDescription& description,
                            const NetworkVerifyArguments& arguments) {
  const auto asked = values_given(description.varying, arguments.dimensions);
  std::vector<Given> calls;
  for (int i = 0; i < arguments.calls; ++i) {
    for (const std::vector<int64_t>& values :
         asked ? std::vector<std::vector<int64_t>>{*asked} : network::values_to_verify(description.varying))
      calls.push_back({values, network::text_of_values(description.varying, values),
                       static_cast<uint64_t>(arguments.seed + i)});
  }
  return calls;
}

/// The state of verification in the process that runs the library.
class Verification {
 public:
  Verification(Session& session, const network::LibraryDescription& description,
               const NetworkVerifyArguments& arguments, bool quiet)
      : description_(description), arguments_(arguments), line_(quiet) {
    NetworkArguments of;
    of.file = arguments.model.empty() ? description.file : arguments.model;
    of.dimensions = description.dimensions;
    of.operators = description.operators;
    tasked_ = read_tasks(session, of);
    if (network_hash(tasked_) != description.network)
      throw UserError(
          fmt::format("the library was not built from this {}, or not by this version of Tunesmith", of.file),
          "rebuild it, or give the network's file with --model");
    space_ = session.space_for_target();
    library_ = std::make_unique<network::BuiltLibrary>(arguments.folder, description.facts());
  }

  nlohmann::json call(const Given& given) {
    const std::vector<Tensor> inputs = network::random_inputs(
        network::at_values(description_.inputs, given.values), given.seed, arguments_.integers);
    library_->set_extents(given.values);
    const VerifiedCall call =
        verifier_at(given.values).verify(*library_, inputs, [&](int step, const VerifiedStep& verified) {
          line_.say(fmt::format("step {} of {}: {}", step + 1, tasked_.regions.size(), verified.name));
        });
    line_.clear();
    return call_json(call, given);
  }

 private:
  /// The verifier for these extents; keeps the last one.
  network::PlaceVerifier& verifier_at(const std::vector<int64_t>& values) {
    if (verifier_ && values == verified_at_) return *verifier_;
    verified_at_ = values;
    verifier_.reset();
    line_.say(fmt::format("{} references", tasked_.tasks.size()));
    const TaskedNetwork* of = &tasked_;
    if (!values.empty()) of = &at_.emplace(network::at_values(tasked_, values));
    verifier_ = std::make_unique<network::PlaceVerifier>(of->network, of->regions, space_->target());
    return *verifier_;
  }

  const network::LibraryDescription& description_;
  const NetworkVerifyArguments& arguments_;
  LiveLine line_;
  TaskedNetwork tasked_;
  std::unique_ptr<Space> space_;
  std::unique_ptr<network::BuiltLibrary> library_;
  std::optional<TaskedNetwork> at_;  // the network at `verified_at_`
  std::vector<int64_t> verified_at_;
  std::unique_ptr<network::PlaceVerifier> verifier_;
};

double number_in(const nlohmann::json& value) { return value.is_null() ? INFINITY : value.get<double>(); }

void print_call(const nlohmann::json& call) {
  if (const std::string extents = call["extents"]; !extents.empty())
    fmt::print(output(), "with {}:\n", extents);
  fmt::print(output(), "step  error / bound  bound / value  reference    task\n");
  double worst = 0;
  int64_t right = 0, drawn = 0, any_values = 0, number = 0;
  for (const nlohmann::json& step : call["steps"]) {
    const bool is_right = step["right"];
    const double looseness = number_in(step["looseness"]);
    fmt::print(output(), "{:4}  {:13.3g}  {:13.2g}  {:11}  {}{}\n", number++, number_in(step["worst"]),
               looseness, step["reference"].get<std::string>(), step["name"].get<std::string>(),
               !is_right                        ? "  WRONG"
               : step["drawn"].get<bool>()      ? "  (on generated data)"
               : step["any_values"].get<bool>() ? "  (worst-case bound)"
                                                : "");
    for (const nlohmann::json& fault : step["faults"])
      fmt::print(output(), "      it {}\n", fault.get<std::string>());
    worst = std::max(worst, number_in(step["worst"]));
    right += is_right ? 1 : 0;
    any_values += is_right && step["any_values"].get<bool>() ? 1 : 0;
    drawn += is_right && step["drawn"].get<bool>() ? 1 : 0;
  }
  for (const nlohmann::json& fault : call["faults"])
    fmt::print(output(), "wrong: {}\n", fault.get<std::string>());
  fmt::print(output(), "{} of {} steps are correct; the largest error is {:.3g} of its bound\n", right,
             call["steps"].size(), worst);
  if (any_values > 0)
    fmt::print(output(), "{} of them only within the worst-case bound, where all roundings go the same way\n",
               any_values);
  if (drawn > 0)
    fmt::print(output(),
               "{} of them on generated data: on the network's own values, the bounds exceed {:.0f} % of "
               "typical results\n",
               drawn, 100 * kLoosest);
}

}  // namespace

int run_network_verify(const Common& common, const NetworkVerifyArguments& arguments) {
  Session session(common);
  const network::LibraryDescription description = network::read_description(arguments.folder);
  const std::vector<Given> given = calls_of(description, arguments);
  std::vector<nlohmann::json> calls(given.size());
  // The library runs in a forked process because it may crash.
  ForkedWork work;
  work.count = calls.size();
  work.begin = [&] {
    const auto verification =
        std::make_shared<Verification>(session, description, arguments, common.quiet || common.json);
    return [&, verification](size_t number) { return json_line(verification->call(given[number])); };
  };
  work.take = [&](size_t number, const std::string& answer, bool lost) {
    calls[number] =
        lost ? lost_json("the call did not return: " + answer, given[number]) : nlohmann::json::parse(answer);
  };
  run_forked(work);
  const bool right =
      std::ranges::all_of(calls, [](const nlohmann::json& call) { return call["right"].get<bool>(); });
  if (common.json) {
    print_json(
        {{"name", description.name}, {"folder", arguments.folder}, {"right", right}, {"calls", calls}});
  } else {
    for (const nlohmann::json& call : calls) print_call(call);
  }
  return right ? kDone : kWrong;
}

}  // namespace tunesmith::cli

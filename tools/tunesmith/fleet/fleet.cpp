// `fleet`: lists the workers that take jobs from a broker, and the number of waiting jobs.
#include "broker/fleet.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "reference.h"

namespace tunesmith::cli {
namespace {

/// The median usual time of the reference program among the workers of an identity.
double usual_reference(const std::vector<WorkerDescription>& workers) {
  std::vector<double> seconds;
  for (const WorkerDescription& worker : workers) seconds.push_back(worker.usual_reference);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

/// Describes how the worker's reference program deviates from its usual time or from other workers; "" if it
/// does not.
std::string doubt_about(const WorkerDescription& worker, double usual) {
  if (worker.reference <= 0.0) return "";
  if (Reference::apart(worker.reference, worker.usual_reference))
    return fmt::format("drifts: its reference program takes {:.2f} times its usual time",
                       worker.reference / worker.usual_reference);
  if (Reference::apart(worker.reference, usual))
    return fmt::format("differs: its reference program takes {:.2f} times that of others",
                       worker.reference / usual);
  return "";
}

nlohmann::json json_of(const WorkerDescription& worker, double usual) {
  return {{"name", worker.name},
          {"cpu", worker.environment.cpu_model},
          {"version", worker.environment.version},
          {"done", worker.done},
          {"failed", worker.failed},
          {"disturbed", worker.disturbed},
          {"refused", worker.refused},
          {"reference", worker.reference},
          {"usual_reference", worker.usual_reference},
          {"doubt", doubt_about(worker, usual)}};
}

}  // namespace

nlohmann::json fleet_now(const FleetArguments& arguments) {
  constexpr double kMilliseconds = 1000.0;
  const broker::Address address = broker::parse_address(arguments.broker.url, arguments.broker.insecure);
  std::map<std::string, std::vector<WorkerDescription>> identities;
  nlohmann::json all = nlohmann::json::array();
  try {
    broker::Connection connection(address, "tunesmith fleet");
    const auto wait = std::chrono::milliseconds(static_cast<int64_t>(kMilliseconds * arguments.wait));
    for (WorkerDescription& worker : broker::call_the_roll(connection, wait))
      identities[worker.identity].push_back(std::move(worker));
    for (const auto& [identity, workers] : identities) {
      const WorkerDescription& first = workers.front();
      const broker::Queue queue = connection.look_at(broker::job_queue(identity)).value_or(broker::Queue{});
      nlohmann::json one{{"identity", identity},           {"target", first.target},
                         {"device", first.device},         {"threads", first.threads},
                         {"waiting", queue.messages},      {"consumers", queue.consumers},
                         {"quantities", first.quantities}, {"workers", nlohmann::json::array()}};
      const double usual = usual_reference(workers);
      for (const WorkerDescription& worker : workers) one["workers"].push_back(json_of(worker, usual));
      all.push_back(std::move(one));
    }
  } catch (const broker::Lost& lost) {
    throw EnvironmentError(fmt::format("the broker does not respond: {}", lost.what()));
  }
  return {{"broker", address.str()}, {"identities", std::move(all)}};
}

int run_fleet(const Common& common, const FleetArguments& arguments) {
  const nlohmann::json fleet = fleet_now(arguments);
  const nlohmann::json& identities = fleet.at("identities");
  if (common.json) {
    print_json(fleet);
    return identities.empty() ? kNothingFound : kDone;
  }
  const auto text = [](const nlohmann::json& object, const char* key) {
    return object.at(key).get<std::string>();
  };
  const auto count = [](const nlohmann::json& object, const char* key) {
    return object.at(key).get<int64_t>();
  };
  for (const nlohmann::json& one : identities) {
    const auto workers = static_cast<int64_t>(one.at("workers").size());
    fmt::print(output(), "{}  '{}', {} threads; workers: {}, {} jobs wait\n", text(one, "identity"),
               text(one, "target"), count(one, "threads"), workers, count(one, "waiting"));
    for (const nlohmann::json& worker : one.at("workers")) {
      fmt::print(output(), "    {}  {}  done: {}, failed {}, disturbed {}, refused {}\n",
                 text(worker, "name"), text(worker, "cpu"), count(worker, "done"), count(worker, "failed"),
                 count(worker, "disturbed"), count(worker, "refused"));
      if (const std::string doubt = text(worker, "doubt"); !doubt.empty())
        fmt::print(output(), "      {}\n", doubt);
    }
    // The broker counts a worker that does not answer as a consumer until it notices.
    if (count(one, "consumers") > workers)
      fmt::print(output(), "    not answering: {}\n", count(one, "consumers") - workers);
  }
  if (identities.empty())
    fmt::print(output(), "no workers at {}; remedy: run tunesmith serve on the measuring machines\n",
               text(fleet, "broker"));
  return identities.empty() ? kNothingFound : kDone;
}

}  // namespace tunesmith::cli

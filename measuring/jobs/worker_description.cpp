#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/measuring/turns.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxQuantities = 1024;

MachineLimits limits_from(const Field& fields) {
  MachineLimits limits;
  limits.vector_bits = fields["vector_bits"].integer(0, kAnyCount);
  limits.vector_registers = fields["vector_registers"].integer(0, kAnyCount);
  limits.max_stack_bytes = fields["max_stack_bytes"].integer(0, kAnyCount);
  limits.max_expanded_stores = fields["max_expanded_stores"].integer(0, kAnyCount);
  limits.prepare = fields["prepare"].boolean();
  limits.parameters = fields["parameters"].boolean();
  return limits;
}

nlohmann::json limits_json(const MachineLimits& limits) {
  return {{"vector_bits", limits.vector_bits},
          {"vector_registers", limits.vector_registers},
          {"max_stack_bytes", limits.max_stack_bytes},
          {"max_expanded_stores", limits.max_expanded_stores},
          {"prepare", limits.prepare},
          {"parameters", limits.parameters}};
}

WorkerDescription worker_from(const Field& fields, const nlohmann::json& content) {
  WorkerDescription worker;
  worker.name = fields["name"].text(kMaxName);
  worker.identity = hex64(fields["identity"].hash());
  worker.target = fields["target"].text(kMaxIdentity);
  worker.device = fields["device"].text(kMaxName);
  worker.rule = fields["rule"].text(kMaxIdentity);
  worker.machine = fields["machine"].text(kMaxIdentity);
  worker.threads = static_cast<int>(fields["threads"].integer(1, kMaxThreads));
  const auto quantities = fields["quantities"].list(0, kMaxQuantities, [](const Field& one) {
    constexpr double kMaxNumber = std::numeric_limits<double>::max();
    return std::pair(one["name"].text(kMaxName), one["value"].number(-kMaxNumber, kMaxNumber));
  });
  worker.quantities.insert(quantities.begin(), quantities.end());
  worker.limits = limits_from(fields["limits"]);
  worker.reference = fields["reference"].number(0.0, kMaxSeconds);
  worker.usual_reference = fields["usual_reference"].number(0.0, kMaxSeconds);
  worker.done = fields["done"].integer(0, kAnyCount);
  worker.failed = fields["failed"].integer(0, kAnyCount);
  worker.disturbed = fields["disturbed"].integer(0, kAnyCount);
  worker.refused = fields["refused"].integer(0, kAnyCount);
  const auto environment = content.find("environment");
  if (environment == content.end() || !environment->is_object()) {
    fields["environment"].wrong("is no object");
  } else {
    worker.environment = Environment::parse(canonical_text(*environment));
  }
  return worker;
}

}  // namespace

std::string rule_of_target(const Space& space) { return space.rules().substr(0, space.rules().find('\n')); }

WorkerDescription describe_machine(const Space& space, const TaskKey& task) {
  WorkerDescription worker;
  worker.environment = detect_environment(space.plugin_versions());
  worker.identity = identity_of(task, worker.environment);
  worker.target = task.target;
  worker.device = task.device;
  worker.threads = task.threads;
  worker.rule = rule_of_target(space);
  worker.machine = space.device().description;
  const auto& quantities = space.device().all();
  worker.quantities.insert(quantities.begin(), quantities.end());
  const LowerOptions options = space.target().lower_options();
  worker.limits = {options.vector_bits,         options.vector_registers,     options.max_stack_bytes,
                   options.max_expanded_stores, space.target().can_prepare(), options.parameters};
  return worker;
}

Environment common_environment(Environment environment) {
  environment.machine_name.clear();
  return environment;
}

std::string identity_of(const TaskKey& task, const Environment& environment) {
  return hex64(hash_bytes(fmt::format("{}\n{}\n{}\n{}", task.target, task.device, task.threads,
                                      hex64(common_environment(environment).machine()))));
}

std::string text_of(const WorkerDescription& worker) {
  nlohmann::json quantities = nlohmann::json::array();
  for (const auto& [name, value] : worker.quantities)
    quantities.push_back({{"name", name}, {"value", value}});
  return line_text("worker",
                   canonical_text({{"name", worker.name},
                                   {"identity", worker.identity},
                                   {"target", worker.target},
                                   {"device", worker.device},
                                   {"rule", worker.rule},
                                   {"machine", worker.machine},
                                   {"threads", worker.threads},
                                   {"environment", nlohmann::json::parse(worker.environment.text())},
                                   {"quantities", std::move(quantities)},
                                   {"limits", limits_json(worker.limits)},
                                   {"reference", worker.reference},
                                   {"usual_reference", worker.usual_reference},
                                   {"done", worker.done},
                                   {"failed", worker.failed},
                                   {"disturbed", worker.disturbed},
                                   {"refused", worker.refused}}));
}

WorkerDescription parse_worker(std::string_view text) {
  const Line line = parse_line_text(text);
  if (line.kind != "worker") throw UserError(fmt::format("expected a worker, found a {}", line.kind));
  std::string error;
  WorkerDescription worker = worker_from(Field(line.content, error), line.content);
  if (!error.empty()) throw UserError(fmt::format("not a worker: {}", error));
  return worker;
}

}  // namespace tunesmith

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/printer.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {

int run_workloads_list(const Common& common) {
  const WorkloadLibrary library;
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : library.list()) {
    const WorkloadDefinition definition = library.definition(name);
    std::string params;
    for (const WorkloadParam& param : definition.params()) {
      params += fmt::format("{}{}={}", params.empty() ? "" : ",", param.name, param.value_text());
    }
    list.push_back({{"name", name}, {"params", params}, {"description", definition.description()}});
    if (!common.json) fmt::print(output(), "{}:{}\n    {}\n", name, params, definition.description());
  }
  if (common.json) print_json({{"workloads", list}});
  return kDone;
}

int run_workloads_show(const Common& common, const std::string& text) {
  const Workload workload = WorkloadLibrary().load(text);
  if (common.json) {
    print_json({{"workload", workload.key},
                {"flops", workload.flops},
                {"bytes_min", workload.bytes_min},
                {"program", to_string(workload.program)}});
    return kDone;
  }
  fmt::print(output(), "{}\n{:.6g} arithmetic operations, {:.6g} bytes at least\n\n{}", workload.key,
             workload.flops, workload.bytes_min, to_string(workload.program));
  return kDone;
}

}  // namespace tunesmith::cli

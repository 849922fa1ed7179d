#include "messages/kernel_fields.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "messages/limits.h"

namespace tunesmith {

nlohmann::json kernel_fields(const CompiledKernel& kernel) {
  nlohmann::json fields{{"symbol", kernel.symbol}, {"workspace_bytes", kernel.workspace_bytes}};
  if (const auto& step = kernel.prepare) {
    fields["prepare"] = {
        {"symbol", step->symbol}, {"bytes", step->bytes}, {"reads", step->reads}, {"unread", step->unread}};
  }
  if (const auto& step = kernel.setup)
    fields["setup"] = {{"symbol", step->symbol}, {"fault", step->fault}, {"parts", step->parts}};
  return fields;
}

CompiledKernel read_kernel(const Field& fields, std::string object, size_t buffers) {
  CompiledKernel kernel;
  kernel.object = std::move(object);
  kernel.symbol = fields["symbol"].text(kMaxName);
  kernel.workspace_bytes = fields["workspace_bytes"].integer(0, kMaxMemory);
  if (const auto step = fields.find("prepare")) {
    const auto position = [&](const Field& field) {
      return static_cast<size_t>(field.integer(0, static_cast<int64_t>(buffers) - 1));
    };
    PrepareStep& prepare = kernel.prepare.emplace();
    prepare.symbol = (*step)["symbol"].text(kMaxName);
    prepare.bytes = (*step)["bytes"].integer(0, kMaxMemory);
    prepare.reads = (*step)["reads"].list(0, buffers, position);
    prepare.unread = (*step)["unread"].list(0, buffers, position);
  }
  if (const auto step = fields.find("setup")) {
    SetupStep& setup = kernel.setup.emplace();
    setup.symbol = (*step)["symbol"].text(kMaxName);
    setup.fault = (*step)["fault"].text(kMaxName);
    setup.parts =
        (*step)["parts"].list(0, kMaxSetupParts, [](const Field& part) { return part.text(kMaxName); });
  }
  return kernel;
}

}  // namespace tunesmith

#include "machine/architecture.h"

#include <algorithm>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "machine/execution.h"
#include "support/support_folder.h"
#include "tunesmith/performance/occupancy.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

SourceLocation place(const std::filesystem::path& file, const YAML::Mark& mark) {
  return {file.string(), mark.line + 1, mark.column + 1};
}

/// Optional fields.
constexpr const char* kAsyncCopyBytes = "async_copy_bytes";
constexpr const char* kWarpgroupThreads = "warpgroup_threads";

struct Field {
  const char* name;
  void (*set)(Architecture&, size_t);
};

constexpr Field kFields[] = {
    {"registers", [](Architecture& to, size_t value) { to.registers = unsigned(value); }},
    {"warps", [](Architecture& to, size_t value) { to.warps = unsigned(value); }},
    {"blocks", [](Architecture& to, size_t value) { to.blocks = unsigned(value); }},
    {"shared_bytes", [](Architecture& to, size_t value) { to.shared_bytes = value; }},
    {"block_shared_bytes", [](Architecture& to, size_t value) { to.block_shared_bytes = value; }},
    {"static_shared_bytes", [](Architecture& to, size_t value) { to.static_shared_bytes = value; }},
    {"reserved_shared_bytes", [](Architecture& to, size_t value) { to.reserved_shared_bytes = value; }},
    {"shared_unit_bytes", [](Architecture& to, size_t value) { to.shared_unit_bytes = value; }},
    {"multiprocessors", [](Architecture& to, size_t value) { to.multiprocessors = unsigned(value); }},
    {"fma_per_cycle", [](Architecture& to, size_t value) { to.fma_per_cycle = unsigned(value); }},
    {"clock_mhz", [](Architecture& to, size_t value) { to.clock_mhz = unsigned(value); }},
    {"memory_gb_per_second",
     [](Architecture& to, size_t value) { to.memory_gb_per_second = unsigned(value); }},
    {"l2_gb_per_second", [](Architecture& to, size_t value) { to.l2_gb_per_second = unsigned(value); }},
};

Architecture read_architecture(const std::filesystem::path& file, const std::string& name,
                               const YAML::Node& node) {
  Architecture architecture;
  architecture.name = name;
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    if (key == kAsyncCopyBytes) {
      architecture.async_copy_bytes = entry.second.as<std::vector<int64_t>>();
      continue;
    }
    if (key == kWarpgroupThreads) {
      architecture.warpgroup_threads = entry.second.as<size_t>();
      continue;
    }
    const Field* field = std::find_if(std::begin(kFields), std::end(kFields),
                                      [&](const Field& known) { return key == known.name; });
    if (field == std::end(kFields)) {
      std::vector<std::string> known{kAsyncCopyBytes, kWarpgroupThreads};
      for (const Field& other : kFields) known.push_back(other.name);
      throw UserError(place(file, entry.first.Mark()), fmt::format("{} has no '{}'", name, key),
                      suggest(key, known));
    }
    field->set(architecture, entry.second.as<size_t>());
  }
  for (const Field& field : kFields)
    if (!node[field.name])
      throw UserError(place(file, node.Mark()), fmt::format("{} lacks '{}'", name, field.name));
  return architecture;
}

}  // namespace

unsigned Architecture::resident_blocks(unsigned registers_of_thread, size_t threads,
                                       size_t shared_bytes_of_block) const {
  return unsigned(core_limits(device_of(*this))
                      .resident_blocks(registers_of_thread, static_cast<int64_t>(threads),
                                       static_cast<int64_t>(shared_bytes_of_block)));
}

std::vector<Architecture> read_architectures(const std::filesystem::path& file) {
  try {
    std::vector<Architecture> architectures;
    for (const auto& entry : YAML::LoadFile(file.string()))
      architectures.push_back(read_architecture(file, entry.first.Scalar(), entry.second));
    return architectures;
  } catch (const YAML::Exception& error) {
    throw UserError(place(file, error.mark), error.msg);
  }
}

Architecture find_architecture(const std::string& name) {
  const std::vector<Architecture> architectures = read_architectures(support_folder() / "architectures.yaml");
  std::vector<std::string> known;
  for (const Architecture& architecture : architectures) {
    if (architecture.name == name) return architecture;
    known.push_back(architecture.name);
  }
  throw UserError(fmt::format("no architecture '{}'", name), suggest(name, known));
}

}  // namespace tunesmith::cuda

#include "machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <unistd.h>

#include "tunesmith/support/thread_pool.h"

namespace tunesmith::llvm_target {

namespace {

using FeatureSet = std::set<std::string, std::less<>>;

struct Caches {
  int64_t l1 = 0, l2 = 0, l3 = 0, line = 0;
  int64_t l1_ways = 0, l2_ways = 0;
};

std::string read_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "2048K" in bytes.
int64_t parse_size(const std::string& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return 0;
  const int64_t number = std::stoll(text);
  switch (text.back()) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    default:
      return number;
  }
}

int64_t sysconf_or(int name, int64_t fallback) {
  const int64_t value = sysconf(name);
  return value > 0 ? value : fallback;
}

Caches detect_caches() {
  Caches found;
  for (int index = 0; index < 16; ++index) {
    const auto folder =
        std::filesystem::path(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index));
    const std::string type = read_line(folder / "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    const std::string level = read_line(folder / "level");
    const int64_t size = parse_size(read_line(folder / "size"));
    const int64_t ways = parse_size(read_line(folder / "ways_of_associativity"));
    if (level == "1") {
      found.l1 = size;
      found.l1_ways = ways;
    } else if (level == "2") {
      found.l2 = size;
      found.l2_ways = ways;
    }
    if (level == "3") found.l3 = size;
    found.line = parse_size(read_line(folder / "coherency_line_size"));
  }
  // Containers may hide sysfs; the C library asks the processor. The last resort is small, which is safe.
  if (found.l1 == 0) found.l1 = sysconf_or(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  if (found.l2 == 0) found.l2 = sysconf_or(_SC_LEVEL2_CACHE_SIZE, 256 << 10);
  if (found.l3 == 0) found.l3 = sysconf_or(_SC_LEVEL3_CACHE_SIZE, found.l2);
  if (found.line == 0) found.line = sysconf_or(_SC_LEVEL1_DCACHE_LINESIZE, 64);
  // A first level is looked up while the address is translated, so a way of it is a page.
  constexpr int64_t kPage = 4096;
  if (found.l1_ways == 0) found.l1_ways = std::max<int64_t>(found.l1 / kPage, 1);
  if (found.l2_ways == 0) found.l2_ways = sysconf_or(_SC_LEVEL2_CACHE_ASSOC, 16);
  return found;
}

/// What LLVM can tell about this processor: feature -> is it here. Ordered by name: LLVM's map has the order
/// of a hash.
std::map<std::string, bool, std::less<>> host_features() {
  std::map<std::string, bool, std::less<>> sorted;
  for (const auto& entry : llvm::sys::getHostCPUFeatures()) sorted[entry.getKey().str()] = entry.getValue();
  return sorted;
}

FeatureSet named_features(const std::string& cpu, const SourceLocation& location) {
  llvm::SmallVector<llvm::StringRef, 128> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  if (std::ranges::find(names, llvm::StringRef(cpu)) == names.end()) {
    std::vector<std::string> known{"native"};
    for (const llvm::StringRef name : names) known.push_back(name.str());
    throw UserError(location, fmt::format("LLVM knows no processor '{}'", cpu), suggest(cpu, known));
  }
  llvm::SmallVector<llvm::StringRef, 128> features;
  llvm::X86::getFeaturesForCPU(cpu, features);
  FeatureSet result;
  for (const llvm::StringRef feature : features) result.insert(feature.str());
  return result;
}

/// The processors that pass a 512-bit operation through a 256-bit unit in two cycles.
bool double_pumped(const std::string& cpu) { return cpu == "znver4"; }

int64_t widest_vector(const llvm::Triple& triple, const Machine& machine) {
  if (!triple.isX86()) return 128;
  if (machine.has("avx512f")) return 512;
  return machine.has("avx") ? 256 : 128;
}

}  // namespace

bool Machine::has_fma() const { return has("fma") || has("neon") || has("fp-armv8"); }

Machine detect_machine(const TargetOptions& options) {
  Machine machine;
  machine.triple = llvm::sys::getProcessTriple();
  const llvm::Triple triple(machine.triple);
  const auto host = host_features();
  if (options.mcpu == "native") {
    machine.cpu = llvm::sys::getHostCPUName().str();
    for (const auto& [name, here] : host) {
      if (here) machine.features.insert(name);
      machine.feature_string +=
          fmt::format("{}{}{}", machine.feature_string.empty() ? "" : ",", here ? '+' : '-', name);
    }
  } else if (triple.isX86()) {
    machine.cpu = options.mcpu;
    machine.features = named_features(options.mcpu, options.mcpu_location);
    for (const std::string& feature : machine.features) {
      const auto known = host.find(feature);
      if (known != host.end() && !known->second && machine.missing.empty()) machine.missing = feature;
    }
  } else {
    throw UserError(options.mcpu_location, "on this architecture only 'native' processors are supported");
  }

  const int64_t widest = widest_vector(triple, machine);
  if (options.vector_bits > widest) {
    throw UserError(options.vector_bits_location,
                    fmt::format("vector_bits: expected at most {}, which is what {} has, not {}", widest,
                                machine.cpu, options.vector_bits));
  }
  machine.vector_bits = options.vector_bits == 0 ? widest : options.vector_bits;
  machine.vector_registers = !triple.isX86() || machine.has("avx512vl") ? 32 : 16;

  const Caches caches = detect_caches();
  const auto cores = static_cast<double>(available_processors());
  DeviceModel& device = machine.device;
  device.set("cores", cores);
  device.set("vector_bits", static_cast<double>(machine.vector_bits));
  device.set("vector_registers", static_cast<double>(machine.vector_registers));
  device.set("vector_registers_used_by_tile", static_cast<double>(machine.vector_registers - 1));
  device.set("fma_per_cycle", machine.vector_bits == 512 && double_pumped(machine.cpu) ? 1.0 : 2.0);
  device.set("l1_bytes", static_cast<double>(caches.l1));
  device.set("l2_bytes", static_cast<double>(caches.l2));
  device.set("l3_bytes", static_cast<double>(caches.l3));
  device.set("l1_way_bytes", static_cast<double>(caches.l1) / static_cast<double>(caches.l1_ways));
  device.set("l2_way_bytes", static_cast<double>(caches.l2) / static_cast<double>(caches.l2_ways));
  device.set("cache_line_bytes", static_cast<double>(caches.line));
  device.description = fmt::format("{} ({}), {} cores, {}-bit vectors", triple.getArchName().str(),
                                   machine.cpu, cores, machine.vector_bits);
  return machine;
}

std::vector<std::string> missing_features(const Machine& machine) {
  std::vector<std::string> missing;
  for (const auto& [feature, here] : host_features()) {
    if (!machine.has(feature)) missing.push_back(feature);
  }
  // Versions of a whole set of instructions bring many: "avx10.1-512".
  std::ranges::stable_partition(
      missing, [](const std::string& feature) { return feature.find('.') == std::string::npos; });
  return missing;
}

}  // namespace tunesmith::llvm_target

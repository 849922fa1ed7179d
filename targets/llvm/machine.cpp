#include "machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <unistd.h>

#include "processors.h"
#include "tunesmith/support/thread_pool.h"

namespace tunesmith::llvm_target {

namespace {

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

/// Parses "2048K" to bytes.
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
  // Containers may hide sysfs; the C library queries the processor. The fallback is small, which is safe.
  if (found.l1 == 0) found.l1 = sysconf_or(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  if (found.l2 == 0) found.l2 = sysconf_or(_SC_LEVEL2_CACHE_SIZE, 256 << 10);
  if (found.l3 == 0) found.l3 = sysconf_or(_SC_LEVEL3_CACHE_SIZE, found.l2);
  if (found.line == 0) found.line = sysconf_or(_SC_LEVEL1_DCACHE_LINESIZE, 64);
  // A first-level cache is indexed while the address is translated, so one way is a page.
  constexpr int64_t kPage = 4096;
  if (found.l1_ways == 0) found.l1_ways = std::max<int64_t>(found.l1 / kPage, 1);
  if (found.l2_ways == 0) found.l2_ways = sysconf_or(_SC_LEVEL2_CACHE_ASSOC, 16);
  return found;
}

/// LLVM's knowledge about this processor: feature ->
/// available. Ordered by name: LLVM's map has hash order.
std::map<std::string, bool, std::less<>> host_features() {
  std::map<std::string, bool, std::less<>> sorted;
  for (const auto& entry : llvm::sys::getHostCPUFeatures()) sorted[entry.getKey().str()] = entry.getValue();
  return sorted;
}

/// The processors that pass a 512-bit operation through a 256-bit unit in two cycles.
bool double_pumped(const std::string& cpu) { return cpu == "znver4"; }

int64_t widest_vector(const Machine& machine) {
  if (machine.has("avx512f")) return 512;
  return machine.has("avx") ? 256 : 128;
}

/// The vendor chose the length of SVE vectors, which the processor's name does
/// not tell: vectors of more than 128 bits must be requested by the user.
int64_t widest_allowed(const Machine& machine) {
  return machine.has("sve") ? kMaxSveBits : widest_vector(machine);
}

/// No generated code uses these, and cloud machines hide some of them.
constexpr const char* kSystemFeatures[] = {"pku",   "shstk",    "invpcid", "wbnoinvd", "ptwrite",  "rdpid",
                                           "uintr", "enqcmd",   "pconfig", "hreset",   "tsxldtrk", "waitpkg",
                                           "sgx",   "fsgsbase", "rdpru",   "mwaitx",   "serialize"};

/// The first feature that the processor has and this machine lacks,
/// ignoring system features, which are taken from the processor.
std::string missing_of(Processor& processor, const std::string& own_triple,
                       const std::map<std::string, bool, std::less<>>& host) {
  const llvm::Triple triple(processor.triple);
  if (triple.getArch() != llvm::Triple(own_triple).getArch())
    return triple.isX86() ? "an x86-64 processor" : "an AArch64 processor";
  for (const char* feature : kSystemFeatures) {
    if (const auto known = host.find(feature); known != host.end() && !known->second)
      processor.features.erase(feature);
  }
  for (const std::string& feature : processor.features) {
    const auto known = host.find(feature);
    if (known != host.end() && !known->second) return feature;
  }
  return "";
}

}  // namespace

bool Machine::has_fma() const { return has("fma") || has("neon") || has("fp-armv8"); }

bool Machine::sve_vectors() const {
  constexpr int64_t kNeonBits = 128;
  return has("sve") && vector_bits > kNeonBits;
}

Machine detect_machine(const TargetOptions& options) {
  Machine machine;
  machine.triple = llvm::sys::getProcessTriple();
  const auto host = host_features();
  if (options.mcpu == "native") {
    machine.cpu = llvm::sys::getHostCPUName().str();
    for (const auto& [name, here] : host) {
      if (here) machine.features.insert(name);
      machine.feature_string +=
          fmt::format("{}{}{}", machine.feature_string.empty() ? "" : ",", here ? '+' : '-', name);
    }
  } else {
    Processor processor = find_processor(options.mcpu, options.mcpu_location);
    machine.cpu = options.mcpu;
    machine.missing = missing_of(processor, machine.triple, host);
    machine.triple = std::move(processor.triple);
    machine.features = std::move(processor.features);
  }

  const int64_t widest = widest_vector(machine);
  if (options.vector_bits > widest_allowed(machine)) {
    throw UserError(options.vector_bits_location,
                    fmt::format("vector_bits: expected at most {}, which is what {} has, not {}",
                                widest_allowed(machine), machine.cpu, options.vector_bits));
  }
  machine.vector_bits = options.vector_bits == 0 ? widest : options.vector_bits;
  const llvm::Triple triple(machine.triple);
  machine.vector_registers = !triple.isX86() || machine.has("avx512vl") ? 32 : 16;

  const Caches caches = detect_caches();
  const auto cores = static_cast<double>(available_processors());
  DeviceModel& device = machine.device;
  device.set("cores", cores);
  device.set("vector_bits", static_cast<double>(machine.vector_bits));
  device.set("vector_registers", static_cast<double>(machine.vector_registers));
  device.set("vector_registers_used_by_tile", static_cast<double>(machine.vector_registers));
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
  // Versions of a whole instruction set imply many: "avx10.1-512".
  std::ranges::stable_partition(
      missing, [](const std::string& feature) { return feature.find('.') == std::string::npos; });
  return missing;
}

}  // namespace tunesmith::llvm_target

#include "tunesmith/records/environment.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include "tunesmith/schema/json_text.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/support/version.h"

namespace tunesmith {

namespace {
namespace fs = std::filesystem;
using nlohmann::json;

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return trimmed(line);
}

/// "key : value" lines of the first processor in /proc/cpuinfo.
std::map<std::string, std::string> first_processor(const fs::path& cpuinfo) {
  std::ifstream in(cpuinfo);
  std::map<std::string, std::string> facts;
  std::string line;
  while (std::getline(in, line)) {
    if (trimmed(line).empty() && !facts.empty()) break;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    facts[trimmed(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  }
  return facts;
}

std::string fact(const std::map<std::string, std::string>& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? std::string{} : found->second;
}

std::vector<std::string> sorted_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(in),
                                 std::istream_iterator<std::string>()};
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::vector<std::string> read_caches(const fs::path& folder) {
  std::vector<std::string> caches;
  for (int i = 0;; ++i) {
    const fs::path index = folder / fmt::format("index{}", i);
    const std::string level = first_line(index / "level");
    if (level.empty()) return caches;
    const std::string type = first_line(index / "type");
    const std::string_view suffix = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
    caches.push_back(fmt::format("L{}{} {}", level, suffix, first_line(index / "size")));
  }
}

/// systemd requires that the machine id stay on the machine; a hash of it with a name serves as well.
std::string machine_name(const fs::path& root) {
  const std::string id = first_line(root / "etc/machine-id");
  if (id.empty() || id == "uninitialized") return {};
  return sha256_hex("tunesmith machine " + id).substr(0, 16);
}

/// Calls field(key, member, whether it distinguishes machines) for every member; no other code lists them.
template <typename E, typename F>
void each_field(E& e, const F& field) {
  field("architecture", e.architecture, true);
  field("cpu_model", e.cpu_model, true);
  field("cpu_identity", e.cpu_identity, true);
  field("cpu_flags", e.cpu_flags, true);
  field("caches", e.caches, true);
  field("processors", e.processors, true);
  field("governor", e.governor, true);
  field("machine_name", e.machine_name, true);
  field("microcode", e.microcode, false);
  field("kernel", e.kernel, false);
  field("compiler", e.compiler, false);
  field("version", e.version, false);
  field("plugins", e.plugins, false);
}

std::string environment_text(const Environment& e, bool machine_only) {
  json all = json::object();
  each_field(e, [&](const char* key, const auto& member, bool of_machine) {
    if (of_machine || !machine_only) all[key] = member;
  });
  // Text from the operating system may be invalid UTF-8, which JSON does not allow.
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}
}  // namespace

std::string Environment::text() const { return environment_text(*this, false); }

Environment Environment::parse(std::string_view text) {
  Environment e;
  tl::expected<json, std::string> read = parse_object(text);
  if (!read) throw UserError("not an environment: it " + read.error());
  json& all = *read;
  try {
    each_field(e, [&](const char* key, auto& member, bool) {
      all.at(key).get_to(member);
      all.erase(key);
    });
    if (!all.empty()) throw UserError(fmt::format("not an environment: unknown key '{}'", all.begin().key()));
  } catch (const json::exception& error) {
    throw UserError(fmt::format("not an environment: {}", error.what()));
  }
  return e;
}

uint64_t Environment::hash() const { return hash_bytes(text()); }

uint64_t Environment::machine() const { return hash_bytes(environment_text(*this, true)); }

Environment detect_environment(const std::map<std::string, std::string>& plugins, const fs::path& root) {
  Environment e;
  utsname system{};
  if (uname(&system) == 0) {
    e.architecture = system.machine;
    e.kernel = fmt::format("{} {}", system.sysname, system.release);
  }
  const auto facts = first_processor(root / "proc/cpuinfo");
  e.cpu_model = fact(facts, "model name");
  // One set of names is x86's, the other is ARM's.
  const bool arm = facts.contains("CPU implementer");
  if (arm) {
    e.cpu_identity = fmt::format("{} {} {} {}", fact(facts, "CPU implementer"), fact(facts, "CPU part"),
                                 fact(facts, "CPU variant"), fact(facts, "CPU revision"));
  } else if (facts.contains("vendor_id")) {
    e.cpu_identity = fmt::format("{} {} {} {}", fact(facts, "vendor_id"), fact(facts, "cpu family"),
                                 fact(facts, "model"), fact(facts, "stepping"));
  }
  e.cpu_flags = sorted_words(fact(facts, arm ? "Features" : "flags"));
  e.microcode = fact(facts, "microcode");
  const fs::path cpu0 = root / "sys/devices/system/cpu/cpu0";
  e.caches = read_caches(cpu0 / "cache");
  e.governor = first_line(cpu0 / "cpufreq/scaling_governor");
  e.processors = static_cast<int>(available_processors());
  e.machine_name = machine_name(root);
  e.compiler = kernel_compiler();
  e.version = kernel_version();
  e.plugins = plugins;
  return e;
}

}  // namespace tunesmith

#include "memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "say.h"

namespace tunesmith::cli {
namespace {

/// Bytes per element of a result and its error bound in double precision.
constexpr double kReferenceBytes = 16.0;

double elements(const Buffer& buffer) {
  double count = 1.0;
  for (const int64_t extent : buffer->shape) count *= static_cast<double>(extent);
  return count;
}

double own_bytes(const Buffer& buffer) {
  return elements(buffer) * static_cast<double>(buffer->dtype.bytes());
}

std::optional<double> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  double number = 0.0;
  return in >> number ? std::optional(number) : std::nullopt;  // "max" is not a number
}

/// The bytes left to this process's control group (version 2).
double left_in_group() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  if (!std::getline(groups, line) || !line.starts_with("0::/"))
    return std::numeric_limits<double>::infinity();
  const std::filesystem::path folder = "/sys/fs/cgroup" + line.substr(3);
  const std::optional<double> limit = number_in(folder / "memory.max");
  const std::optional<double> used = number_in(folder / "memory.current");
  return limit && used ? std::max(0.0, *limit - *used) : std::numeric_limits<double>::infinity();
}

std::string gibibytes(double bytes) {
  const double gib = bytes / (1 << 30);
  return fmt::format("{:.{}f} GiB", gib, gib < 10 ? 1 : 0);
}

}  // namespace

double measuring_bytes(const Workload& workload) {
  double total = 0.0;
  // The worker has three sets of arguments, and the inputs once more while it draws them.
  for (const Buffer& input : workload.program.inputs) total += 4.0 * own_bytes(input);
  // The worker has expected results for both data sets; this process has half of them for the next worker.
  for (const Buffer& output : workload.program.outputs)
    total += 3.0 * own_bytes(output) + 3.0 * kReferenceBytes * elements(output);
  for (const Buffer& between : workload.program.intermediates) total += kReferenceBytes * elements(between);
  return total;
}

double available_bytes() {
  std::ifstream memory("/proc/meminfo");
  std::string word;
  while (memory >> word) {
    double kibibytes = 0.0;
    if (word == "MemAvailable:" && memory >> kibibytes) return std::min(kibibytes * 1024.0, left_in_group());
  }
  return left_in_group();
}

std::optional<std::string> memory_lacking(const Workload& workload, double available) {
  const double wanted = measuring_bytes(workload);
  if (wanted <= available) return std::nullopt;
  return fmt::format("measuring it needs about {} of memory, {} are available", gibibytes(wanted),
                     gibibytes(available));
}

void require_memory(const Workload& workload, bool allowed) {
  const std::optional<std::string> lacking = memory_lacking(workload, available_bytes());
  if (!lacking) return;
  const std::string text = fmt::format("{}: {}", workload.key, *lacking);
  if (!allowed) throw UserError(text, "choose a smaller shape, or measure anyway with --allow-memory");
  say(text + "; continuing because of --allow-memory");
}

}  // namespace tunesmith::cli

#include "tasks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <tunesmith/proposals/held_out.h>
#include <tunesmith/support/random.h>
#include <tunesmith/workload/library.h>

namespace tunesmith::cli {
namespace {

constexpr int64_t kMinVaried = 8;     // smaller parameters are kernel sizes, strides or groups
constexpr double kMaxFactor = 3.0;    // by which an extent grows or shrinks
constexpr uint64_t kMaxTries = 2000;  // to find one new task

std::vector<std::string> workloads_of(const std::vector<WorkloadSuite>& suites) {
  std::vector<std::string> all;
  for (const WorkloadSuite& suite : suites)
    all.insert(all.end(), suite.workloads.begin(), suite.workloads.end());
  return all;
}

int64_t varied(int64_t extent, RandomStream& random) {
  const double factor = std::pow(kMaxFactor, 2.0 * random.uniform() - 1.0);
  const auto unit = int64_t{1} << random.below(6);
  const double units = std::round(static_cast<double>(extent) * factor / static_cast<double>(unit));
  return unit * std::max<int64_t>(1, static_cast<int64_t>(units));
}

/// Draws parameters around those of `base`; nothing if they do not fit each other.
std::optional<Workload> draw_around(const WorkloadLibrary& library, const std::string& base,
                                    RandomStream& random) {
  const Workload workload = library.load(base);
  std::vector<ParamText> params = parse_workload_text(workload.key).second;
  for (auto& [name, text] : params) {
    const auto known = std::ranges::find(workload.params, name, &WorkloadParam::name);
    const auto* extent = known == workload.params.end() ? nullptr : std::get_if<int64_t>(&known->value);
    if (extent == nullptr || *extent < kMinVaried || random.below(4) == 0) continue;
    text = std::to_string(varied(*extent, random));
  }
  try {
    return library.definition(parse_workload_text(base).first).instantiate(params);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

const char* part_name(PriorPart part) { return part == PriorPart::HeldOut ? "held-out" : "training"; }

PriorPart part_of(const Workload& workload) {
  return is_held_out(describe_task(workload.program, DeviceModel())) ? PriorPart::HeldOut
                                                                     : PriorPart::Training;
}

std::vector<PriorTask> draw_prior_tasks(const std::vector<std::string>& suites, PriorPart part, size_t count,
                                        uint64_t seed) {
  const WorkloadLibrary library;
  std::vector<std::string> bases;
  if (suites.empty()) bases = workloads_of(library.suites());
  for (const std::string& file : suites) {
    const std::vector<std::string> more = workloads_of(read_suite_file(file));
    bases.insert(bases.end(), more.begin(), more.end());
  }
  for (const std::string& base : bases) library.load(base);  // reports faults before drawing
  std::vector<PriorTask> tasks;
  std::set<uint64_t> met;
  uint64_t tries = 0;
  for (uint64_t draw = 0; tasks.size() < count; ++draw) {
    if (++tries > kMaxTries) {
      throw UserError(
          fmt::format("the suites give only {} of {} {} tasks", tasks.size(), count, part_name(part)),
          "reduce --tasks, or add workloads with --suite");
    }
    RandomStream random(seed, draw);
    const std::string& base = bases[random.below(bases.size())];
    std::optional<Workload> workload = draw_around(library, base, random);
    if (!workload || part_of(*workload) != part || !met.insert(workload->hash).second) continue;
    tasks.push_back({base, std::move(*workload)});
    tries = 0;
  }
  return tasks;
}

}  // namespace tunesmith::cli

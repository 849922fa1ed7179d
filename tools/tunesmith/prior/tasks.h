// Draws tasks around those of suites, for a prior over decisions to learn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// A prior learns nothing from the part that is held out (tunesmith/proposals/held_out.h).
enum class PriorPart : uint8_t { Training, HeldOut };
const char* part_name(PriorPart part);
/// The part to which the workload's computation belongs.
PriorPart part_of(const Workload& workload);

struct PriorTask {
  std::string base;  // the suite's workload
  Workload workload;
};

/// Draws `count` different tasks of the part. Each is a workload of the suites whose extents (of at least 8)
/// are multiplied or divided by up to 3, and rounded to values that networks have. A longer list with the
/// same seed begins with the shorter one. Throws UserError if the suites do not give enough tasks.
std::vector<PriorTask> draw_prior_tasks(const std::vector<std::string>& suites, PriorPart part, size_t count,
                                        uint64_t seed);

}  // namespace tunesmith::cli

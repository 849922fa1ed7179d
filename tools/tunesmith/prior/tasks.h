// The tasks that a prior over decisions learns from, drawn around those of suites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// Nothing is learned from what is held out (tunesmith/proposals/held_out.h).
enum class PriorPart : uint8_t { Training, HeldOut };
const char* part_name(PriorPart part);
/// Of which part is what it computes?
PriorPart part_of(const Workload& workload);

struct PriorTask {
  std::string base;  // the suite's workload
  Workload workload;
};

/// `count` different tasks of the part. Each has a workload of the suites, extents of at least 8 multiplied
/// by up to 3 or divided by as much, and rounded as those of networks are. A longer list of the same seed
/// begins with the shorter one. Throws UserError where the suites have no more to give.
std::vector<PriorTask> draw_prior_tasks(const std::vector<std::string>& suites, PriorPart part, size_t count,
                                        uint64_t seed);

}  // namespace tunesmith::cli

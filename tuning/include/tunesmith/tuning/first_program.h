// The first program of an unmeasured task: the best of some draws by a cost model that needs no measurements.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/space/space.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
class Prior;
}

#pragma GCC visibility push(default)
namespace tunesmith {

/// The best draws are timed until this many are correct.
inline constexpr size_t kFirstTried = 4;
/// More draws change nothing on the recorded tables (docs/proposals.md).
inline constexpr int64_t kDefaultDraws = 128;

struct DrawOptions {
  int64_t draws = kDefaultDraws;
  uint64_t seed = 0;
  size_t keep = 2 * kFirstTried;  // some may be wrong
  const Prior* prior = nullptr;   // if not null, it draws three of four
};

struct RankedDraws {
  std::vector<CandidatePtr> best;  // no program twice, the best first
  std::vector<double> scores;      // of each
  int64_t drawn = 0;
  int64_t programs = 0;  // different ones that were legal
};

/// Draws points of the space, by a prior at several temperatures or from all sketches equally often with
/// random decisions, and ranks them by `model`, a new model of the space, which this function begins. The
/// result depends on the seed, but not on the number of threads.
RankedDraws best_of_draws(const Workload& workload, const Space& space, CostModel& model,
                          const DrawOptions& options, ThreadPool& pool);

}  // namespace tunesmith
#pragma GCC visibility pop

// The barriers of a block that some of its warps meet at, by number (bar.sync).
#include "group_barrier.h"

#include <array>
#include <utility>
#include <vector>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {
namespace {

constexpr unsigned kGroupBarriers = 16;

struct GroupBarrier {
  unsigned threads = 0;  // that it waits for
  std::vector<unsigned> waiting;
  Clock arriving, completed;  // of this phase, and of the last one
};

std::array<GroupBarrier, kGroupBarriers> group_barriers;

}  // namespace

void begin_block_group_barriers() { group_barriers.fill({}); }

void group_barrier(unsigned number, unsigned threads, int line) {
  Thread& thread = running();
  // __syncthreads is the barrier of number 0.
  if (number == 0 || number >= kGroupBarriers || threads == 0 || threads % kWarp != 0)
    report_and_stop(Kind::BadOperand,
                    "barrier %u of line %d, for %u threads: it is one of 1 to 15, for warps", number, line,
                    threads);
  GroupBarrier& place = group_barriers[number];
  if (!place.waiting.empty() && place.threads != threads)
    report_and_stop(Kind::DivergentBarrier,
                    "thread %u is at barrier %u of line %d for %u threads, and others wait there for %u",
                    thread.id, number, line, threads, place.threads);
  machine.only_barriers = false;
  place.threads = threads;
  release_to(&place.arriving);
  ++machine.progress;
  if (place.waiting.size() + 1 < threads) {
    place.waiting.push_back(thread.id);
    wait_in("a barrier of groups", line);
  } else {
    place.completed = std::exchange(place.arriving, {});
    for (const unsigned other : place.waiting) machine.threads[other].state = State::Ready;
    place.waiting.clear();
  }
  acquire_from(place.completed);
}

}  // namespace tunesmith_emulation

#include "collective.h"

#include "checker.h"

namespace tunesmith_emulation {
namespace {

struct Gathering {
  unsigned mask = 0;      // as given by the lane
  unsigned expected = 0;  // lanes of the mask that have not returned
  unsigned arrived = 0;
  const char* what = "";  // one literal per instruction: compared by address
  int line = 0;
};

// Per warp: several at a time, if its lanes diverge.
std::array<std::vector<Gathering>, kMaxThreads / kWarp> gatherings;

struct GroupGathering {
  unsigned arrived = 0;
  int line = 0;
};
std::array<GroupGathering, kMaxThreads / kWarpgroup> group_gatherings;

unsigned present_lanes(unsigned warp) {
  if (machine.alive == machine.threads.size() && machine.alive % kWarp == 0) return kAllLanes;
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const size_t id = size_t(warp) * kWarp + lane;
    if (id < machine.threads.size() && machine.threads[id].state != State::Done) lanes |= 1u << lane;
  }
  return lanes;
}

Gathering& gathering_of(unsigned mask, const char* what, int line) {
  Thread& thread = running();
  std::vector<Gathering>& open = gatherings[thread.warp()];
  for (Gathering& other : open) {
    if (other.mask == mask && other.what == what && other.line == line) return other;
    if ((other.mask & mask) == 0) continue;
    report_and_stop(
        Kind::DivergedWarp,
        "lane %u of warp %u is in %s of line %d (lanes %#x) while others wait in %s of line %d (lanes %#x)",
        thread.lane(), thread.warp(), what, line, mask, other.what, other.line, other.mask);
  }
  open.push_back({mask, mask & present_lanes(thread.warp()), 0, what, line});
  return open.back();
}

}  // namespace

void begin_block_collectives() {
  for (auto& open : gatherings) open.clear();
  group_gatherings.fill({});
}

void thread_left_warp(const Thread& thread) {
  std::vector<Gathering>& open = gatherings[thread.warp()];
  for (size_t i = open.size(); i-- > 0;) {
    open[i].expected &= ~(1u << thread.lane());
    if (open[i].arrived != open[i].expected) continue;
    Thread& last = machine.threads[thread.id - thread.lane() + unsigned(__builtin_ctz(open[i].arrived))];
    last.completes = open[i].arrived;
    last.state = State::Ready;
    open.erase(open.begin() + std::ptrdiff_t(i));
  }
}

bool arrive_in_warp(unsigned mask, const char* what, int line, void* operand, unsigned* lanes) {
  Thread& thread = running();
  const unsigned bit = 1u << thread.lane();
  if ((mask & bit) == 0)
    report_and_stop(Kind::DivergedWarp, "lane %u is in %s of line %d, whose mask %#x lacks it", thread.lane(),
                    what, line, mask);
  thread.operand = operand;
  machine.only_barriers = false;
  ++machine.progress;
  Gathering& gathering = gathering_of(mask, what, line);
  gathering.arrived |= bit;
  if (gathering.arrived != gathering.expected) return false;
  *lanes = gathering.expected;
  std::vector<Gathering>& open = gatherings[thread.warp()];
  open.erase(open.begin() + (&gathering - open.data()));
  return true;
}

void release_lanes(unsigned lanes) {
  const unsigned first = running().id - running().lane();
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((lanes >> lane & 1u) != 0) machine.threads[first + lane].state = State::Ready;
}

bool arrive_in_warpgroup(const char* what, int line, void* operand) {
  Thread& thread = running();
  const unsigned group = thread.id / kWarpgroup;
  if (size_t(group + 1) * kWarpgroup > machine.threads.size())
    report_and_stop(Kind::BadLaunch,
                    "%s of line %d needs 128 threads, and the block's last warpgroup has fewer", what, line);
  GroupGathering& gathering = group_gatherings[group];
  if (gathering.arrived > 0 && gathering.line != line) {
    report_and_stop(Kind::DivergedWarp,
                    "thread %u is in %s of line %d while others of its warpgroup wait in that of line %d",
                    thread.id, what, line, gathering.line);
  }
  thread.operand = operand;
  machine.only_barriers = false;
  gathering.line = line;
  ++machine.progress;
  if (++gathering.arrived < kWarpgroup) return false;
  gathering.arrived = 0;
  return true;
}

void release_warpgroup() {
  const unsigned first = running().id / kWarpgroup * kWarpgroup;
  for (unsigned lane = 0; lane < kWarpgroup; ++lane) machine.threads[first + lane].state = State::Ready;
}

void warp_barrier(unsigned mask, int line) {
  Thread& thread = running();
  in_warp(mask, "__syncwarp", line, thread, [&](const LaneOperands<Thread>& lanes) {
    unsigned met = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane)
      if (lanes[lane] != nullptr) met |= 1u << lane;
    order_lanes(thread.id - thread.lane(), met);
  });
}

unsigned long long shuffle(unsigned mask, unsigned long long value, Shuffle kind, int operand, int width,
                           int line) {
  if (width < 1 || width > int(kWarp) || (width & (width - 1)) != 0)
    report_and_stop(Kind::BadOperand, "a shuffle of line %d: the width %d is no power of two up to 32", line,
                    width);
  const int lane = int(running().lane()), first = lane & ~(width - 1), last = first + width - 1;
  int source = lane;
  switch (kind) {
    case Shuffle::Index:
      source = first + (operand & (width - 1));
      break;
    case Shuffle::Up:
      source = lane - operand < first ? lane : lane - operand;
      break;
    case Shuffle::Down:
      source = lane + operand > last ? lane : lane + operand;
      break;
    case Shuffle::Xor:
      source = (lane ^ operand) > last ? lane : lane ^ operand;
      break;
  }
  struct Operand {
    unsigned long long given, received;
    int source;
  } mine{value, value, source};
  in_warp(mask, "a shuffle", line, mine, [&](LaneOperands<Operand>& lanes) {
    for (unsigned i = 0; i < kWarp; ++i) {
      if (lanes[i] == nullptr) continue;
      const Operand* from = lanes[size_t(lanes[i]->source) % kWarp];
      if (from == nullptr) {
        report(Kind::DivergedWarp,
               "a shuffle of line %d: lane %u of warp %u takes the value of lane %d, which takes no part",
               line, i, running().warp(), lanes[i]->source);
      } else {
        lanes[i]->received = from->given;
      }
    }
  });
  return mine.received;
}

unsigned vote(unsigned mask, bool predicate, int line) {
  struct Operand {
    bool predicate;
    unsigned votes;
  } mine{predicate, 0};
  in_warp(mask, "a vote", line, mine, [](LaneOperands<Operand>& lanes) {
    unsigned votes = 0;
    for (unsigned i = 0; i < kWarp; ++i)
      if (lanes[i] != nullptr && lanes[i]->predicate) votes |= 1u << i;
    for (Operand* lane : lanes)
      if (lane != nullptr) lane->votes = votes;
  });
  return mine.votes;
}

}  // namespace tunesmith_emulation

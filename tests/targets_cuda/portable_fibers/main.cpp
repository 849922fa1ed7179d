// Two fibers count in turn; the exit code is 0 if each kept its own variables.
#include <array>
#include <cstdio>

#include "fiber.h"

namespace {

using tunesmith_emulation::Fiber;

constexpr size_t kStackBytes = 65536;
constexpr int kTurns = 1000;

alignas(16) std::array<std::array<char, kStackBytes>, 2> stacks;
std::array<Fiber, 2> fibers;
Fiber host;
std::array<int, 2> counts;

template <int kThis>
void count() {
  for (int turn = 0;; ++turn) {
    if (counts[kThis] != turn) counts[kThis] = -kTurns;
    ++counts[kThis];
    Fiber::switch_to(fibers[kThis], kThis == 0 ? fibers[1] : host);
  }
}

}  // namespace

int main() {
  fibers[0].prepare(stacks[0].data(), kStackBytes, count<0>);
  fibers[1].prepare(stacks[1].data(), kStackBytes, count<1>);
  for (int turn = 0; turn < kTurns; ++turn) Fiber::switch_to(host, fibers[0]);
  std::printf("%d and %d turns of %d\n", counts[0], counts[1], kTurns);
  return counts[0] == kTurns && counts[1] == kTurns ? 0 : 1;
}

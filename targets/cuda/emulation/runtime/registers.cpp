// Registers that warpgroups of a block give up and take (setmaxnreg). A block holds as many as it was
// launched with: who takes more waits until others have given them up.
#include "registers.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "collective.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {
namespace {

constexpr unsigned kBlockRegisters = 65536, kRegisterUnit = 8, kMaxThreadRegisters = 255;

// Per thread of each warpgroup, and of all together.
std::array<unsigned, kMaxThreads / kWarpgroup> held_registers;
unsigned block_registers = 0;

unsigned in_use() { return std::accumulate(held_registers.begin(), held_registers.end(), 0u); }

void take(unsigned& own, unsigned count, int line) {
  // Between two turns of this thread every runnable thread has one: if none makes progress, none will.
  uint64_t seen = machine.progress;
  for (unsigned idle = 0; in_use() - own + count > block_registers;) {
    yield();
    idle = machine.progress == seen ? idle + 1 : 0;
    seen = machine.progress;
    if (idle > 2)
      report_and_stop(Kind::Deadlock,
                      "thread %u waits in line %d for %u registers: the block has %u for a thread of each "
                      "warpgroup together, and no thread continues",
                      running().id, line, count, block_registers);
  }
  own = count;
}

}  // namespace

void begin_block_registers() {
  const unsigned threads = unsigned(machine.threads.size()), groups = threads / kWarpgroup;
  const unsigned each =
      std::min(kBlockRegisters / threads, kMaxThreadRegisters) / kRegisterUnit * kRegisterUnit;
  held_registers.fill(0);
  for (unsigned group = 0; group < groups; ++group) held_registers[group] = each;
  block_registers = groups * each;
}

void move_registers(unsigned count, bool up, int line) {
  Thread& thread = running();
  if (!arrive_in_warpgroup("setmaxnreg", line, &thread)) return wait_in("setmaxnreg", line);
  unsigned& own = held_registers[thread.id / kWarpgroup];
  if (up ? count < own : count > own)
    report_and_stop(Kind::BadOperand, "setmaxnreg.%s of line %d: from %u registers to %u", up ? "inc" : "dec",
                    line, own, count);
  thread.waits_for = "setmaxnreg";
  thread.line = line;
  take(own, count, line);
  ++machine.progress;
  release_warpgroup();
}

}  // namespace tunesmith_emulation

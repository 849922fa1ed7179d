// Reports findings to the parent process on standard output, as lines of words separated by tabs.
//   finding  KIND  MESSAGE    the first few of a kind
//   count    KIND  NUMBER     how many there were, at the end
//   granule  shared|global  BYTES    run again, with cells of so many bytes
//   counter  NAME  NUMBER     switches, shared_accesses, global_accesses, only_barriers (1 where threads
//                             met at barriers of the block alone)
//   done
#pragma once

#include <cstdint>

namespace tunesmith_emulation {

/// The kinds of mistakes; findings.cpp has their names (finding_names).
enum class Kind : uint8_t {
  Race,
  ReadBeforeWait,
  ReadOnlyPath,
  MissingProxyFence,
  MissingProductFence,
  Uninitialised,
  OutOfBounds,
  Misaligned,
  DivergentBarrier,
  DivergedWarp,
  ThreadLeft,
  Deadlock,
  BadOperand,
  BadLaunch,
  Fault,
  Count
};

/// The kernel continues: a race does not change values in the emulation.
[[gnu::format(printf, 2, 3)]] void report(Kind kind, const char* format, ...);

/// The kernel cannot continue; ends the process.
[[noreturn, gnu::format(printf, 2, 3)]] void report_and_stop(Kind kind, const char* format, ...);

/// Ends the process; the parent runs it again with finer cells.
[[noreturn]] void need_granule(bool shared, unsigned bytes);

/// A line "counter NAME NUMBER".
void report_counter(const char* name, uint64_t value);

/// The counts of all kinds, and `done`.
void finish_report();

}  // namespace tunesmith_emulation

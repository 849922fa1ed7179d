// What a candidate on purpose does wrong. By number in the annotation "mistake" of its program.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tunesmith::test {

enum class Mistake : size_t {
  None,
  LeavesOneOut,
  WrongResult,
  VariesFromRunToRun,
  WritesBeyond,
  WritesBefore,
  ReadsBeyond,
  WritesInput,
  WritesBeyondWorkspace,
  WritesBeforeWorkspace,
  HugeWorkspace,
  Segfaults,
  SegfaultsInThread,
  OverflowsStack,
  DividesByZero,
  Aborts,
  Throws,
  IllegalInstruction,
  Endless,
  StopsItself,
  AllocatesByNew,
  AllocatesByMalloc,
  Exits,
  KillsItself,
  WritesToTheSocket,
  ClosesTheSocket,
  DoesNotLoad,
  ThrowsInLoad,
  ThrowsInEntry,
  ThrowsInTakeFault,
  ThrowsInModelledSeconds,
  ThrowsInDeviceSeconds,
  ModelsNoTime,
  Prints,
  BreaksTheNext,
  LeaksMemory,
  SpoilsTheNext,
  RoundsUp,
  RoundsUpInThread,
  FlushesSubnormals,
  Traps,
  LowersPrecision,
  SkipsTheSamePointers,
  KeepsAnInputByAddress,
  KeepsAnInputAfterFourCalls,
  StopsWriting,
  ReturnsTooEarly,
  WritesAgainLate,
  WritesBeyondLater,
  WritesBeyondWorkspaceLater,
  LeavesAThreadRunning,
  StartsAThreadEachCall,
  KeepsAPool,
  BlocksSignals,
  BlocksSignalsInThePool,
  HandlesFaults,
  SkipsWhatIsDone,
  OpensAFileEachCall,
  OpensAFileOnce,
  ClosesAFile,
  Prepares,  // rightly; from here to PreparesAnOutput there is something to prepare
  ForgetsToPrepare,
  PreparesBeyond,
  WritesPrepared,
  ThrowsInPrepare,
  PreparesAnOutput,
  DoesNotCompile,  // last: no runner sees it
  Count
};

constexpr bool has_preparation(Mistake mistake) {
  return mistake >= Mistake::Prepares && mistake <= Mistake::PreparesAnOutput;
}

/// Of the prepared memory; its first number is the one that the kernel adds.
inline constexpr int kPreparedNumbers = 16;

/// The tuner's record of each, "" where it is a success.
struct MistakeInfo {
  std::string_view name;
  std::string_view cause;
};

inline constexpr std::array<MistakeInfo, static_cast<size_t>(Mistake::Count)> kMistakes{{
    {"None", ""},
    {"LeavesOneOut", "wrong_result"},
    {"WrongResult", "wrong_result"},
    {"VariesFromRunToRun", "wrong_result"},
    {"WritesBeyond", "out_of_bounds"},
    {"WritesBefore", "out_of_bounds"},
    {"ReadsBeyond", "out_of_bounds"},
    {"WritesInput", "out_of_bounds"},
    {"WritesBeyondWorkspace", "out_of_bounds"},
    {"WritesBeforeWorkspace", "out_of_bounds"},
    {"HugeWorkspace", "out_of_memory"},
    {"Segfaults", "crash"},
    {"SegfaultsInThread", "crash"},
    {"OverflowsStack", "crash"},
    {"DividesByZero", "crash"},
    {"Aborts", "crash"},
    {"Throws", "crash"},
    {"IllegalInstruction", "illegal_instruction"},
    {"Endless", "time_out"},
    {"StopsItself", "time_out"},
    {"AllocatesByNew", "out_of_memory"},
    {"AllocatesByMalloc", "out_of_memory"},
    {"Exits", "worker_lost"},
    {"KillsItself", "worker_lost"},
    {"WritesToTheSocket", "worker_lost"},
    {"ClosesTheSocket", "worker_lost"},
    {"DoesNotLoad", "load_error"},
    {"ThrowsInLoad", "load_error"},
    {"ThrowsInEntry", "plugin_error"},
    {"ThrowsInTakeFault", "plugin_error"},
    {"ThrowsInModelledSeconds", "plugin_error"},
    {"ThrowsInDeviceSeconds", "plugin_error"},
    {"ModelsNoTime", "plugin_error"},
    {"Prints", ""},
    {"BreaksTheNext", ""},
    {"LeaksMemory", ""},
    {"SpoilsTheNext", ""},
    {"RoundsUp", "process_state"},
    {"RoundsUpInThread", "process_state"},
    {"FlushesSubnormals", "process_state"},
    {"Traps", "process_state"},
    {"LowersPrecision", "process_state"},
    {"SkipsTheSamePointers", "wrong_result"},
    {"KeepsAnInputByAddress", "wrong_result"},
    {"KeepsAnInputAfterFourCalls", "wrong_result"},
    {"StopsWriting", "wrong_result"},
    {"ReturnsTooEarly", "wrong_result"},
    {"WritesAgainLate", "wrong_result"},
    {"WritesBeyondLater", "out_of_bounds"},
    {"WritesBeyondWorkspaceLater", "out_of_bounds"},
    {"LeavesAThreadRunning", "process_state"},
    {"StartsAThreadEachCall", "process_state"},
    {"KeepsAPool", ""},
    {"BlocksSignals", "process_state"},
    {"BlocksSignalsInThePool", "process_state"},
    {"HandlesFaults", "process_state"},
    {"SkipsWhatIsDone", "implausible_time"},
    {"OpensAFileEachCall", "process_state"},
    {"OpensAFileOnce", ""},
    {"ClosesAFile", "process_state"},
    {"Prepares", ""},
    {"ForgetsToPrepare", "wrong_result"},
    {"PreparesBeyond", "out_of_bounds"},
    {"WritesPrepared", "out_of_bounds"},
    {"ThrowsInPrepare", "plugin_error"},
    {"PreparesAnOutput", "crash"},
    {"DoesNotCompile", "compile_error"},
}};

}  // namespace tunesmith::test

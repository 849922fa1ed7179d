// How the runtime calls a kernel with arguments in memory.
#pragma once

#include "emulation_abi.h"

namespace tunesmith_emulation {

template <class T>
constexpr bool kPointsToConst = false;
template <class T>
constexpr bool kPointsToConst<const T*> = true;

template <auto kKernel>
struct Launcher;

template <class... Parameters, void (*kKernel)(Parameters...)>
struct Launcher<kKernel> {
  struct Call {  // a constructor, since the elements of a braced list are evaluated from left to right
    explicit Call(Parameters... parameters) { kKernel(parameters...); }
  };
  static void call(void* const* arguments) {
    (void)arguments;  // a kernel without parameters
    Call{*static_cast<Parameters*>(*arguments++)...};
  }
  static constexpr unsigned kBytes[sizeof...(Parameters) + 1] = {unsigned(sizeof(Parameters))..., 0};
  static constexpr bool kReadsOnly[sizeof...(Parameters) + 1] = {kPointsToConst<Parameters>..., false};
  static constexpr KernelEntry entry(const char* name, unsigned max_threads) {
    return {name, call, sizeof...(Parameters), kBytes, kReadsOnly, max_threads};
  }
};

}  // namespace tunesmith_emulation

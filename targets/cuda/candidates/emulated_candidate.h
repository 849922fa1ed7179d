// A candidate on the emulated device: each call runs its launches with threads in three orders, checks
// accesses that no earlier call has checked, and records faults.
//
// The blocks of a launch cycle through the orders, so that a launch of three or more blocks covers all of
// them. With fewer blocks, or if threads synchronised other than at barriers of their block, it is launched
// again with the next order, until each block has run in all three.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "candidates/candidate_object.h"
#include "candidates/entry_slot.h"
#include "emulation/emulated_kernel.h"
#include "tunesmith/target/target.h"

namespace tunesmith::cuda {

class EmulatedCandidate final : public LoadedKernel, private BufferCall {
 public:
  /// Throws EnvironmentError if the object is damaged, or too many candidates are loaded at once.
  explicit EmulatedCandidate(const std::string& object);

  /// Thread-safe.
  tunesmith_kernel entry() const override;
  std::optional<KernelFault> take_fault() override;
  std::optional<double> modelled_seconds() const override { return object_.modelled_seconds; }

 private:
  using Bytes = std::vector<unsigned char>;
  struct Memory;

  void call(void* const* buffers, void* workspace) override;
  /// call(), which reports exceptions of this as faults.
  void run_in_each_order(void* const* buffers, void* workspace);
  /// Converts a kernel's argument for the emulation: only outputs are writable.
  EmulatedArgument emulated(const ObjectArgument& argument, const Bytes& bytes) const;
  /// Runs all launches, the first block of each in `order`; returns how many such runs are
  /// needed to see all orders, or nothing after a fault. `to_check` says for each launch
  /// whether its accesses are checked, and on return whether other orders may reveal more.
  std::optional<size_t> run(ThreadOrder order, Memory& memory, std::vector<bool>& to_check);
  void keep(KernelFault fault, bool of_checks);

  CandidateObject object_;
  std::vector<EmulatedKernel> kernels_;
  std::atomic<bool> checked_ = false;  // in some call
  std::mutex mutex_;                   // guards the following members
  std::optional<KernelFault> fault_;
  bool fault_of_checks_ = false;
  EntrySlot slot_{*this};
};

}  // namespace tunesmith::cuda

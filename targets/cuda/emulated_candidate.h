// A candidate on the emulated device: each call runs its launches in three orders of threads, checks what no
// call has checked before, and keeps what went wrong.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "candidate_object.h"
#include "emulated_kernel.h"
#include "entry_slot.h"
#include "tunesmith/target/target.h"

namespace tunesmith::cuda {

class EmulatedCandidate final : public LoadedKernel, private BufferCall {
 public:
  /// Throws EnvironmentError when the object is damaged, or too many candidates are loaded at once.
  explicit EmulatedCandidate(const std::string& object);

  /// Calls may come from several threads, at once, too.
  tunesmith_kernel entry() const override;
  std::optional<KernelFault> take_fault() override;
  std::optional<double> modelled_seconds() const override { return object_.modelled_seconds; }

 private:
  using Bytes = std::vector<unsigned char>;
  struct Memory;

  void call(void* const* buffers, void* workspace) override;
  /// All launches in one order; false when something went wrong. `to_check` says for each launch whether its
  /// accesses are checked, and afterwards whether other orders may find more there.
  bool run(ThreadOrder order, Memory& memory, std::vector<bool>& to_check);
  void keep(KernelFault fault, bool of_checks);

  CandidateObject object_;
  std::vector<EmulatedKernel> kernels_;
  std::atomic<bool> checked_ = false;  // in some call
  std::mutex mutex_;                   // of what follows
  std::optional<KernelFault> fault_;
  bool fault_of_checks_ = false;
  EntrySlot slot_{*this};
};

}  // namespace tunesmith::cuda

// A candidate on the emulated device: each call runs its launches in three orders of threads, checks them,
// and keeps what went wrong.
#pragma once

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
  /// All launches in one order; false when something went wrong.
  bool run(ThreadOrder order, Memory& memory);
  void keep(KernelFault fault);

  CandidateObject object_;
  std::vector<EmulatedKernel> kernels_;
  std::mutex mutex_;  // of what follows
  std::optional<KernelFault> fault_;
  EntrySlot slot_{*this};
};

}  // namespace tunesmith::cuda

// The plan of a library, run in this process without a C compiler.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "tunesmith/network/runnable.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/guarded_buffer.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Calls the kernels as the library's C code does, on one thread. The memory of a call ends at a guard page,
/// and is filled with NaN before each call.
class LoadedPlan final : public RunnableNetwork {
 public:
  /// The kernels and weights of `plan`, and the target's code, must outlive the object. Throws as
  /// write_library does for an invalid plan, and as Target::load.
  LoadedPlan(LibraryPlan plan, Target& target);

  int steps() const override { return static_cast<int>(plan_.steps.size()); }
  std::string step_name(int step) const override { return plan_.steps.at(static_cast<size_t>(step)).name; }
  size_t buffers(int step) const override { return plan_.steps.at(static_cast<size_t>(step)).buffers.size(); }
  bool reads(int step, size_t buffer) const override;
  void run(std::span<void* const> data, const StepObserver& observer = {}) override;
  /// Sets the values of the varying extents; initially they are the highest.
  void set_extents(std::span<const int64_t> values) { extents_.assign(values.begin(), values.end()); }

 private:
  std::byte* place_of(const BufferPlace& place, int64_t trip, std::span<void* const> data) const;

  LibraryPlan plan_;
  std::vector<int64_t> extents_;
  std::map<const CompiledKernel*, std::unique_ptr<LoadedKernel>> kernels_;
  GuardedBuffer weights_;
  GuardedBuffer arena_;
};

}  // namespace tunesmith::network
#pragma GCC visibility pop

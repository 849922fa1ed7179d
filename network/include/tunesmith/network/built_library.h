// Runs a network's library from write_library in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/runnable.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/target/kernel_abi.h"
#include "tunesmith/verification/guarded_buffer.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Facts that the library's functions do not report.
struct LibraryFacts {
  std::string name;
  std::vector<LibraryArgument> inputs;
  std::vector<LibraryArgument> outputs;
  std::vector<VaryingExtent> varying;
  struct Step {
    size_t buffers = 0;
    std::vector<size_t> unread;  ///< buffers that the kernel ignores because it reads prepared memory instead
  };
  std::vector<Step> steps;
};

LibraryFacts facts_of(const LibraryPlan& plan);

/// Runs on the library's own threads, in memory that ends at a guard page and is filled with NaN before each
/// call.
class BuiltLibrary final : public RunnableNetwork {
 public:
  /// Loads the library with this name from this folder. Throws UserError if it does not match `facts`, or its
  /// files cannot be loaded; compares the hash of the weights.
  BuiltLibrary(const std::filesystem::path& folder, LibraryFacts facts);
  ~BuiltLibrary() override;
  BuiltLibrary(const BuiltLibrary&) = delete;
  BuiltLibrary& operator=(const BuiltLibrary&) = delete;

  int steps() const override { return static_cast<int>(facts_.steps.size()); }
  std::string step_name(int step) const override;
  size_t buffers(int step) const override { return facts_.steps.at(static_cast<size_t>(step)).buffers; }
  bool reads(int step, size_t buffer) const override;
  void run(std::span<void* const> data, const StepObserver& observer = {}) override;
  /// Calls it as an application does, in the library's own memory, which keeps the contents of the previous
  /// call.
  void run_plainly(std::span<void* const> data, const StepObserver& observer = {});
  /// Sets the values of the varying extents; initially they are the highest.
  void set_extents(std::span<const int64_t> values);
  /// Runs parallel loops by this function from now on; null restores the library's own threads.
  void set_parallel_for(tunesmith_parallel_for parallel_for, void* pool);

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  template <typename Function>
  Function function(const char* name) const;

  void call(std::span<void* const> data, void* workspace, const StepObserver& observer);

  LibraryFacts facts_;
  std::unique_ptr<void, Close> handle_;
  void* model_ = nullptr;
  std::unique_ptr<GuardedBuffer> workspace_;  // null if the library needs none
};

}  // namespace tunesmith::network
#pragma GCC visibility pop

// A candidate on a GPU: each call copies its arguments there, runs its launches and copies the results back.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "candidates/candidate_object.h"
#include "candidates/entry_slot.h"
#include "driver/device.h"
#include "tunesmith/target/target.h"

namespace tunesmith::cuda {

class DeviceCandidate final : public LoadedKernel, private BufferCall {
 public:
  /// `device` must outlive this. Throws EnvironmentError when the object is damaged, the driver refuses it,
  /// or the device has no memory for its arguments.
  DeviceCandidate(const Device& device, CandidateObject object, int64_t workspace_bytes);

  /// Calls may come from several threads; they run one after the other.
  tunesmith_kernel entry() const override { return slot_.entry(); }
  std::optional<KernelFault> take_fault() override;
  /// For the launches only, with the arguments on the device and,
  /// as far as they fit, in its caches: earlier launches used them.
  std::optional<double> device_seconds(int calls, void* const* buffers, void* workspace) override;

 private:
  /// Memory between two guard zones.
  struct Region {
    DeviceMemory memory;
    int64_t bytes = 0;
    std::string name;
  };

  void call(void* const* buffers, void* workspace) override;
  DriverPointer data(const Region& region) const;
  void allocate(Region& region);
  void copy_in(void* const* buffers) const;
  void run() const;
  void copy_out(void* const* buffers) const;
  /// The name of a region whose guard zones were written to, or null.
  const Region* touched_around() const;
  template <class Work>
  void guarded(Work work);

  const Device& device_;
  CandidateObject object_;
  std::vector<DeviceModule> modules_;
  std::vector<DriverFunction> functions_;
  /// The parameters of a launch: pointers, then maps.
  struct Parameters {
    std::vector<DriverPointer> pointers;
    std::vector<DriverTensorMap> maps;
  };
  std::vector<Parameters> parameters_;  // for each launch
  std::map<int64_t, Region> buffers_;   // by position in a call
  Region workspace_;
  double last_seconds_ = 0;  // of a call; 0: none yet
  std::mutex mutex_;
  std::optional<KernelFault> fault_;
  EntrySlot slot_{*this};
};

}  // namespace tunesmith::cuda

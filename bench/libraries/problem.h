// One workload with its data; each contestant computes it on its own buffers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/workload.h"

namespace tunesmith::bench {

using Memory = std::unique_ptr<void, decltype(&std::free)>;

/// Aligned to cache lines.
Memory aligned(int64_t bytes);

struct Contestant {
  std::string name;
  std::function<void()> call;
  /// The largest difference between its result and the workload's output, relative to the largest element;
  /// null if it computes something else.
  std::function<double()> difference;
};

/// Random inputs and an output, row-major.
class Problem {
 public:
  explicit Problem(Workload workload);

  const Workload& workload() const { return workload_; }
  int64_t parameter(std::string_view name) const;
  /// The inputs, then the output.
  std::vector<void*> buffers() const;
  void* input(size_t i) const { return memory_[i].get(); }
  const Buffer& output() const { return workload_.program.outputs.front(); }
  double difference_from(const void* other) const;
  /// Copies the inputs' bytes, up to the output's size: the memory traffic of an elementwise program.
  std::function<void()> copy();

 private:
  Workload workload_;
  std::vector<Memory> memory_;
  Memory copied_{nullptr, std::free};
};

/// The workload in each library that was available at build time.
std::vector<Contestant> onednn(const Problem& problem);
std::vector<Contestant> openblas(const Problem& problem, int threads);

/// As many multiply-adds as the workload has, in a register tile with operands in the
/// first-level cache: the peak with loads. Empty if the processor lacks the instruction.
std::vector<Contestant> tile(const Problem& problem, int threads);

}  // namespace tunesmith::bench

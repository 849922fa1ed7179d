// Draws random candidates of one operator in one space, compiles and verifies them like `tune`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_target.h"
#include "nvrtc/nvrtc.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/workload.h"
#include "twins/grid_twin_finder.h"

namespace tunesmith::testing {

/// NVRTC's results on the candidates for one architecture.
struct ArchitectureCounts {
  std::map<std::string, int> refused;  // candidates, by cause (targets/cuda/refusal.h)
  std::vector<double> seconds;         // of the processor, for each kernel
  int rewritten = 0;                   // candidates that fit in another than their usual form
};

struct OperatorCounts {
  std::string operator_id, space, workload;
  int drawn = 0;                       // sketches whose decisions were drawn
  std::map<std::string, int> kept;     // drawn sketches without a candidate, by cause; "same": known
  std::map<std::string, int> reasons;  // the reasons of refused ones
  int candidates = 0;
  int fitting = 0;  // candidates that NVRTC takes for every architecture, within limits and without spills
  int twins = 0;    // candidates that were verified at a smaller shape
  std::map<std::string, int> shapes;  // at which candidates were verified, as workloads
  std::map<std::string, ArchitectureCounts> architectures;
  std::map<std::string, int> mistakes;  // "race", "wrong_result", ...: candidates
  std::vector<std::string> examples;    // the first fault of each cause, with its trace
  // For each candidate, in processor seconds: finding the twin, compiling it for the emulation, running it in
  // three orders on both data sets.
  std::vector<double> finding, compiling, running;
  std::vector<double> references;  // additional time of the first run at a shape
  double elapsed = 0;              // wall-clock time of all these

  /// True if nothing went wrong, apart from refusals by limits.
  bool right() const;
};

class OperatorCheck {
 public:
  /// `workload` is a text for WorkloadLibrary::load().
  OperatorCheck(const std::string& operator_id, const SpaceSpec& space, const std::string& workload,
                PluginRegistry& registry);

  /// Does a sketch of the space use instructions of a matrix unit?
  bool uses_unit() const;

  /// Draws `count` different candidates, or as many as `max_draws` draws give.
  void draw(int count, int max_draws, uint64_t seed);
  /// Compiles with NVRTC on this number of threads; returns the seconds.
  double compile(const cuda::Nvrtc& nvrtc, const std::vector<std::string>& architectures, size_t threads);
  /// Verifies on the emulated device.
  void verify();

  const OperatorCounts& counts() const { return counts_; }

 private:
  struct Verified {
    std::string cause, message;  // "" for a correct candidate
  };
  Verified run(const CompiledKernel& kernel, const Workload* instance);
  void verify_one(const Candidate& candidate);
  void note(std::map<std::string, int>& of, const std::string& cause, const std::string& message,
            const Candidate& candidate);

  OperatorCounts counts_;
  std::shared_ptr<cuda::CudaTarget> target_;
  Space space_;
  Workload workload_;
  SketchSet sketches_;
  GridTwinFinder twins_;
  std::unique_ptr<Runner> runner_;
  std::vector<CandidatePtr> candidates_;
};

}  // namespace tunesmith::testing

// Random candidates of one operator in one space: what becomes of them on the way that `tune` takes.
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

/// What NVRTC says of the candidates for one architecture.
struct ArchitectureCounts {
  std::map<std::string, int> refused;  // candidates, by cause (targets/cuda/refusal.h)
  std::vector<double> seconds;         // of the processor, for each kernel
  int rewritten = 0;                   // candidates that fit in another than their usual form
};

struct OperatorCounts {
  std::string operator_id, space, workload;
  int drawn = 0;                       // sketches whose decisions were drawn
  std::map<std::string, int> kept;     // of these, no candidates: by the cause; "same" as one before
  std::map<std::string, int> reasons;  // of those that were refused
  int candidates = 0;
  int fitting = 0;  // candidates that NVRTC takes for every architecture, within limits and without spills
  int twins = 0;    // candidates that were verified at a smaller shape
  std::map<std::string, int> shapes;  // at which candidates were verified, as workloads
  std::map<std::string, ArchitectureCounts> architectures;
  std::map<std::string, int> mistakes;  // "race", "wrong_result", ...: candidates
  std::vector<std::string> examples;    // of each cause the first; what is wrong with its trace
  // Of each candidate, in seconds of the processors: to find the twin, to compile it for the emulation, to
  // run it in three orders on both data sets.
  std::vector<double> finding, compiling, running;
  std::vector<double> references;  // what the first run at a shape took beyond the next
  double elapsed = 0;              // of all these, by the clock

  /// Nothing went wrong but what a limit refuses.
  bool right() const;
};

class OperatorCheck {
 public:
  /// `workload` is a text for WorkloadLibrary::load().
  OperatorCheck(const std::string& operator_id, const SpaceSpec& space, const std::string& workload,
                PluginRegistry& registry);

  /// Does a sketch of the space use instructions of a matrix unit?
  bool uses_unit() const;

  /// `count` different candidates, or as many as `max_draws` give.
  void draw(int count, int max_draws, uint64_t seed);
  /// By NVRTC, on so many threads. Answers the seconds that it took.
  double compile(const cuda::Nvrtc& nvrtc, const std::vector<std::string>& architectures, size_t threads);
  /// On the emulated device.
  void verify();

  const OperatorCounts& counts() const { return counts_; }

 private:
  struct Verified {
    std::string cause, message;  // "" for a right one
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

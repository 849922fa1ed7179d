// Lowering as a list of named steps over one state. core/compiler/lower is a library of such steps; a target
// gives its list (Target::pipeline), an extension may insert steps of its own (TargetExtension::extend).
//
// After every step both programs of the state, the one lowered and its preparation, can be interpreted, and
// compute what the program that was lowered computes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/lower/lower.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct BlockFacts;

/// What the steps of one lowering work on. Belongs to one thread.
struct LoweringState {
  /// Of a clone of `program`. `options` must outlive the state.
  LoweringState(const Program& program, const LowerOptions& options);
  ~LoweringState();

  /// From the step split_prepare on it may have a preparation.
  LoweredProgram lowered;
  const LowerOptions& options;
  /// What the kernel's own steps remember of the blocks once they are gone.
  std::unique_ptr<BlockFacts> facts;
};

struct LoweringStep {
  std::string name;
  /// Throws LowerError for a program that cannot be lowered so. Called from many threads at once.
  std::function<void(LoweringState&)> run;
  /// Keys of the annotations that it carries out.
  std::vector<std::string> consumes = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// A step that does the same to the program and to its preparation.
LoweringStep program_step(std::string name, std::function<void(Program&)> pass);

class Pipeline {
 public:
  explicit Pipeline(std::vector<LoweringStep> steps);

  const std::vector<LoweringStep>& steps() const { return steps_; }
  /// LowerError when no step is called `name`.
  void insert_before(std::string_view name, LoweringStep step);
  void insert_after(std::string_view name, LoweringStep step);

 private:
  std::vector<LoweringStep>::iterator find(std::string_view name);

  std::vector<LoweringStep> steps_;
};

/// A step of standard_pipeline() by its name, for a target that makes its own list. Steps for machines with
/// levels that synchronise are in tunesmith/grid/steps.h. LowerError when there is none.
LoweringStep kernel_step(std::string_view name);

/// For targets with vectors and registers; what it guarantees stands in lower.h.
Pipeline standard_pipeline();

/// Sees the state after each step.
using LoweringObserver = std::function<void(const LoweringStep& step, const LoweringState& state)>;

/// Throws LowerError. Thread-safe; `program` is not changed.
LoweredProgram lower(const Program& program, const LowerOptions& options, const Pipeline& pipeline,
                     const LoweringObserver& observer = {});

}  // namespace tunesmith
#pragma GCC visibility pop

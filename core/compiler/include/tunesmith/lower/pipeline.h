// Lowering as a list of named steps over one state. A target chooses the steps (Target::pipeline), mostly
// from core/compiler/lower, and extensions may insert some (TargetExtension::extend).
//
// After every step, the interpreter can run the lowered program and its preparation, and they compute what
// the original program computes.
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

/// The state of one lowering. Belongs to one thread.
struct LoweringState {
  /// Starts from a clone of `program`. `options` must outlive the state.
  LoweringState(const Program& program, const LowerOptions& options);
  ~LoweringState();

  /// Has a preparation at the earliest after the step split_prepare.
  LoweredProgram lowered;
  const LowerOptions& options;
  /// Facts that the kernel's steps keep about lowered blocks.
  std::unique_ptr<BlockFacts> facts;
};

struct LoweringStep {
  std::string name;
  /// Throws LowerError if the program cannot be lowered. Called from many threads at once.
  std::function<void(LoweringState&)> run;
  /// The keys of the annotations that the step interprets.
  std::vector<std::string> consumes = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// Makes a step that applies the same pass to the program and to its preparation.
LoweringStep program_step(std::string name, std::function<void(Program&)> pass);

class Pipeline {
 public:
  explicit Pipeline(std::vector<LoweringStep> steps);

  const std::vector<LoweringStep>& steps() const { return steps_; }
  /// Throws LowerError if there is no step `name`.
  void insert_before(std::string_view name, LoweringStep step);
  void insert_after(std::string_view name, LoweringStep step);

 private:
  std::vector<LoweringStep>::iterator find(std::string_view name);

  std::vector<LoweringStep> steps_;
};

/// A step of standard_pipeline() by name, for a target with its own list. Throws LowerError for an unknown
/// name. tunesmith/grid/steps.h has the steps for levels that synchronise.
LoweringStep kernel_step(std::string_view name);

/// The steps for targets with vectors and registers; lower.h has their guarantees.
Pipeline standard_pipeline();

/// Called with the state after each step.
using LoweringObserver = std::function<void(const LoweringStep& step, const LoweringState& state)>;

/// Throws LowerError. Thread-safe; does not change `program`.
LoweredProgram lower(const Program& program, const LowerOptions& options, const Pipeline& pipeline,
                     const LoweringObserver& observer = {});

}  // namespace tunesmith
#pragma GCC visibility pop

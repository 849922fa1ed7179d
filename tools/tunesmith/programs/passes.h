// The passes of `tunesmith opt --pass`: lowering steps and others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/lower/pipeline.h>

namespace tunesmith::cli {

/// Prints the preparation, if any, before the program.
std::string text_of(const LoweredProgram& lowered);

struct ProgramPass {
  std::string name;
  std::string help;  // one line; "" if the command does not know the step
};

/// All passes that `run_pass` accepts with this pipeline, in the order of its steps.
std::vector<ProgramPass> program_passes(const Pipeline& pipeline);

/// Lowers one program in steps that the user chooses.
class PassRunner {
 public:
  /// `options` and `pipeline` must outlive the object. `program` is copied.
  PassRunner(const Program& program, const LowerOptions& options, const Pipeline& pipeline);

  /// Throws UserError if the pass does not exist, needs findings of an earlier step that is not part of the
  /// text, or refuses the program.
  void run(const std::string& name);
  /// Runs all steps of the pipeline up to this one.
  void run_until(const std::string& name);

  const LoweredProgram& lowered() const { return state_.lowered; }

 private:
  const LoweringStep& step(const std::string& name) const;

  const Pipeline& pipeline_;
  LoweringState state_;
  bool knows_blocks_ = false;
};

}  // namespace tunesmith::cli

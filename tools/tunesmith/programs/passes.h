// The passes of `tunesmith opt --pass`: lowering steps and others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/lower/pipeline.h>

namespace tunesmith::cli {

/// The preparation first, if there is one.
std::string text_of(const LoweredProgram& lowered);

struct ProgramPass {
  std::string name;
  std::string help;  // one line; "" of a step that the command knows nothing of
};

/// All passes that `run_pass` accepts with this pipeline, in the order of its steps.
std::vector<ProgramPass> program_passes(const Pipeline& pipeline);

/// Lowers one program in steps that the user chooses.
class PassRunner {
 public:
  /// Both must outlive it. `program` is copied.
  PassRunner(const Program& program, const LowerOptions& options, const Pipeline& pipeline);

  /// Throws UserError if there is no such pass, if it needs findings of an
  /// earlier step that are not printed, or if the pass refuses the program.
  void run(const std::string& name);
  /// All steps of the pipeline up to this one.
  void run_until(const std::string& name);

  const LoweredProgram& lowered() const { return state_.lowered; }

 private:
  const LoweringStep& step(const std::string& name) const;

  const Pipeline& pipeline_;
  LoweringState state_;
  bool knows_blocks_ = false;
};

}  // namespace tunesmith::cli

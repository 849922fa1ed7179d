// Schedules as plugins of the stable tier get them, for tests that include nothing else of the kernel.
#pragma once

#include <memory>
#include <string>

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// C[i, j] = sum A[i, k] * B[k, j], 16 x 16 x 8, with a block "C".
tunesmith_schedule* make_gmm_schedule();
/// The same, followed by R = relu(C), with blocks "C" and "R".
tunesmith_schedule* make_relu_schedule();
/// The same, followed by S = R + 1.
tunesmith_schedule* make_chain_schedule();

/// The options of a module 'test' with one option, `trace`, whose text begins in line 9, column 13 of
/// my.yaml.
class OptionText {
 public:
  explicit OptionText(const std::string& text);
  const tunesmith_options* get() const { return told_.get(); }

 private:
  std::shared_ptr<const tunesmith_options> told_;
};

}  // namespace tunesmith_test

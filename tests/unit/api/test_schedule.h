// Schedules as plugins of the stable tier get them, for tests that see nothing else of the kernel.
#pragma once

#include <memory>
#include <string>

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// Of C[i, j] = sum A[i, k] * B[k, j], 16 x 16 x 8; its block is called "C".
tunesmith_schedule* make_gmm_schedule();
/// Of R = relu(C) behind it; its blocks are called "C" and "R".
tunesmith_schedule* make_relu_schedule();
/// Of S = R + 1 behind that.
tunesmith_schedule* make_chain_schedule();

/// The options of a module 'test' that has one, `trace`, with a text that begins in line 9, column 13 of
/// my.yaml.
class OptionText {
 public:
  explicit OptionText(const std::string& text);
  const tunesmith_options* get() const { return told_.get(); }

 private:
  std::shared_ptr<const tunesmith_options> told_;
};

}  // namespace tunesmith_test

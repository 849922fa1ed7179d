// Something that the emitter does not support: a candidate's compile error.
#pragma once

#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

class EmitError final : public Error {
 public:
  using Error::Error;
};

}  // namespace tunesmith::llvm_target

// An input or output of the verified program.
#pragma once

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

struct Argument {
  Buffer buffer;
  bool output = false;
};

}  // namespace tunesmith

// An input or an output of what is verified.
#pragma once

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

struct Argument {
  Buffer buffer;
  bool output = false;
};

}  // namespace tunesmith

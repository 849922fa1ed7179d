#pragma once

#include <tunesmith/support/error.h>

namespace tunesmith::test {

/// `read` may refuse its input by a UserError with a reason. Any other exception is a fault.
template <typename Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    if (*error.what() == '\0') throw InternalError("refused without a reason");
  }
}

}  // namespace tunesmith::test

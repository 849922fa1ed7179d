#include "unique_names.h"

#include <fmt/format.h>

namespace tunesmith::onnx_reader {

std::string UniqueNames::make(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  for (int64_t& number = numbers_[wanted];;) {
    std::string name = fmt::format("{}_{}", wanted, ++number);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace tunesmith::onnx_reader

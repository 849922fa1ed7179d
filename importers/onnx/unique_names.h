// Makes names unique.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace tunesmith::onnx_reader {

class UniqueNames {
 public:
  /// `wanted`, with a number if the name is taken.
  std::string make(const std::string& wanted);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int64_t> numbers_;  ///< the number last appended to a name
};

}  // namespace tunesmith::onnx_reader

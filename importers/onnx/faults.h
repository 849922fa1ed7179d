// Collects the faults of a file, so that one error reports them all.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::onnx_reader {

class Faults {
 public:
  /// `fault` names its node or tensor. Keeps the first 100, and counts the others.
  void add(std::string fault);
  bool any() const { return count_ > 0; }
  /// Throws one UserError with all of them.
  void throw_if_any() const;

 private:
  std::vector<std::string> kept_;
  size_t count_ = 0;
};

}  // namespace tunesmith::onnx_reader

// Collects the faults of a file: one error names them all.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::onnx_reader {

class Faults {
 public:
  /// `fault` names the node or tensor that it is about. The first 100 are kept, the others counted.
  void add(std::string fault);
  bool any() const { return count_ > 0; }
  /// Throws one UserError with all of them.
  void throw_if_any() const;

 private:
  std::vector<std::string> kept_;
  size_t count_ = 0;
};

}  // namespace tunesmith::onnx_reader

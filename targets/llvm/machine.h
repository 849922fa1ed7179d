// The machine for which code is generated.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "options.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith::llvm_target {

/// The maximum length of SVE vectors.
constexpr int64_t kMaxSveBits = 2048;

struct Machine {
  std::string triple;
  /// LLVM's name; never "native".
  std::string cpu;
  /// "+avx2,-sse4a": the differences between this processor and LLVM's model of `cpu`. Empty for a named
  /// processor.
  std::string feature_string;
  /// LLVM's names of all features that code may use.
  std::set<std::string, std::less<>> features;
  /// The first feature that code may use and this processor lacks; empty if the code runs here.
  std::string missing;
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  DeviceModel device;

  bool has(std::string_view feature) const { return features.contains(feature); }
  bool has_fma() const;
  /// Vectors are SVE registers of exactly `vector_bits`: the code does not run on processors with another
  /// length.
  bool sve_vectors() const;
};

/// LLVM's names of features that code may not use; those that imply many come last.
std::vector<std::string> missing_features(const Machine& machine);

/// Throws UserError if LLVM does not know the processor's name.
Machine detect_machine(const TargetOptions& options);

}  // namespace tunesmith::llvm_target

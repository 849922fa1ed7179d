// The machine that code is generated for: detected, never assumed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "options.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith::llvm_target {

/// The longest that SVE's vectors may be.
constexpr int64_t kMaxSveBits = 2048;

struct Machine {
  std::string triple;
  /// LLVM's name; never "native".
  std::string cpu;
  /// "+avx2,-sse4a": what distinguishes this processor from LLVM's idea of `cpu`. Empty for a named one.
  std::string feature_string;
  /// LLVM's names of all features that code may use.
  std::set<std::string, std::less<>> features;
  /// The first feature that code may use and this processor lacks; empty when it runs here.
  std::string missing;
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  DeviceModel device;

  bool has(std::string_view feature) const { return features.contains(feature); }
  bool has_fma() const;
  /// Vectors are SVE's registers of exactly `vector_bits`: the code runs on no processor with other ones.
  bool sve_vectors() const;
};

/// LLVM's names of features that code may not use; those that imply many come last.
std::vector<std::string> missing_features(const Machine& machine);

/// Throws UserError when LLVM does not know the processor's name.
Machine detect_machine(const TargetOptions& options);

}  // namespace tunesmith::llvm_target

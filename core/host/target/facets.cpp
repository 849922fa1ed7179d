#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/target/target.h"
#include "tunesmith/target/twin_verification.h"

namespace tunesmith {

// Key functions: one type identity for all libraries.
Benchmarking::~Benchmarking() = default;
Packaging::~Packaging() = default;
SeparateDevice::~SeparateDevice() = default;
ReducedInstanceFinder::~ReducedInstanceFinder() = default;
TwinVerification::~TwinVerification() = default;

Benchmarking& benchmarking_of(Target& target) {
  Benchmarking* const facet = target.benchmarking();
  if (facet == nullptr) throw EnvironmentError(fmt::format("{} measures no peaks", target.identity()));
  return *facet;
}

LibraryFiles Packaging::link_library(const LinkRequest& /*request*/) {
  throw EnvironmentError("the target's kernels cannot be called from C");
}

void SeparateDevice::open() {}

std::string SeparateDevice::remark() const { return {}; }

TwinVerification* SeparateDevice::twins() { return nullptr; }

bool models_times(Target& target) {
  const SeparateDevice* const device = target.separate_device();
  return device != nullptr && device->models_times();
}

TwinVerification* twins_of(Target& target) {
  SeparateDevice* const device = target.separate_device();
  return device == nullptr ? nullptr : device->twins();
}

tl::expected<CompiledKernel, std::string> compile_reference(Target& target, const LoweredProgram& lowered,
                                                            const std::string& symbol) {
  SeparateDevice* const device = target.separate_device();
  return device == nullptr ? target.compile(lowered, symbol) : device->compile_reference(lowered, symbol);
}

}  // namespace tunesmith

#include "generator.h"

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

/// Raise it when a lowered program may give another text or modelled time, or when the included headers
/// or the compiler's options change what is compiled. tests/golden fails in that case and says so.
constexpr int kGeneratorVersion = 3;

}  // namespace

std::string generator_fingerprint(const Nvrtc* nvrtc) {
  return fmt::format("{},nvrtc-{}", kGeneratorVersion, nvrtc == nullptr ? "none" : nvrtc->version());
}

}  // namespace tunesmith::cuda

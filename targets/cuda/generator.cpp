#include "generator.h"

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

/// Raise it when other text may come of a lowered program, or another modelled time; or when the headers that
/// the text includes or the compiler's options change what is compiled. tests/golden fails then and says so.
constexpr int kGeneratorVersion = 1;

}  // namespace

std::string generator_fingerprint(const Nvrtc* nvrtc) {
  return fmt::format("{},nvrtc-{}", kGeneratorVersion, nvrtc == nullptr ? "none" : nvrtc->version());
}

}  // namespace tunesmith::cuda

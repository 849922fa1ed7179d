#include "generator.h"

#include <fmt/format.h>

#include "generator_fingerprint.h"

namespace tunesmith::cuda {

std::string generator_fingerprint(const Nvrtc* nvrtc) {
  return fmt::format("{},nvrtc-{}", kGeneratorFingerprint, nvrtc == nullptr ? "none" : nvrtc->version());
}

}  // namespace tunesmith::cuda

#include "primitives/shared/varying.h"

#include "tunesmith/ir/extents.h"

namespace tunesmith {

std::optional<Refusal> varying_refusal(const Block& block) {
  const Buffer varying = varying_buffer(block);
  if (!varying) return std::nullopt;
  return Refusal{"the extents of a buffer vary", varying->name, &block};
}

std::optional<Refusal> replaced_refusal(const Program& program, const Buffer& buffer) {
  if (buffer->extents.empty() || !reduces_varying(program)) return std::nullopt;
  return Refusal{"the extents of a buffer vary, and with them the steps of a reduction", buffer->name};
}

}  // namespace tunesmith

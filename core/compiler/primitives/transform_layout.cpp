#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/index_map_parser.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/move_accesses.h"

namespace tunesmith {
void transform_layout(Program& program, BlockId id, std::string_view access, int64_t index,
                      std::string_view index_map) {
  const IndexMap map = parse_index_map(index_map, "transform_layout");
  const Block& block = block_at(program, id, "transform_layout");
  const Buffer buffer = require_access(program, block, access, index, "transform_layout").buffer;
  if (!is_intermediate(program, buffer)) {
    throw ScheduleError("transform_layout", "the buffer is not an intermediate of the program", buffer->name,
                        program, &block);
  }
  throw_refusal("transform_layout", program, replaced_refusal(program, buffer));
  MapImage image;
  const std::string_view reason = check_index_map(map, buffer->shape, &image);
  if (!reason.empty()) {
    throw ScheduleError("transform_layout", reason, fmt::format("{} on {}", index_map, buffer->name), program,
                        &block);
  }
  const Buffer transformed = make_buffer(buffer->name, buffer->dtype, image.extents, buffer->scope);
  const Stmt* known = nullptr;
  Analyzer analyzer;
  move_accesses(program.root(), buffer, transformed, [&](const Stmt& stmt, std::span<const Expr> indices) {
    if (known != &stmt) analyzer = Analyzer::at(stmt);
    known = &stmt;
    std::vector<Expr> mapped = map.apply(indices);
    for (Expr& at : mapped) at = analyzer.simplify(at);
    return mapped;
  });
  program.swap_buffer(buffer, transformed);
}

KindPtr transform_layout_kind() {
  return make_loop_transformation("transform_layout", transform_layout,
                                  {"block", "access", "index", "index_map"});
}

void Schedule::transform_layout(BlockRV block, std::string_view access, int index,
                                std::string_view index_map) {
  execute(kind("transform_layout"), {block, std::string(access), int64_t{index}, std::string(index_map)});
}

}  // namespace tunesmith

#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/index_map.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Loads and stores of `from`, at any depth, become such of `to` at mapped indices.
void rewrite_accesses(Stmt& root, const Buffer& from, const Buffer& to, const IndexMap& map) {
  walk(root, [&](Stmt& stmt) {
    std::optional<Analyzer> analyzer;
    const auto mapped = [&](std::span<const Expr> indices) {
      if (!analyzer) analyzer = Analyzer::at(stmt);
      std::vector<Expr> result = map.apply(indices);
      for (Expr& index : result) index = analyzer->simplify(index);
      return result;
    };
    visit_exprs(stmt, [&](Expr& expr) {
      expr = rewrite_expr(expr, [&](const Expr& part) {
        const LoadNode* old = part.as<LoadNode>();
        return old != nullptr && old->buffer == from ? load(to, mapped(old->indices()), old->mask()) : part;
      });
    });
    Store* store = stmt.as<Store>();
    if (store == nullptr || store->buffer != from) return;
    store->indices = mapped(store->indices);
    store->buffer = to;
  });
}

}  // namespace

void transform_layout(Program& program, BlockId id, std::string_view access, int64_t index,
                      std::string_view index_map) {
  const IndexMap map = parse_index_map(index_map, "transform_layout");
  const Block& block = block_at(program, id, "transform_layout");
  const Buffer buffer = require_access(program, block, access, index, "transform_layout").buffer;
  if (!is_intermediate(program, buffer)) {
    throw ScheduleError("transform_layout", "the buffer is not an intermediate of the program", buffer->name,
                        program, &block);
  }
  MapImage image;
  const std::string_view reason = check_index_map(map, buffer->shape, &image);
  if (!reason.empty()) {
    throw ScheduleError("transform_layout", reason, fmt::format("{} on {}", index_map, buffer->name), program,
                        &block);
  }
  const Buffer transformed = make_buffer(buffer->name, buffer->dtype, image.extents, buffer->scope);
  rewrite_accesses(program.root(), buffer, transformed, map);
  program.swap_buffer(buffer, transformed);
}

KindPtr transform_layout_kind() {
  return make_loop_transformation(
      "transform_layout",
      {{"block", ParamType::Block},
       {"access", ParamType::String},
       {"index", ParamType::Int},
       {"index_map", ParamType::String}},
      ResultType::None, [](Program& program, const Arguments& args) -> std::vector<Value> {
        transform_layout(program, args.block(0), args.string(1), args.integer(2), args.string(3));
        return {};
      });
}

void Schedule::transform_layout(BlockRV block, std::string_view access, int index,
                                std::string_view index_map) {
  execute(kind("transform_layout"), {block, std::string(access), int64_t{index}, std::string(index_map)});
}

}  // namespace tunesmith

#include "primitives/shared/reindexed_copy.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "primitives/shared/copy_nest.h"
#include "primitives/shared/index_map_parser.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

bool has_iter(const std::vector<IterVar>& iters, const IterVar& wanted) {
  return std::any_of(iters.begin(), iters.end(), [&](const IterVar& iter) { return iter.var == wanted.var; });
}

/// A map over the copy's iterators: those that the access and the map use.
struct MappedIters {
  std::vector<IterVar> iters;
  std::vector<Expr> indices;  // over the iterators
  MapImage image;
};

std::optional<Refusal> map_refusal(const Block& block, const CopiedAccess& access, const IndexMap& map,
                                   MappedIters* mapped) {
  if (map.params.size() != block.iters.size())
    return Refusal{"the map needs one parameter for each iterator",
                   fmt::format("{} for {}", map.params.size(), block.iters.size()), &block};
  IndexMap used;
  std::vector<int64_t> extents;
  Substitution fresh;
  std::vector<Expr> values;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    values.emplace_back(iter.var);
    const bool mapped_too = std::any_of(map.results.begin(), map.results.end(),
                                        [&](const Expr& result) { return uses_var(result, map.params[i]); });
    if (!mapped_too && !has_iter(access.iters, iter)) continue;
    if (access.writes && !has_iter(access.iters, iter))
      return Refusal{"the map uses an iterator that the access does not", iter.var->name, &block};
    used.params.push_back(map.params[i]);
    extents.push_back(iter.extent);
    mapped->iters.push_back(iter);
  }
  used.results = map.results;
  const std::string_view reason = check_index_map(used, extents, &mapped->image);
  if (!reason.empty()) return Refusal{reason, block.name, &block};
  mapped->indices = map.apply(values);
  return std::nullopt;
}

bool accessed_in_one_way(const Block& block, const Access& access) {
  bool one = true;
  walk_accesses(block, [&](const Stmt&, const AccessSite& other) {
    one = one && (other.buffer != access.buffer || equal_indices(other.indices, access.indices));
  });
  return one;
}

bool lies_inside(const Buffer& buffer, std::span<const Expr> indices, const Analyzer& analyzer) {
  for (size_t d = 0; d < indices.size(); ++d) {
    const Interval range = analyzer.bounds(indices[d]);
    if (range.min < 0 || range.max >= buffer->shape[d]) return false;
  }
  return true;
}

/// Checks the access and the loads in its indices, since the copy also runs where a select skips them in the
/// block.
bool reads_inside(const Access& access, const Analyzer& analyzer) {
  bool inside = lies_inside(access.buffer, access.indices, analyzer);
  for (const Expr& index : access.indices) {
    walk_expr(index, [&](const Expr& part) {
      if (const auto* load = part.as<LoadNode>())
        inside = inside && lies_inside(load->buffer, load->indices(), analyzer);
    });
  }
  return inside;
}

/// Checks the access, and fills in the iterators.
std::optional<Refusal> access_refusal(const Block& block, CopiedAccess* access) {
  const auto& [buffer, indices] = access->of;
  if (access->writes && !accessed_in_one_way(block, access->of))
    return Refusal{"the block accesses the buffer in more than one way", buffer->name, &block};
  std::vector<Var> used;
  for (const Expr& index : indices) {
    for (const Var& var : vars_of(index)) {
      if (!contains(used, var)) used.push_back(var);
    }
  }
  Analyzer analyzer;
  for (const IterVar& iter : block.iters) {
    if (!contains(used, iter.var)) continue;
    analyzer.bind(iter.var, iter.extent);
    access->iters.push_back(iter);
  }
  if (access->iters.size() != used.size())
    return Refusal{"the access depends on more than the block's iterators", buffer->name, &block};
  if (!reads_inside(access->of, analyzer))
    return Refusal{"the access may lie outside the buffer", buffer->name, &block};
  return std::nullopt;
}

/// May the copy be placed directly after the block's loop nest, which then writes another buffer?
std::optional<Refusal> copy_after_refusal(const Program& program, Block& block, const CopiedAccess& access) {
  Stage stage;
  if (auto refusal = stage_refusal(program, block, &stage)) return refusal;
  // The copy moves all elements, so all must have been written.
  if (!every_instance_runs(block)) return Refusal{"the block runs conditionally", block.name, &block};
  if (auto refusal = reader_in_nest_refusal(stage)) return refusal;
  std::vector<IterDomain> domains;
  for (const IterVar& iter : access.iters) domains.push_back({iter.var, iter.extent});
  if (!check_iter_map(access.of.indices, access.of.buffer->shape, domains, bool_imm(true)).injective)
    return Refusal{"different iterations write the same element", access.of.buffer->name, &block};
  return std::nullopt;
}

/// Does every evaluation of `expr` make the access, outside of the arms of selects?
bool always_reads(const Expr& expr, const Access& access) {
  const LoadNode* load = expr.as<LoadNode>();
  if (load != nullptr && is_at(access, load->buffer, load->indices())) return true;
  if (expr.is(ExprKind::Select)) return always_reads(expr.arg(0), access);
  return std::ranges::any_of(expr.args(), [&](const Expr& arg) { return always_reads(arg, access); });
}

/// The buffer, and the buffers from which its indices are loaded.
std::vector<Buffer> buffers_of(const Access& access) {
  std::vector<Buffer> buffers{access.buffer};
  for (const Expr& index : access.indices) {
    walk_expr(index, [&](const Expr& part) {
      if (const LoadNode* load = part.as<LoadNode>()) buffers.push_back(load->buffer);
    });
  }
  return buffers;
}

/// May the copy be placed directly before the block's loop nest? It reads all that the block reads, even
/// where a select skips the read; those elements might be unwritten.
std::optional<Refusal> copy_of_read_refusal(const Program& program, Block& block, const Access& access) {
  for (const Buffer& buffer : buffers_of(access)) {
    if (auto refusal = copy_before_refusal(program, block, buffer)) return refusal;
  }
  const bool always = any_of_stmt(*block.body(), [&](const Stmt& stmt) {
    bool reads = false;
    visit_exprs(stmt, [&](const Expr& expr) { reads = reads || always_reads(expr, access); });
    return reads;
  });
  if (always) return std::nullopt;
  for (const Buffer& buffer : buffers_of(access)) {
    if (auto refusal = whole_copy_refusal(program, block, buffer)) return refusal;
  }
  return std::nullopt;
}

}  // namespace

CopiedAccess require_copied_access(const Program& program, Block& block, std::string_view sort, int64_t index,
                                   std::string_view primitive) {
  CopiedAccess access{require_access(program, block, sort, index, primitive), sort == "write", {}};
  throw_refusal(primitive, program, access_refusal(block, &access));
  throw_refusal(primitive, program, replaced_refusal(program, access.of.buffer));
  throw_refusal(primitive, program,
                access.writes ? copy_after_refusal(program, block, access)
                              : copy_of_read_refusal(program, block, access.of));
  return access;
}

BlockId make_reindexed_copy(Program& program, Block& block, const CopiedAccess& access, const Buffer& cache,
                            std::span<const Expr> indices) {
  const Buffer& buffer = access.of.buffer;
  program.intermediates.push_back(cache);
  if (access.writes) {
    move_accesses(block, buffer, cache, [&](const Stmt&, std::span<const Expr>) {
      return std::vector<Expr>(indices.begin(), indices.end());
    });
  } else {
    redirect_reads(block, access.of, cache, indices);
  }

  BlockNest copy =
      make_block_nest(program, cache->name, iter_extents(access.iters), [&](const std::vector<Expr>& vars) {
        Substitution map;
        for (size_t i = 0; i < vars.size(); ++i) map.set(access.iters[i].var, vars[i]);
        const std::vector<Expr> old = substitute(access.of.indices, map);
        const std::vector<Expr> own = substitute(indices, map);
        return access.writes ? std::make_unique<Store>(buffer, old, load(cache, own))
                             : std::make_unique<Store>(cache, own, load(buffer, old));
      });
  Stmt& own_nest = outermost_in_scope(block);
  if (access.writes) {
    insert_after(own_nest, std::move(copy.nest));
  } else {
    insert_before(own_nest, std::move(copy.nest));
  }
  return copy.block->id;
}

BlockId reindex_cache(Program& program, BlockId id, std::string_view access_sort, int64_t index,
                      std::string_view scope, std::string_view index_map, std::string_view primitive) {
  const IndexMap map = parse_index_map(index_map, primitive);
  Block& block = block_at(program, id, primitive);
  CopiedAccess access = require_copied_access(program, block, access_sort, index, primitive);
  MappedIters mapped;
  throw_refusal(primitive, program, map_refusal(block, access, map, &mapped));
  const Buffer& buffer = access.of.buffer;
  const std::string name = program.fresh_buffer_name(fmt::format("{}_{}", buffer->name, scope));
  const Buffer cache = make_buffer(name, buffer->dtype, mapped.image.extents, std::string(scope));
  access.iters = mapped.iters;
  return make_reindexed_copy(program, block, access, cache, mapped.indices);
}

}  // namespace tunesmith

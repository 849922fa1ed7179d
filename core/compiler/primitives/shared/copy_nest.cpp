#include "primitives/shared/copy_nest.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {

BlockNest make_block_nest(Program& program, const std::string& block_name, std::span<const int64_t> extents,
                          const std::function<StmtPtr(const std::vector<Expr>&)>& make_body) {
  std::vector<IterDomain> loops;
  std::vector<IterVar> iters;
  std::vector<Expr> vars;
  std::vector<Expr> bindings;
  for (size_t d = 0; d < extents.size(); ++d) {
    loops.push_back({Var(fmt::format("ax{}", d)), extents[d]});
    iters.push_back({Var(fmt::format("v{}", d)), extents[d], IterKind::Spatial});
    vars.emplace_back(iters.back().var);
    bindings.emplace_back(loops.back().var);
  }
  std::unique_ptr<Block> block =
      program.make_block(block_name, std::move(iters), std::move(bindings), nullptr, make_body(vars));
  Block* inner = block.get();
  return {program.make_nest(loops, std::move(block)), inner};
}

BlockNest make_copy_nest(Program& program, const std::string& block_name, const Buffer& from,
                         const Buffer& to) {
  return make_block_nest(program, block_name, to->shape, [&](const std::vector<Expr>& indices) {
    return std::make_unique<Store>(to, indices, load(from, indices));
  });
}

std::optional<Refusal> copy_before_refusal(const Program& program, Block& block, const Buffer& buffer) {
  const BufferUses uses = uses_of(program, buffer, enclosing_block(block));
  if (uses.outside && (is_intermediate(program, buffer) || is_output(program, buffer)))
    return Refusal{"the buffer is used outside the scope of the block", buffer->name, &block};
  const Stmt& nest = outermost_in_scope(block);
  for (const Block* writer : uses.writers) {
    if (!precedes(*writer, nest))
      return Refusal{"a writer of the buffer stands in the loop nest of the reader", writer->name, writer};
  }
  return std::nullopt;
}

std::optional<Refusal> whole_copy_refusal(const Program& program, Block& block, const Buffer& buffer) {
  if (auto refusal = copy_before_refusal(program, block, buffer)) return refusal;
  const BufferUses uses = uses_of(program, buffer, enclosing_block(block));
  const auto fills = [&](const Block* writer) { return writes_everything(*writer, buffer); };
  if (uses.writers.empty() || std::any_of(uses.writers.begin(), uses.writers.end(), fills))
    return std::nullopt;
  return Refusal{"the buffer has elements that nothing writes", buffer->name, uses.writers[0]};
}

Buffer add_cache_buffer(Program& program, const Buffer& like, std::string_view scope) {
  const std::string name = program.fresh_buffer_name(fmt::format("{}_{}", like->name, scope));
  Buffer buffer =
      with_extents(make_buffer(name, like->dtype, like->shape, std::string(scope)), like->extents);
  program.intermediates.push_back(buffer);
  return buffer;
}

}  // namespace tunesmith

#include "primitives/shared/copy_nest.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "ir/tree_surgery.h"

namespace tunesmith {

CopyNest make_copy_nest(Program& program, const std::string& block_name, const Buffer& from,
                        const Buffer& to) {
  std::vector<IterVar> iters;
  std::vector<Expr> indices;
  std::vector<Expr> bindings;
  for (size_t d = 0; d < to->shape.size(); ++d) {
    iters.push_back({Var(fmt::format("v{}", d)), to->shape[d], IterKind::Spatial});
    indices.emplace_back(iters.back().var);
    bindings.emplace_back(Var(fmt::format("ax{}", d)));
  }
  auto body = std::make_unique<Store>(to, indices, load(from, indices));
  std::unique_ptr<Block> block =
      program.make_block(block_name, std::move(iters), bindings, nullptr, std::move(body));
  CopyNest copy{nullptr, block.get()};
  copy.nest = std::move(block);
  for (size_t d = to->shape.size(); d-- > 0;)
    copy.nest = program.make_loop(Var::from(bindings[d]), to->shape[d], std::move(copy.nest));
  return copy;
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
  Buffer buffer = make_buffer(name, like->dtype, like->shape, std::string(scope));
  program.intermediates.push_back(buffer);
  return buffer;
}

}  // namespace tunesmith

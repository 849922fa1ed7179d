#include "schedule/copy_nest.h"

#include <fmt/format.h>

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

Buffer add_cache_buffer(Program& program, const Buffer& like, std::string_view scope) {
  const std::string name = program.fresh_buffer_name(fmt::format("{}_{}", like->name, scope));
  Buffer buffer = make_buffer(name, like->dtype, like->shape, std::string(scope));
  program.intermediates.push_back(buffer);
  return buffer;
}

}  // namespace tunesmith

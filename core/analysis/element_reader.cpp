#include "analysis/element_reader.h"

#include <algorithm>

#include "affine/index_inverse.h"
#include "ir/tree_surgery.h"

namespace tunesmith {

std::optional<Refusal> element_reader_refusal(const Block& block, const Buffer& buffer,
                                              std::vector<int>* iter_of_dim) {
  const Store& store = *body_store(block);
  std::vector<const LoadNode*> loads;
  walk_expr(store.value, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    if (load != nullptr && load->buffer == buffer) loads.push_back(load);
  });
  const Analyzer analyzer;
  std::vector<bool> used(block.iters.size());
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    for (const LoadNode* load : loads) {
      if (load->mask() || !equal(load->indices()[d], loads[0]->indices()[d]))
        return Refusal{"the block reads its producer's buffer in more than one way", block.name, &store};
    }
    const Expr& index = loads[0]->indices()[d];
    const auto digit = index_digit(index, block.iters, analyzer);
    if (digit && digit->iter < 0 && buffer->shape[d] == 1) {
      iter_of_dim->push_back(-1);
      continue;
    }
    const bool plain = digit && digit->is_linear() && digit->scale == 1 && digit->offset.min == 0;
    const auto iter = plain ? static_cast<size_t>(digit->iter) : 0;
    if (!plain || used[iter] || block.iters[iter].extent != buffer->shape[d])
      return Refusal{"the block does not read its producer's buffer element by element", block.name, &store};
    used[iter] = true;
    iter_of_dim->push_back(digit->iter);
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!used[i] && block.iters[i].extent != 1)
      return Refusal{"the block does not read its producer's buffer element by element", block.name, &store};
  }
  return std::nullopt;
}

std::optional<Refusal> inputs_before_refusal(const Program& program, const Stage& consumer,
                                             const Buffer& buffer, const Block& producer) {
  for (const Buffer& read : buffers_read(*consumer.block)) {
    if (read == buffer) continue;
    for (const Block* writer : uses_of(program, read, consumer.scope).writers) {
      bool shared = false;
      for (const Stmt* at = common_ancestor(*writer, producer); at != nullptr; at = at->parent)
        shared = shared || at->kind == StmtKind::Loop;
      if (precedes(*writer, producer) && !shared) continue;
      return Refusal{"another input of the block is not finished where its producer stands", writer->name,
                     writer};
    }
  }
  return std::nullopt;
}

Substitution iters_at(const Block& block, const std::vector<int>& iter_of_dim,
                      std::span<const Expr> indices) {
  Substitution map;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const auto dim = std::find(iter_of_dim.begin(), iter_of_dim.end(), static_cast<int>(i));
    const auto d = static_cast<size_t>(dim - iter_of_dim.begin());
    map.set(block.iters[i].var, dim == iter_of_dim.end() ? Expr(0) : indices[d]);
  }
  return map;
}

}  // namespace tunesmith

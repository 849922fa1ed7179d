#include "tunesmith/ir/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

template <typename Taken>
std::string fresh_name(std::string_view base, const Taken& taken) {
  std::string name(base);
  for (int suffix = 1; taken(name); ++suffix) name = fmt::format("{}_{}", base, suffix);
  return name;
}

}  // namespace

Program::Program() : root_(std::make_unique<Seq>()) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::clone() const {
  Program copy;
  copy.name = name;
  copy.parameters = parameters;
  copy.inputs = inputs;
  copy.outputs = outputs;
  copy.intermediates = intermediates;
  copy.annotations = annotations;
  copy.root_.reset(static_cast<Seq*>(root_->clone().release()));
  copy.next_id_ = next_id_;
  return copy;
}

std::unique_ptr<Loop> Program::make_loop(Var var, int64_t extent, StmtPtr body) {
  return std::make_unique<Loop>(LoopId{next_id_++}, std::move(var), 0, extent, std::move(body));
}

StmtPtr Program::make_nest(std::span<const IterDomain> loops, StmtPtr body) {
  for (size_t i = loops.size(); i-- > 0;) body = make_loop(loops[i].var, loops[i].extent, std::move(body));
  return body;
}

std::unique_ptr<Block> Program::make_block(std::string_view block_name, std::vector<IterVar> iters,
                                           std::vector<Expr> bindings, StmtPtr init, StmtPtr body) {
  return std::make_unique<Block>(BlockId{next_id_++}, fresh_block_name(block_name), std::move(iters),
                                 std::move(bindings), std::move(init), std::move(body));
}

std::string Program::fresh_buffer_name(std::string_view base) const {
  const auto has = [](const std::vector<Buffer>& list, const std::string& wanted) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Buffer& buffer) { return buffer->name == wanted; });
  };
  return fresh_name(base, [&](const std::string& wanted) {
    return has(inputs, wanted) || has(outputs, wanted) || has(intermediates, wanted) ||
           find_first<Allocate>(*root_,
                                [&](const Allocate& allocate) { return allocate.buffer->name == wanted; });
  });
}

std::string Program::fresh_block_name(std::string_view base) const {
  return fresh_name(base, [&](const std::string& wanted) { return find_block(wanted) != nullptr; });
}

Block* Program::find_block(BlockId id) const {
  return find_first<Block>(*root_, [&](const Block& block) { return block.id == id; });
}

Block* Program::find_block(std::string_view block_name) const {
  return find_first<Block>(*root_, [&](const Block& block) { return block.name == block_name; });
}

Loop* Program::find_loop(LoopId id) const {
  return find_first<Loop>(*root_, [&](const Loop& loop) { return loop.id == id; });
}

std::vector<Block*> Program::blocks() const { return collect<Block>(*root_); }

std::vector<Buffer> Program::buffers() const {
  std::vector<Buffer> all;
  all.reserve(inputs.size() + outputs.size() + intermediates.size());
  for (const auto* list : {&inputs, &outputs, &intermediates})
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

void Program::swap_buffer(const Buffer& from, const Buffer& to) {
  // Copies, since `from` may be an element of a list that changes here.
  const Buffer old = from;  // NOLINT(performance-unnecessary-copy-initialization)
  const Buffer fresh = to;  // NOLINT(performance-unnecessary-copy-initialization)
  for (auto* list : {&inputs, &outputs, &intermediates}) std::replace(list->begin(), list->end(), old, fresh);
  replace_buffer_in(*root_, old, fresh);
}

}  // namespace tunesmith

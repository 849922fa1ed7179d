#include "tunesmith/ir/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The first statement under `stmt` (itself included) in text order for which `test` holds, or null.
template <typename Test>
Stmt* find_stmt(Stmt& stmt, const Test& test) {
  if (test(stmt)) return &stmt;
  Stmt* found = nullptr;
  visit_children(stmt, [&](Stmt& child) {
    if (!found) found = find_stmt(child, test);
  });
  return found;
}

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
           find_stmt(*root_, [&](const Stmt& stmt) {
             const auto* allocate = stmt.as<Allocate>();
             return allocate && allocate->buffer->name == wanted;
           });
  });
}

std::string Program::fresh_block_name(std::string_view base) const {
  return fresh_name(base, [&](const std::string& wanted) { return find_block(wanted) != nullptr; });
}

Block* Program::find_block(BlockId id) const {
  Stmt* found = find_stmt(*root_, [&](const Stmt& stmt) {
    const auto* block = stmt.as<Block>();
    return block && block->id == id;
  });
  return found ? found->as<Block>() : nullptr;
}

Block* Program::find_block(std::string_view block_name) const {
  Stmt* found = find_stmt(*root_, [&](const Stmt& stmt) {
    const auto* block = stmt.as<Block>();
    return block && block->name == block_name;
  });
  return found ? found->as<Block>() : nullptr;
}

Loop* Program::find_loop(LoopId id) const {
  Stmt* found = find_stmt(*root_, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Loop>();
    return loop && loop->id == id;
  });
  return found ? found->as<Loop>() : nullptr;
}

std::vector<Block*> Program::blocks() const {
  std::vector<Block*> found;
  Stmt& start = *root_;
  walk(start, [&](Stmt& stmt) {
    if (Block* block = stmt.as<Block>()) found.push_back(block);
  });
  return found;
}

std::vector<Buffer> Program::buffers() const {
  std::vector<Buffer> all;
  all.reserve(inputs.size() + outputs.size() + intermediates.size());
  for (const auto* list : {&inputs, &outputs, &intermediates})
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

void Program::swap_buffer(const Buffer& from, const Buffer& to) {
  // `from` may be an element of a list that is changed here.
  const Buffer old = from;  // NOLINT(performance-unnecessary-copy-initialization)
  const Buffer fresh = to;  // NOLINT(performance-unnecessary-copy-initialization)
  for (auto* list : {&inputs, &outputs, &intermediates}) std::replace(list->begin(), list->end(), old, fresh);
  replace_buffer_in(*root_, old, fresh);
}

}  // namespace tunesmith

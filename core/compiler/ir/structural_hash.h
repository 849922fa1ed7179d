// Hashes the structure of programs. Numbers variables and buffers by first appearance and ignores names. Also
// ignores the order of the terms of an integer sum, which depends on when variables were created.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "tunesmith/ir/program.h"

namespace tunesmith {

class StructuralHasher {
 public:
  uint64_t result() const { return hash_; }

  void number(uint64_t value);
  void text(std::string_view value);
  /// Adds the buffer's number, and at its first appearance all properties except the name.
  void buffer(const Buffer& buffer);
  void program(const Program& program);

 private:
  void type(DType type);
  void annotations(const Annotations& facts);
  void var(const VarNode* node);
  void expr(const Expr& e);
  void sum(const Expr& e);
  void stmt(const Stmt& s);
  void loop(const Loop& l);
  void block(const Block& b);

  uint64_t hash_ = 0;
  std::unordered_map<const VarNode*, uint64_t> vars_;  // looked up in, never walked
  std::unordered_map<const BufferNode*, uint64_t> buffers_;
};

}  // namespace tunesmith

// A program: inputs, outputs, intermediate buffers and one tree of loops and blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a program is for an interval of: an extent, given with each call. A program is right for every value
/// of the variable's range.
struct ExtentParameter {
  Var var;
  /// What it is measured at, ascending; empty where nobody said. No part of what the program computes.
  std::vector<int64_t> typical;
};

/// Movable; copied only by clone(). Belongs to one thread at a time.
class Program {
 public:
  Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  std::string name;
  /// Empty for a program of fixed extents. Shapes and loops have the extents for the highest values
  /// (BufferNode::extents).
  std::vector<ExtentParameter> parameters;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  /// Buffers that are neither input nor output. Where they live is decided by lowering.
  std::vector<Buffer> intermediates;
  /// Facts about the whole program ("unroll_max_step", ...), set by annotating the root.
  Annotations annotations;

  /// The root Seq; never null.
  Seq& root() { return *root_; }
  const Seq& root() const { return *root_; }

  /// Cost: one allocation per statement. Ids, variables, buffers and expressions are kept.
  Program clone() const;

  /// Makes a loop around `body` with a fresh id; extent constant, min 0.
  std::unique_ptr<Loop> make_loop(Var var, int64_t extent, StmtPtr body);
  /// Makes serial loops around `body`, the first the outermost; `body` itself when there are none.
  StmtPtr make_nest(std::span<const IterDomain> loops, StmtPtr body);
  /// Makes a block with a fresh id; its name is made unique within the program by a suffix "_1", "_2", ...
  std::unique_ptr<Block> make_block(std::string_view block_name, std::vector<IterVar> iters,
                                    std::vector<Expr> bindings, StmtPtr init, StmtPtr body);
  /// A name no buffer of the program has, beginning with `base`.
  std::string fresh_buffer_name(std::string_view base) const;
  std::string fresh_block_name(std::string_view base) const;

  /// Null when there is none (any more).
  Block* find_block(BlockId id) const;
  Block* find_block(std::string_view block_name) const;
  Loop* find_loop(LoopId id) const;
  /// All blocks in the order of the text.
  std::vector<Block*> blocks() const;
  /// inputs, outputs, intermediates.
  std::vector<Buffer> buffers() const;
  /// Replaces a buffer everywhere: lists, loads and stores.
  void swap_buffer(const Buffer& from, const Buffer& to);

 private:
  std::unique_ptr<Seq> root_;
  uint32_t next_id_ = 0;
};

/// What the program computes, and how, as one number, the same on every machine. No name counts (of the
/// program, its buffers, blocks and variables): two layers of one network with equal shapes are equal.
uint64_t structural_hash(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop

// Buffers: memory with a name, element type, shape and scope. Immutable and shared; compared by address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "tunesmith/ir/dtype.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Expr;

/// The kernel's memory scopes. Targets may define others (ir/execution_model.h).
///   global    memory shared by all threads of the program
///   local     memory of one thread, allocated around the innermost loop nest that contains all accesses
///   register  SSA values; lowering refuses the program if it cannot keep the buffer in registers
inline constexpr const char* kScopeGlobal = "global";
inline constexpr const char* kScopeLocal = "local";
inline constexpr const char* kScopeRegister = "register";

/// An XOR permutation of a buffer's elements that places the same column of neighbouring rows in different
/// memory banks, by moving pieces of 16 bytes within their row. The identity if `bits` is 0.
struct Swizzle {
  int bits = 0;  // index bits [to, to + bits) are XORed with bits [from, from + bits)
  int to = 0;
  int from = 0;  // from >= to + bits

  /// The position of the element with this index. The map is its own inverse.
  int64_t place_of(int64_t index) const {
    return index ^ ((index >> from & ((int64_t{1} << bits) - 1)) << to);
  }
  /// The period of the pattern: place_of(index + period()) is place_of(index) + period().
  int64_t period() const { return bits == 0 ? 1 : int64_t{1} << (from + bits); }

  bool operator==(const Swizzle&) const = default;
};

class BufferNode : public boost::intrusive_ref_counter<BufferNode> {
 public:
  BufferNode(std::string name, DType dtype, std::vector<int64_t> shape, std::string scope);
  ~BufferNode();

  const std::string name;
  const DType dtype;
  const std::vector<int64_t> shape;
  const std::string scope;
  /// An input whose contents do not change between calls, such as weights: its layout may be prepared ahead
  /// of time.
  bool constant = false;
  /// For each dimension, in elements; empty: row-major without gaps.
  std::vector<int64_t> strides;
  /// In a lowered program, the element at offset o lies at swizzle.place_of(o).
  /// Code that computes addresses applies it; everything else ignores it.
  Swizzle swizzle;
  /// Dynamic extents: for each dimension the actual extent, an index over the program's parameters, or null
  /// if it is shape[d]. Empty if all are static. `shape` has the maximum extents, and addresses follow it,
  /// except in packed arguments (is_packed). Elements beyond the actual extents do not exist: blocks skip
  /// statements that access them (ir/extents.h), and lowered programs do not access them.
  std::vector<Expr> extents;

  int64_t elements() const;
  /// The number of elements from the first to the last, including gaps.
  int64_t span() const;
  int64_t bytes() const { return span() * dtype.bytes(); }
  /// Row-major strides unless given.
  std::vector<int64_t> effective_strides() const;
};

/// Never null where a buffer is expected. `==` compares identity.
using Buffer = boost::intrusive_ptr<const BufferNode>;

Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape,
                   std::string scope = kScopeGlobal, bool constant = false, std::vector<int64_t> strides = {},
                   Swizzle swizzle = {});
/// A copy with these BufferNode::extents; `buffer` itself if they are empty.
Buffer with_extents(const Buffer& buffer, std::vector<Expr> extents);

}  // namespace tunesmith
#pragma GCC visibility pop

// A buffer: a named, typed, shaped piece of memory in a scope. Immutable and shared; identity is the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "tunesmith/ir/dtype.h"

namespace tunesmith {

/// Memory scopes of the kernel. Targets may add their own names (ir/execution_model.h).
///   global    memory of the program, seen by all threads
///   local     memory of one thread; allocated where the accesses' common loop nest begins
///   register  SSA values; lowering refuses a program in which it cannot keep them there
inline constexpr const char* kScopeGlobal = "global";
inline constexpr const char* kScopeLocal = "local";
inline constexpr const char* kScopeRegister = "register";

class BufferNode : public boost::intrusive_ref_counter<BufferNode> {
 public:
  BufferNode(std::string name, DType dtype, std::vector<int64_t> shape, std::string scope);

  const std::string name;
  const DType dtype;
  const std::vector<int64_t> shape;
  const std::string scope;
  /// An input whose contents do not change between calls (weights): its layout may be chosen ahead of time.
  bool constant = false;
  /// Elements between neighbours along each dimension; empty = row-major without gaps.
  std::vector<int64_t> strides;

  int64_t elements() const;
  /// Elements spanned in memory, with strides.
  int64_t span() const;
  int64_t bytes() const { return span() * dtype.bytes(); }
  /// Row-major strides unless given.
  std::vector<int64_t> effective_strides() const;
};

/// Never null where a buffer is expected. Compare with `==` for identity.
using Buffer = boost::intrusive_ptr<const BufferNode>;

Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape,
                   std::string scope = kScopeGlobal, bool constant = false,
                   std::vector<int64_t> strides = {});

}  // namespace tunesmith

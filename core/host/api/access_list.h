// Accesses and tensor intrinsics in the form that plugins read, with the data that they point to.
#pragma once

#include <cstdint>
#include <vector>

#include "plugin/stable_interface.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith::api {

/// The accesses of one block. Points into the program's buffers.
class AccessList {
 public:
  AccessList(const Program& program, const Block& block, const std::vector<Access>& accesses);
  AccessList(const AccessList&) = delete;
  AccessList& operator=(const AccessList&) = delete;

  tunesmith_span span() const;

 private:
  tunesmith_index index_of(const Expr& index, const Block& block);

  std::vector<tunesmith_buffer> buffers_;
  std::vector<uint32_t> used_;
  std::vector<tunesmith_index> indices_;
  std::vector<tunesmith_access> accesses_;
};

/// Keeps the intrinsic.
class IntrinsicFacts {
 public:
  explicit IntrinsicFacts(TensorIntrinsicPtr intrinsic);
  IntrinsicFacts(const IntrinsicFacts&) = delete;
  IntrinsicFacts& operator=(const IntrinsicFacts&) = delete;

  const TensorIntrinsicPtr& intrinsic() const { return intrinsic_; }
  const tunesmith_intrinsic& facts() const { return facts_; }

 private:
  TensorIntrinsicPtr intrinsic_;
  AccessList reads_;
  AccessList writes_;
  std::vector<tunesmith_buffer> buffers_;
  std::vector<tunesmith_operand> operands_;
  std::vector<tunesmith_iterator> iterators_;
  tunesmith_intrinsic facts_;
};

}  // namespace tunesmith::api

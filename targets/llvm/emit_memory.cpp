#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "emit_error.h"
#include "float_convert.h"
#include "function_emitter.h"

namespace tunesmith::llvm_target {

namespace {

/// The widest value that one access reads, in bytes.
constexpr int64_t kMaxAccessBytes = 512;
/// Accesses within this many bytes share the choice between their memory and zeros.
constexpr int64_t kSharedBytes = 1024;
/// A window of at most this many vectors is loaded whole and its lanes picked out; a wider one is gathered.
constexpr int64_t kWindowVectors = 4;

llvm::Align element_alignment(DType type) { return llvm::Align(static_cast<uint64_t>(type.bytes())); }

bool is_unit_stride(const LaneIndex& index) {
  for (size_t i = 1; i < index.lanes.size(); ++i) {
    if (index.lanes[i] != index.lanes[i - 1] + 1) return false;
  }
  return true;
}

bool is_uniform(const LaneIndex& index) {
  return std::ranges::all_of(index.lanes, [&](int64_t lane) { return lane == index.lanes.front(); });
}

const Expr& only_index(std::span<const Expr> indices, const Buffer& buffer) {
  if (indices.size() != 1)
    throw EmitError(fmt::format("an access of {} has {} indices, not one", buffer->name, indices.size()));
  return indices[0];
}

}  // namespace

const BufferSlot& FunctionEmitter::slot_of(const Buffer& buffer) const {
  const auto found = buffers_.find(buffer.get());
  if (found == buffers_.end())
    throw EmitError(fmt::format("buffer {} is used outside its lifetime", buffer->name));
  return found->second;
}

llvm::Value* FunctionEmitter::pointer(const BufferSlot& slot, DType type, const Linear& at) {
  return values_.pointer(slot.base, slot.id, at, type.bytes());
}

Mask FunctionEmitter::mask_of(const Expr& mask) {
  Mask result;
  if (!mask) return result;
  if (mask.is(ExprKind::And) && mask.dtype().is_vector()) {
    const Mask a = mask_of(mask.arg(0)), b = mask_of(mask.arg(1));
    const auto both = [&](llvm::Value* x, llvm::Value* y) {
      if (x == nullptr) return y;
      return y == nullptr ? x : ir_.CreateAnd(x, y);
    };
    return {both(a.uniform, b.uniform), both(a.lanes, b.lanes), a.never || b.never};
  }
  const bool uniform = mask.is(ExprKind::Broadcast) || !mask.dtype().is_vector();
  llvm::Value* condition = value(mask.is(ExprKind::Broadcast) ? mask.arg(0) : mask);
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(condition)) {
    if (constant->isAllOnesValue()) return result;
    if (constant->isNullValue()) {
      result.never = true;
      return result;
    }
  }
  (uniform ? result.uniform : result.lanes) = condition;
  return result;
}

llvm::Value* FunctionEmitter::all_lanes(const Mask& mask, int lanes) {
  llvm::Value* uniform = splat(mask.uniform == nullptr ? ir_.getTrue() : mask.uniform, lanes);
  if (mask.lanes == nullptr) return uniform;
  return mask.uniform == nullptr ? mask.lanes : ir_.CreateAnd(mask.lanes, uniform);
}

/// `at` if the condition holds, else the address of zeros:
/// without a branch, and without accessing forbidden memory.
llvm::Value* FunctionEmitter::readable(const BufferSlot& slot, DType type, const Linear& at,
                                       llvm::Value* condition) {
  if (condition == nullptr) return pointer(slot, type, at);
  if (state_.zeros == nullptr) {
    auto* zeros = llvm::ArrayType::get(ir_.getInt8Ty(), kSharedBytes + kMaxAccessBytes);
    state_.zeros =
        new llvm::GlobalVariable(state_.module, zeros, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                 llvm::Constant::getNullValue(zeros), "zeros");
    state_.zeros->setAlignment(llvm::Align(64));
  }
  const int64_t beyond = floor_remainder(at.constant, kSharedBytes / type.bytes());
  llvm::Value* chosen =
      ir_.CreateSelect(condition, pointer(slot, type, add_scaled(at, Linear(beyond), -1)), state_.zeros);
  return ir_.CreateConstGEP1_64(ir_.getInt8Ty(), chosen, static_cast<uint64_t>(beyond * type.bytes()));
}

llvm::Value* FunctionEmitter::load_value(const LoadNode& node) {
  const BufferSlot& slot = slot_of(node.buffer);
  const Expr& index = only_index(node.indices(), node.buffer);
  const DType type = node.dtype;
  llvm::Type* in_memory = memory_type(ir_.getContext(), type);
  const Mask mask = mask_of(node.mask());
  llvm::Value* loaded = nullptr;
  if (mask.never) {
    loaded = llvm::Constant::getNullValue(in_memory);
  } else if (const auto lanes = lane_index(index)) {
    loaded = load_lanes(slot, type, *lanes, mask);
  } else {
    loaded = access_of(
        slot, ir_.CreateMaskedGather(in_memory, lane_pointers(slot, type, index), element_alignment(type),
                                     all_lanes(mask, type.lanes), llvm::Constant::getNullValue(in_memory)));
  }
  return type.is_bool() ? ir_.CreateICmpNE(loaded, llvm::Constant::getNullValue(in_memory)) : loaded;
}

llvm::Value* FunctionEmitter::load_contiguous(const BufferSlot& slot, DType type, const Linear& at,
                                              const Mask& mask) {
  llvm::Type* in_memory = memory_type(ir_.getContext(), type);
  llvm::Value* zero = llvm::Constant::getNullValue(in_memory);
  if (slot.in_registers) {
    // The function's own memory with room for a whole vector: a plain load, so that it can become a value.
    llvm::Value* all = ir_.CreateAlignedLoad(in_memory, pointer(slot, type, at), element_alignment(type));
    return mask.always() ? all : ir_.CreateSelect(all_lanes(mask, type.lanes), all, zero);
  }
  llvm::Value* from = readable(slot, type, at, mask.uniform);
  if (mask.lanes == nullptr)
    return access_of(slot, ir_.CreateAlignedLoad(in_memory, from, element_alignment(type)));
  return access_of(slot, ir_.CreateMaskedLoad(in_memory, from, element_alignment(type), mask.lanes, zero));
}

llvm::Value* FunctionEmitter::load_lanes(const BufferSlot& slot, DType type, const LaneIndex& index,
                                         const Mask& mask) {
  const auto [low_at, high_at] = std::ranges::minmax_element(index.lanes);
  const int64_t low = *low_at, window = *high_at - low + 1;
  const Linear first = add_scaled(index.base, Linear(low), 1);
  if (is_unit_stride(index)) return load_contiguous(slot, type, first, mask);
  if (mask.lanes == nullptr) {
    if (is_uniform(index)) return splat(load_contiguous(slot, type.scalar(), first, mask), type.lanes);
    if (mask.uniform == nullptr && window <= kWindowVectors * type.lanes)
      return load_window(slot, type, index, low, window);
  }
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  const bool narrow = window <= std::numeric_limits<int32_t>::max();
  for (const int64_t lane : index.lanes) {
    const auto offset = static_cast<uint64_t>(lane - low);
    offsets.push_back(narrow ? ir_.getInt32(static_cast<uint32_t>(offset)) : ir_.getInt64(offset));
  }
  llvm::Type* in_memory = memory_type(ir_.getContext(), type);
  llvm::Value* pointers = ir_.CreateGEP(in_memory->getScalarType(), pointer(slot, type, first),
                                        llvm::ConstantVector::get(offsets));
  return access_of(
      slot, ir_.CreateMaskedGather(in_memory, pointers, element_alignment(type), all_lanes(mask, type.lanes),
                                   llvm::Constant::getNullValue(in_memory)));
}

/// Loads all elements from the lowest to the highest, which all are in the buffer, and shuffles.
llvm::Value* FunctionEmitter::load_window(const BufferSlot& slot, DType type, const LaneIndex& index,
                                          int64_t low, int64_t window) {
  const int lanes = type.lanes;
  const int64_t chunk = std::min<int64_t>(window, lanes);
  const int64_t chunks = (window + chunk - 1) / chunk;
  llvm::Value* result = nullptr;
  for (int64_t c = 0; c < chunks; ++c) {
    // The last one overlaps the one before, so that nothing beyond the window is read.
    const int64_t begin = std::min(c * chunk, window - chunk);
    llvm::Value* part = load_contiguous(slot, type.with_lanes(static_cast<int>(chunk)),
                                        add_scaled(index.base, Linear(low + begin), 1), {});
    if (chunk == 1) part = splat(part, 2);
    llvm::SmallVector<int, 16> picked;
    bool any = false;
    for (int i = 0; i < lanes; ++i) {
      const int64_t offset = index.lanes[static_cast<size_t>(i)] - low;
      const bool here = std::min(offset / chunk, chunks - 1) == c;
      any = any || here;
      const int within = static_cast<int>(offset - begin);
      if (result == nullptr) {
        picked.push_back(here ? within : llvm::PoisonMaskElem);
      } else {
        picked.push_back(here ? lanes + within : i);
      }
    }
    if (!any) continue;
    result = result == nullptr ? ir_.CreateShuffleVector(part, picked)
                               : ir_.CreateShuffleVector(result, part, picked);
  }
  return result;
}

llvm::Value* FunctionEmitter::lane_pointers(const BufferSlot& slot, DType type, const Expr& index) {
  return ir_.CreateGEP(memory_type(ir_.getContext(), type.scalar()), slot.base, value(index));
}

void FunctionEmitter::store(const Store& stmt) {
  const BufferSlot& slot = slot_of(stmt.buffer);
  const Expr& index = only_index(stmt.indices, stmt.buffer);
  const Mask mask = mask_of(stmt.mask);
  if (mask.never) return;
  const auto lanes = lane_index(index);
  const DType type = stmt.value.dtype();
  const auto write = [&] {
    llvm::Value* stored = value(stmt.value);
    if (type.is_bool()) stored = ir_.CreateZExt(stored, memory_type(ir_.getContext(), type));
    llvm::Value* in_lanes = mask.lanes;
    if (slot.in_registers && !mask.always()) {
      llvm::Value* old = lanes ? load_lanes(slot, type, *lanes, {}) : nullptr;
      if (old == nullptr)
        throw EmitError(
            fmt::format("register buffer {} has an index that is not constant", stmt.buffer->name));
      stored = ir_.CreateSelect(all_lanes(mask, type.lanes), stored, old);
      in_lanes = nullptr;
    }
    if (!lanes || !is_unit_stride(*lanes)) {
      store_lanes(slot, type, index, stored, in_lanes);
      return;
    }
    const Linear at = add_scaled(lanes->base, Linear(lanes->lanes[0]), 1);
    llvm::Value* to = pointer(slot, type, at);
    if (in_lanes == nullptr) {
      llvm::StoreInst* made = ir_.CreateAlignedStore(stored, to, element_alignment(type));
      access_of(slot, made);
      if (goes_past_cache(stmt.buffer, type, at)) store_past_cache(*made);
    } else {
      access_of(slot, ir_.CreateMaskedStore(stored, to, element_alignment(type), in_lanes));
    }
  };
  if (mask.uniform == nullptr || slot.in_registers) {
    write();
  } else {
    emit_guarded(mask.uniform, write);
  }
}

void FunctionEmitter::store_lanes(const BufferSlot& slot, DType type, const Expr& index, llvm::Value* stored,
                                  llvm::Value* mask) {
  const auto lanes = lane_index(index);
  if (mask == nullptr && lanes) {
    // Known offsets: one store per lane; a scatter is no faster.
    // Lanes in order, so that the last of equal addresses remains.
    for (size_t i = 0; i < lanes->lanes.size(); ++i) {
      llvm::Value* lane = ir_.CreateExtractElement(stored, static_cast<uint64_t>(i));
      llvm::Value* to = pointer(slot, type, add_scaled(lanes->base, Linear(lanes->lanes[i]), 1));
      access_of(slot, ir_.CreateAlignedStore(lane, to, element_alignment(type)));
    }
    return;
  }
  llvm::Value* all = mask == nullptr ? splat(ir_.getTrue(), type.lanes) : mask;
  access_of(slot,
            ir_.CreateMaskedScatter(stored, lane_pointers(slot, type, index), element_alignment(type), all));
}

}  // namespace tunesmith::llvm_target

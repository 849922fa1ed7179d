// Calls of tensor intrinsics: loads operands as vectors, or takes their addresses, and passes
// them to LLVM's intrinsic or to the fragment; stores the result unless the fragment does.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "emit_error.h"
#include "float_convert.h"
#include "fragment.h"
#include "function_emitter.h"

namespace tunesmith::llvm_target {

namespace {

/// A vector of all elements of an operand in memory order.
llvm::Type* operand_type(llvm::LLVMContext& context, const Buffer& operand) {
  const auto elements = static_cast<int>(operand->elements());
  return memory_type(context, operand->dtype.with_lanes(elements));
}

uint64_t bits_of(llvm::Type* type) { return type->getPrimitiveSizeInBits().getFixedValue(); }

std::string text_of(llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type->print(stream);
  return text;
}

/// The location of line `line` (from 1) of the implementation in its file; else a description.
std::string place_of(const TensorIntrinsic& intrinsic, const TensorImplementation& implementation, int line) {
  if (implementation.location.line == 0) {
    return implementation.form == TensorImplementation::Form::Fragment
               ? fmt::format("tensor intrinsic {}: line {} of the fragment", intrinsic.name, line)
               : fmt::format("tensor intrinsic {}", intrinsic.name);
  }
  SourceLocation place = implementation.location;
  place.line += line - 1;
  place.column = 0;
  return fmt::format("{}: tensor intrinsic {}", place.str(), intrinsic.name);
}

/// The operand as a parameter: its bits, repeated until they fill it.
llvm::Value* as_parameter(llvm::IRBuilder<>& ir, llvm::Value* operand, llvm::Type* parameter,
                          const std::string& place) {
  const uint64_t have = bits_of(operand->getType());
  const uint64_t want = bits_of(parameter);
  if (have == 0 || want == 0 || want % have != 0) {
    throw EmitError(fmt::format("{}: an operand of {} is not a parameter of {}", place,
                                text_of(operand->getType()), text_of(parameter)));
  }
  if (want != have) {
    llvm::Value* whole = ir.CreateBitCast(operand, ir.getIntNTy(static_cast<unsigned>(have)));
    operand = ir.CreateVectorSplat(static_cast<unsigned>(want / have), whole);
  }
  return ir.CreateBitCast(operand, parameter);
}

/// A fragment's parameters for an operand: its elements, or its address and free stride.
std::string parameter_text(llvm::LLVMContext& context, const TensorOperand& operand) {
  const std::string& name = operand.buffer->name;
  if (!operand.by_address) return fmt::format("{} %{}", text_of(operand_type(context, operand.buffer)), name);
  // A written operand overlaps no other operand of the call.
  const int64_t alignment = std::max(operand.alignment, int64_t{operand.buffer->dtype.bytes()});
  const bool aligned = (alignment & (alignment - 1)) == 0;
  std::string text = fmt::format("ptr noalias align {} %{}",
                                 aligned ? alignment : int64_t{operand.buffer->dtype.bytes()}, name);
  if (operand.free_dimension() < operand.strides.size()) text += fmt::format(", i64 %{}_stride", name);
  return text;
}

/// The implementation as a function of the module, to be inlined.
llvm::Function* function_of(llvm::Module& module, const TensorIntrinsic& intrinsic,
                            const TensorImplementation& implementation) {
  llvm::LLVMContext& context = module.getContext();
  const TensorOperand& output = intrinsic.operands[0];
  Fragment fragment;
  fragment.symbol = "tensor_intrinsic." + intrinsic.name;
  fragment.result = output.by_address ? "void" : text_of(operand_type(context, output.buffer));
  for (const size_t position : implementation.arguments) {
    fragment.parameters += fragment.parameters.empty() ? "" : ", ";
    fragment.parameters += parameter_text(context, intrinsic.operands[position]);
  }
  fragment.attributes = "alwaysinline";
  fragment.text = implementation.text;
  fragment.place = [&](int line) { return place_of(intrinsic, implementation, line); };
  return fragment_function(module, fragment);
}

/// LLVM's own intrinsic that the implementation names.
llvm::Function* intrinsic_of(llvm::Module& module, const TensorIntrinsic& intrinsic,
                             const TensorImplementation& implementation) {
  const std::string place = place_of(intrinsic, implementation, 1);
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(implementation.text);
  if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id))
    throw EmitError(fmt::format("{}: LLVM has no intrinsic {} of fixed types", place, implementation.text));
  if (std::ranges::any_of(intrinsic.operands, &TensorOperand::by_address))
    throw EmitError(fmt::format("{}: {} takes values, not addresses", place, implementation.text));
  return llvm::Intrinsic::getDeclaration(&module, id);
}

/// The rows of an operand in this call; a single row if they are contiguous.
struct Rows {
  Rows(const TensorOperand& operand, const TensorCall::Operand& given) {
    const size_t free = operand.free_dimension();
    const int64_t elements = operand.buffer->elements();
    const bool apart = free < operand.strides.size() &&
                       given.strides[free] * operand.buffer->shape[free] != elements &&
                       operand.buffer->shape[free] > 1;
    count = apart ? operand.buffer->shape[free] : 1;
    stride = apart ? given.strides[free] : elements;
    type = given.buffer->dtype.with_lanes(static_cast<int>(elements / count));
  }
  /// The type for loading and storing a row. LLVM ends the process over vectors of
  /// less than a register that become parts of others, so a short row is one integer.
  llvm::Type* piece(llvm::LLVMContext& context) const {
    const int bits = 8 * type.scalar().bytes() * type.lanes;
    const bool as_integer = count > 1 && type.lanes > 1 && (bits == 16 || bits == 32 || bits == 64);
    return as_integer ? llvm::Type::getIntNTy(context, static_cast<unsigned>(bits))
                      : memory_type(context, type);
  }
  int64_t count;
  int64_t stride;
  DType type;  // of a row
};

/// A vector with several consecutive rows of this type; for integers, each is an element.
llvm::FixedVectorType* vector_of(llvm::Type* piece, int64_t count) {
  const auto* row = llvm::dyn_cast<llvm::FixedVectorType>(piece);
  return llvm::FixedVectorType::get(
      piece->getScalarType(), static_cast<unsigned>(count) * (row == nullptr ? 1 : row->getNumElements()));
}

/// `all` with `piece` as row number `row`, by shuffles: LLVM can
/// compile these for every width, unlike llvm.vector.insert.
llvm::Value* with_row(llvm::IRBuilder<>& ir, llvm::Value* all, llvm::Value* piece, int64_t row) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(piece->getType());
  if (type == nullptr) return ir.CreateInsertElement(all, piece, static_cast<uint64_t>(row));
  const auto total = static_cast<int>(llvm::cast<llvm::FixedVectorType>(all->getType())->getNumElements());
  const auto lanes = static_cast<int>(type->getNumElements());
  const int first = static_cast<int>(row) * lanes;
  llvm::SmallVector<int, 64> widened(static_cast<size_t>(total), llvm::PoisonMaskElem);
  llvm::SmallVector<int, 64> chosen;
  for (int i = 0; i < lanes; ++i) widened[static_cast<size_t>(i)] = i;
  for (int i = 0; i < total; ++i) chosen.push_back(i >= first && i < first + lanes ? total + i - first : i);
  return ir.CreateShuffleVector(all, ir.CreateShuffleVector(piece, widened), chosen);
}

/// Row number `row` of `all`.
llvm::Value* row_of(llvm::IRBuilder<>& ir, llvm::Value* all, llvm::Type* piece, int64_t row) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(piece);
  if (type == nullptr) return ir.CreateExtractElement(all, static_cast<uint64_t>(row));
  const auto lanes = static_cast<int>(type->getNumElements());
  llvm::SmallVector<int, 64> chosen;
  for (int i = 0; i < lanes; ++i) chosen.push_back(static_cast<int>(row) * lanes + i);
  return ir.CreateShuffleVector(all, chosen);
}

}  // namespace

llvm::Value* FunctionEmitter::load_operand(const TensorOperand& operand, const TensorCall::Operand& given) {
  const BufferSlot& slot = slot_of(given.buffer);
  const Rows rows(operand, given);
  llvm::Type* piece = rows.piece(ir_.getContext());
  const llvm::Align alignment(static_cast<uint64_t>(given.buffer->dtype.bytes()));
  const Linear first = linear(given.offset);
  llvm::Value* all = rows.count > 1 ? llvm::PoisonValue::get(vector_of(piece, rows.count)) : nullptr;
  for (int64_t row = 0; row < rows.count; ++row) {
    llvm::Value* from = pointer(slot, given.buffer->dtype, add_scaled(first, Linear(row * rows.stride), 1));
    llvm::Value* loaded = access_of(slot, ir_.CreateAlignedLoad(piece, from, alignment));
    all = rows.count == 1 ? loaded : with_row(ir_, all, loaded, row);
  }
  return ir_.CreateBitCast(all, operand_type(ir_.getContext(), operand.buffer));
}

void FunctionEmitter::store_operand(const TensorOperand& operand, const TensorCall::Operand& given,
                                    llvm::Value* all) {
  const BufferSlot& slot = slot_of(given.buffer);
  const Rows rows(operand, given);
  llvm::Type* piece = rows.piece(ir_.getContext());
  const llvm::Align alignment(static_cast<uint64_t>(given.buffer->dtype.bytes()));
  const Linear first = linear(given.offset);
  if (rows.count > 1) all = ir_.CreateBitCast(all, vector_of(piece, rows.count));
  for (int64_t row = 0; row < rows.count; ++row) {
    llvm::Value* stored = rows.count > 1 ? row_of(ir_, all, piece, row) : all;
    llvm::Value* to = pointer(slot, given.buffer->dtype, add_scaled(first, Linear(row * rows.stride), 1));
    access_of(slot, ir_.CreateAlignedStore(stored, to, alignment));
  }
}

/// Annotates a call that takes addresses with the buffers that it accesses, also after inlining.
void FunctionEmitter::mark_aliasing(llvm::CallInst& call, const TensorIntrinsic& intrinsic,
                                    const TensorCall& tensor_call) const {
  llvm::SmallVector<llvm::Metadata*, 8> touched;
  for (size_t i = 0; i < tensor_call.operands.size(); ++i) {
    if (!intrinsic.operands[i].by_address) continue;
    const BufferSlot& slot = slot_of(tensor_call.operands[i].buffer);
    if (slot.in_registers) return;
    for (llvm::Metadata* scope : slot.aliasing.Scope->operands()) touched.push_back(scope);
  }
  if (touched.empty()) return;
  llvm::SmallVector<llvm::Metadata*, 8> others;
  for (llvm::Metadata* scope : buffer_scopes_) {
    if (std::ranges::find(touched, scope) == touched.end()) others.push_back(scope);
  }
  llvm::LLVMContext& context = call.getContext();
  call.setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context, touched));
  if (!others.empty()) call.setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context, others));
}

void FunctionEmitter::emit_intrinsic(const Loop& loop) {
  const TensorCall call = tensor_call(loop);
  const TensorIntrinsic& intrinsic = *call.intrinsic;
  const auto found = intrinsic.implementations.find("llvm");
  if (found == intrinsic.implementations.end())
    throw EmitError(fmt::format("tensor intrinsic {} has no implementation for llvm", intrinsic.name));
  const TensorImplementation& implementation = found->second;
  const std::string place = place_of(intrinsic, implementation, 1);
  statement_values_.clear();
  auto caller = std::ranges::find(state_.callers, function_, &UnitCallers::value_type::first);
  if (caller == state_.callers.end()) caller = state_.callers.insert(caller, {function_, {}});
  caller->second.insert(implementation.setup.extension);
  const bool is_fragment = implementation.form == TensorImplementation::Form::Fragment;
  llvm::Function* function = is_fragment ? function_of(state_.module, intrinsic, implementation)
                                         : intrinsic_of(state_.module, intrinsic, implementation);
  llvm::SmallVector<llvm::Value*, 8> arguments;
  for (const size_t position : implementation.arguments) {
    const TensorOperand& operand = intrinsic.operands[position];
    const TensorCall::Operand& given = call.operands[position];
    if (!operand.by_address) {
      arguments.push_back(load_operand(operand, given));
      continue;
    }
    arguments.push_back(pointer(slot_of(given.buffer), given.buffer->dtype, linear(given.offset)));
    const size_t free = operand.free_dimension();
    if (free < operand.strides.size()) {
      const int64_t row = operand.buffer->elements() / operand.buffer->shape[free];
      arguments.push_back(ir_.getInt64(static_cast<uint64_t>(std::max(given.strides[free], row))));
    }
  }
  llvm::FunctionType* type = function->getFunctionType();
  if (type->getNumParams() != arguments.size()) {
    throw EmitError(fmt::format("{}: {} takes {} arguments, not {}", place, implementation.text,
                                type->getNumParams(), arguments.size()));
  }
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (!is_fragment) arguments[i] = as_parameter(ir_, arguments[i], type->getParamType(i), place);
  }
  llvm::CallInst* result = ir_.CreateCall(function, arguments);
  if (is_fragment && touches_parameters_only(*function)) mark_aliasing(*result, intrinsic, call);
  const TensorOperand& output = intrinsic.operands[0];
  if (output.by_address) return;
  llvm::Type* stored = operand_type(ir_.getContext(), output.buffer);
  if (bits_of(result->getType()) != bits_of(stored)) {
    throw EmitError(fmt::format("{}: a result of {} is not stored as {}", place, text_of(result->getType()),
                                text_of(stored)));
  }
  store_operand(output, call.operands[0], ir_.CreateBitCast(result, stored));
}

}  // namespace tunesmith::llvm_target

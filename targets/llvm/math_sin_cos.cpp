#include <array>

#include <llvm/IR/Module.h>

#include "math_functions.h"

namespace tunesmith::llvm_target {

namespace {

// Cephes: (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4.
constexpr std::array kSin = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
constexpr std::array kCos = {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2};
// pi / 2 in two parts; the first has so few digits that its product with a number of quarters is exact.
constexpr double kHalfPiHigh = 0x1.921fb544p+0;
constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;
constexpr double kQuartersIn = 0.636619772367581343;
/// Beyond it there are too many quarters for the product to be exact.
constexpr double kFar = 0x1p19;

}  // namespace

llvm::Function* MathFunctions::shared_function(const std::string& name, llvm::Type* type,
                                               llvm::Attribute::AttrKind kind,
                                               const std::function<Value(MathFunctions&, Value)>& body) {
  llvm::Module& module = *ir_.GetInsertBlock()->getModule();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const std::string symbol =
      "tunesmith." + name + (vector == nullptr ? "" : "." + std::to_string(vector->getNumElements()));
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, /*isVarArg=*/false),
                                          llvm::GlobalValue::InternalLinkage, symbol, module);
  function->addFnAttr(kind);
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  MathFunctions functions(inside, traits_);
  inside.CreateRet(body(functions, function->getArg(0)));
  return function;
}

/// Calls the C library for rare arguments, which do not justify inline code.
llvm::Value* MathFunctions::sin_or_cos_f32(MathOp op, Value x) {
  const std::string name(math_op_name(op));
  const auto far = [op](MathFunctions& functions, Value y) { return functions.from_library(op, {y}); };
  const auto body = [&](MathFunctions& functions, Value y) {
    llvm::IRBuilder<>& ir = functions.ir_;
    Value near = functions.near_sin_or_cos_f32(op, y);
    Value beyond = ir.CreateFCmpOGT(functions.absolute(y), functions.number(y, kFar));
    if (beyond->getType()->isVectorTy()) beyond = ir.CreateOrReduce(beyond);
    llvm::BasicBlock* entry = ir.GetInsertBlock();
    llvm::BasicBlock* library = llvm::BasicBlock::Create(ir.getContext(), "far", entry->getParent());
    llvm::BasicBlock* done = llvm::BasicBlock::Create(ir.getContext(), "done", entry->getParent());
    ir.CreateCondBr(beyond, library, done);
    ir.SetInsertPoint(library);
    Value called = ir.CreateCall(
        functions.shared_function("far_" + name, y->getType(), llvm::Attribute::NoInline, far), {y});
    ir.CreateBr(done);
    ir.SetInsertPoint(done);
    llvm::PHINode* result = ir.CreatePHI(y->getType(), 2);
    result->addIncoming(near, entry);
    result->addIncoming(called, library);
    return static_cast<Value>(result);
  };
  return ir_.CreateCall(shared_function(name, x->getType(), llvm::Attribute::AlwaysInline, body), {x});
}

/// x = n * pi / 2 + r, by way of f64, which has the digits that the subtraction cancels.
llvm::Value* MathFunctions::near_sin_or_cos_f32(MathOp op, Value x) {
  // Adding 1.5 * 2^52 rounds to an integer, and leaves it in the low bits.
  constexpr double kRounder = 0x1.8p52;
  Value wide = ir_.CreateFPExt(x, x->getType()->getWithNewType(ir_.getDoubleTy()));
  Value shifted = multiply_add(wide, number(wide, kQuartersIn), number(wide, kRounder));
  Value n = ir_.CreateFSub(shifted, number(wide, kRounder));
  Value rest = multiply_add(n, number(wide, -kHalfPiHigh), wide);
  rest = multiply_add(n, number(wide, -kHalfPiLow), rest);
  Value r = ir_.CreateFPTrunc(rest, x->getType());
  Value quarter = ir_.CreateTrunc(ir_.CreateBitCast(shifted, integers_like(wide)), integers_like(x));
  if (op == MathOp::Cos) quarter = ir_.CreateAdd(quarter, integer(quarter, 1));

  Value square = ir_.CreateFMul(r, r);
  Value odd = multiply_add(ir_.CreateFMul(r, square), polynomial(square, kSin), r);
  Value even = multiply_add(square, number(r, -0.5), number(r, 1.0));
  even = multiply_add(ir_.CreateFMul(square, square), polynomial(square, kCos), even);
  Value is_even = ir_.CreateICmpNE(ir_.CreateAnd(quarter, integer(quarter, 1)), integer(quarter, 0));
  Value magnitude = ir_.CreateSelect(is_even, even, odd);
  // The second bit of the number of quarters is the sign's.
  Value sign = ir_.CreateShl(ir_.CreateLShr(quarter, integer(quarter, 1)), integer(quarter, 31));
  Value bits = ir_.CreateXor(ir_.CreateBitCast(magnitude, integers_like(x)), sign);
  return ir_.CreateBitCast(bits, x->getType());
}

}  // namespace tunesmith::llvm_target

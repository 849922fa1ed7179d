// Elementwise mathematics as LLVM IR, on scalars and vectors of f32 and f64.
//
// f32 functions are branch-free and accurate to a few units in the last place for all vector widths
// (docs/targets.md has the tested bounds); f64 functions call the C library lane by lane. NaN gives NaN;
// denormal arguments are supported.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <llvm/IR/IRBuilder.h>

#include "codegen_traits.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::llvm_target {

class MathFunctions {
 public:
  MathFunctions(llvm::IRBuilder<>& ir, const CodegenTraits& traits) : ir_(ir), traits_(traits) {}

  llvm::Value* emit(MathOp op, llvm::ArrayRef<llvm::Value*> operands);

 private:
  using Value = llvm::Value*;

  Value from_library(MathOp op, llvm::ArrayRef<Value> operands);

  // math_exp_log.cpp, f32
  Value exp_f32(Value x);
  Value log_f32(Value x);
  Value exp_in_range_f32(Value x);
  /// x = n * ln(2) + r, |r| <= ln(2) / 2
  struct Reduced {
    Value shifted;  // has n in its low bits
    Value tail;     // exp(r) - 1
  };
  Reduced reduce_argument(Value x);
  Value power_of_two(Value shifted, int64_t more);
  /// The size of a table that vectors like `x` look up by one instruction per register: 16, 8, or 0.
  unsigned table_size(const llvm::Value* x) const;
  Value lookup(llvm::ArrayRef<uint32_t> table, Value indices);
  Value exp_by_table(Value x, int64_t more);
  Value sigmoid(Value x);  // f64 also

  // math_tanh_erf.cpp, f32
  Value tanh_f32(Value x);
  Value erf_f32(Value x);

  // math_sin_cos.cpp, f32
  Value sin_or_cos_f32(MathOp op, Value x);
  Value near_sin_or_cos_f32(MathOp op, Value x);
  /// A function of the module from a value to another of its type, created on demand.
  llvm::Function* shared_function(const std::string& name, llvm::Type* type, llvm::Attribute::AttrKind kind,
                                  const std::function<Value(MathFunctions&, Value)>& body);

  // math_pow.cpp, f32, by way of f64
  Value pow_f32(Value x, Value y);
  Value log_positive_f64(Value x);
  Value exp_f64(Value x);

  /// A constant in every lane.
  Value number(const llvm::Value* like, double value) {
    return llvm::ConstantFP::get(like->getType(), value);
  }
  Value integer(const llvm::Value* like, int64_t value) {
    return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), /*IsSigned=*/true);
  }
  /// a * b + c, rounded once if the processor can.
  Value multiply_add(Value a, Value b, Value c);
  /// Horner's scheme, highest power first.
  Value polynomial(Value x, std::span<const double> coefficients);
  /// Estrin's scheme, highest power first: more parallelism, and one more rounding.
  Value polynomial_by_pairs(Value x, std::span<const double> coefficients);
  Value absolute(Value x);
  Value round_even(Value x);
  Value round_tf32(Value x);
  Value with_sign_of(Value magnitude, Value sign);
  /// The type of x with integers of the same width.
  llvm::Type* integers_like(const llvm::Value* x);

  llvm::IRBuilder<>& ir_;
  const CodegenTraits& traits_;
};

}  // namespace tunesmith::llvm_target

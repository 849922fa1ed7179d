// Calls of tensor intrinsics: operands are loaded as vectors, given to LLVM's intrinsic or to the fragment,
// and the result is stored.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "assembly_places.h"
#include "emit_error.h"
#include "float_convert.h"
#include "function_emitter.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::llvm_target {

namespace {

/// All elements of an operand, in the order in which they lie in memory.
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

/// Where line `line` of the implementation, from 1, stands in its file; else how to find it.
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
    throw EmitError(fmt::format("{}: an operand of {} is no parameter of {}", place,
                                text_of(operand->getType()), text_of(parameter)));
  }
  if (want != have) {
    llvm::Value* whole = ir.CreateBitCast(operand, ir.getIntNTy(static_cast<unsigned>(have)));
    operand = ir.CreateVectorSplat(static_cast<unsigned>(want / have), whole);
  }
  return ir.CreateBitCast(operand, parameter);
}

/// The fragment as a function of the module, to be inlined.
llvm::Function* fragment_function(llvm::Module& module, const TensorIntrinsic& intrinsic,
                                  const TensorImplementation& implementation) {
  const std::string symbol = "tensor_intrinsic." + intrinsic.name;
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  llvm::LLVMContext& context = module.getContext();
  std::string parameters;
  for (const size_t position : implementation.arguments) {
    const Buffer& buffer = intrinsic.operands[position].buffer;
    parameters += fmt::format("{}{} %{}", parameters.empty() ? "" : ", ",
                              text_of(operand_type(context, buffer)), buffer->name);
  }
  // Declarations stand before the function.
  std::string declarations;
  std::string body;
  std::vector<int> lines_of_declarations;
  std::vector<int> lines_of_body;
  int number = 0;
  for (size_t begin = 0; begin < implementation.text.size();) {
    size_t end = implementation.text.find('\n', begin);
    if (end == std::string::npos) end = implementation.text.size();
    const std::string line = implementation.text.substr(begin, end - begin);
    const bool declares = line.starts_with("declare ");
    (declares ? declarations : body) += line + "\n";
    (declares ? lines_of_declarations : lines_of_body).push_back(++number);
    begin = end + 1;
  }
  // The line of the fragment that stands at a line of `text`, from 1: the function's head comes in between,
  // and its end is said of the last line.
  const auto line_of = [&](int at) {
    std::vector<int> lines = lines_of_declarations;
    lines.push_back(1);
    lines.insert(lines.end(), lines_of_body.begin(), lines_of_body.end());
    return lines[static_cast<size_t>(std::clamp<int>(at, 1, static_cast<int>(lines.size())) - 1)];
  };
  const std::string text =
      fmt::format("{}define {} @\"{}\"({}) alwaysinline {{\n{}}}\n", declarations,
                  text_of(operand_type(context, intrinsic.operands[0].buffer)), symbol, parameters, body);
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> parsed = llvm::parseAssemblyString(text, diagnostic, context);
  if (parsed == nullptr) {
    throw EmitError(fmt::format("{}: {}: {}",
                                place_of(intrinsic, implementation, line_of(diagnostic.getLineNo())),
                                diagnostic.getMessage().str(), diagnostic.getLineContents().str()));
  }
  std::string fault;
  llvm::raw_string_ostream said(fault);
  if (llvm::verifyModule(*parsed, &said))
    throw EmitError(
        fmt::format("{}: {}", place_of(intrinsic, implementation, 1), fault.substr(0, fault.find('\n'))));
  mark_assembly(*parsed, text, [&](int line) { return place_of(intrinsic, implementation, line_of(line)); });
  parsed->setDataLayout(module.getDataLayout());
  parsed->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(parsed)))
    throw EmitError(fmt::format("{}: the fragment cannot be linked", place_of(intrinsic, implementation, 1)));
  llvm::Function* function = module.getFunction(symbol);
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  return function;
}

}  // namespace

void FunctionEmitter::emit_intrinsic(const Loop& loop) {
  const TensorCall call = tensor_call(loop);
  const TensorIntrinsic& intrinsic = *call.intrinsic;
  const auto found = intrinsic.implementations.find("llvm");
  if (found == intrinsic.implementations.end())
    throw EmitError(fmt::format("tensor intrinsic {} has no implementation for llvm", intrinsic.name));
  const TensorImplementation& implementation = found->second;
  const std::string place = place_of(intrinsic, implementation, 1);
  statement_values_.clear();
  const auto address = [&](size_t position) {
    const TensorCall::Operand& operand = call.operands[position];
    return pointer(slot_of(operand.buffer), operand.buffer->dtype, linear(operand.offset));
  };
  const auto alignment = [&](size_t position) {
    return llvm::Align(static_cast<uint64_t>(call.operands[position].buffer->dtype.bytes()));
  };
  llvm::SmallVector<llvm::Value*, 4> arguments;
  for (const size_t position : implementation.arguments) {
    llvm::Type* type = operand_type(ir_.getContext(), intrinsic.operands[position].buffer);
    arguments.push_back(access_of(slot_of(call.operands[position].buffer),
                                  ir_.CreateAlignedLoad(type, address(position), alignment(position))));
  }
  llvm::Function* function = nullptr;
  if (implementation.form == TensorImplementation::Form::Fragment) {
    function = fragment_function(state_.module, intrinsic, implementation);
  } else {
    const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(implementation.text);
    if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) {
      throw EmitError(fmt::format("{}: LLVM has no intrinsic {} of fixed types", place, implementation.text));
    }
    function = llvm::Intrinsic::getDeclaration(&state_.module, id);
  }
  llvm::FunctionType* type = function->getFunctionType();
  if (type->getNumParams() != arguments.size()) {
    throw EmitError(fmt::format("{}: {} takes {} arguments, not {}", place, implementation.text,
                                type->getNumParams(), arguments.size()));
  }
  for (unsigned i = 0; i < arguments.size(); ++i)
    arguments[i] = as_parameter(ir_, arguments[i], type->getParamType(i), place);
  llvm::Value* result = ir_.CreateCall(function, arguments);
  llvm::Type* stored = operand_type(ir_.getContext(), intrinsic.operands[0].buffer);
  if (bits_of(result->getType()) != bits_of(stored)) {
    throw EmitError(fmt::format("{}: a result of {} is not stored as {}", place, text_of(result->getType()),
                                text_of(stored)));
  }
  access_of(slot_of(call.operands[0].buffer),
            ir_.CreateAlignedStore(ir_.CreateBitCast(result, stored), address(0), alignment(0)));
}

}  // namespace tunesmith::llvm_target

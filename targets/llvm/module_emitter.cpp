#include "module_emitter.h"

#include "function_emitter.h"

namespace tunesmith::llvm_target {

void set_function_attributes(llvm::Module& module, const CodegenTraits& traits) {
  const std::string width = std::to_string(traits.vector_bits);
  for (llvm::Function& function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-trapping-math", "true");
  }
}

std::unique_ptr<llvm::Module> emit_module(const LoweredProgram& lowered, const std::string& symbol,
                                          const CodegenTraits& traits, llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  ModuleState state{*module, traits, symbol};
  const Program& program = lowered.program;
  llvm::IRBuilder<> ir(context);
  llvm::Type* pointer = ir.getPtrTy();
  llvm::Type* none = ir.getVoidTy();

  auto* kernel =
      llvm::Function::Create(llvm::FunctionType::get(none, {pointer, pointer, pointer, pointer}, false),
                             llvm::GlobalValue::ExternalLinkage, symbol, *module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
  std::vector<Buffer> buffers(program.inputs);
  buffers.insert(buffers.end(), program.outputs.begin(), program.outputs.end());
  std::vector<llvm::Value*> arguments;
  for (size_t i = 0; i < buffers.size(); ++i) {
    arguments.push_back(ir.CreateLoad(pointer, ir.CreateConstInBoundsGEP1_64(pointer, kernel->getArg(0), i)));
  }
  for (const WorkspaceSlot& slot : lowered.workspace) {
    buffers.push_back(slot.buffer);
    arguments.push_back(
        ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), kernel->getArg(1), static_cast<uint64_t>(slot.offset)));
  }
  arguments.push_back(kernel->getArg(2));
  arguments.push_back(kernel->getArg(3));

  const std::vector<llvm::Type*> parameters(arguments.size(), pointer);
  auto* body = llvm::Function::Create(llvm::FunctionType::get(none, parameters, false),
                                      llvm::GlobalValue::InternalLinkage, symbol + ".main", *module);
  ir.CreateCall(body, arguments);
  ir.CreateRetVoid();

  const auto count = static_cast<unsigned>(buffers.size());
  FunctionEmitter emitter(state, body, body->getArg(count), body->getArg(count + 1));
  for (unsigned i = 0; i < count; ++i) {
    body->addParamAttr(i, llvm::Attribute::NoAlias);
    emitter.bind_buffer(buffers[i], body->getArg(i));
  }
  emitter.emit(program.root());
  emitter.finish();
  set_function_attributes(*module, traits);
  return module;
}

}  // namespace tunesmith::llvm_target

#include "module_emitter.h"

#include <algorithm>

#include "emit_setup.h"
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

namespace {

/// A buffer's location in the caller's memory: `offset` bytes into the `position`-th of its pointers.
struct Place {
  Buffer buffer;
  size_t position = 0;
  int64_t offset = 0;
};

/// The locations of a program's arguments, for the kernel and its preparation.
std::vector<Place> places_of(const LoweredProgram& lowered) {
  const Program& program = lowered.program;
  const size_t given = program.inputs.size() - lowered.prepared.size();
  std::vector<Place> places;
  for (size_t i = 0; i < given; ++i) places.push_back({program.inputs[i], places.size(), 0});
  for (const Buffer& output : program.outputs) places.push_back({output, places.size(), 0});
  const size_t last = places.size();
  for (const WorkspaceSlot& slot : lowered.prepared) places.push_back({slot.buffer, last, slot.offset});
  return places;
}

/// The arguments among `all` that `program` has.
std::vector<Place> arguments_of(const Program& program, const std::vector<Place>& all) {
  std::vector<Place> arguments;
  for (const std::vector<Buffer>* list : {&program.inputs, &program.outputs}) {
    for (const Buffer& buffer : *list) {
      arguments.push_back(
          *std::find_if(all.begin(), all.end(), [&](const Place& place) { return place.buffer == buffer; }));
    }
  }
  return arguments;
}

/// The number of pointers to arguments and prepared memory; the pointer to parameters' values follows them.
size_t pointers_before(const std::vector<Place>& all) {
  size_t count = 0;
  for (const Place& place : all) count = std::max(count, place.position + 1);
  return count;
}

void emit_kernel(const LoweredProgram& lowered, const std::vector<Place>& all, const std::string& symbol,
                 const CodegenTraits& traits, llvm::Module& module, UnitCallers& callers) {
  ModuleState state{module, traits, symbol, callers};
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* kernel = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, symbol, module);
  FunctionEmitter emitter(state, kernel, kernel->getArg(2), kernel->getArg(3));
  const auto offset_by = [](llvm::IRBuilder<>& ir, llvm::Value* base, int64_t bytes) {
    return bytes == 0 ? base
                      : ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, static_cast<uint64_t>(bytes));
  };
  for (const Place& place : arguments_of(lowered.program, all)) {
    emitter.bind_buffer(place.buffer, emitter.at_entry([&](llvm::IRBuilder<>& ir) {
      llvm::Value* entry = ir.CreateConstInBoundsGEP1_64(pointer, kernel->getArg(0), place.position);
      return offset_by(ir, ir.CreateLoad(pointer, entry), place.offset);
    }));
  }
  const std::vector<ExtentParameter>& parameters = lowered.program.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const VarNode& var = *parameters[i].var.get();
    llvm::Value* value = emitter.at_entry([&](llvm::IRBuilder<>& ir) {
      llvm::Value* entry = ir.CreateConstInBoundsGEP1_64(pointer, kernel->getArg(0), pointers_before(all));
      llvm::Value* values = ir.CreateLoad(pointer, entry);
      return ir.CreateLoad(ir.getInt64Ty(), ir.CreateConstInBoundsGEP1_64(ir.getInt64Ty(), values, i));
    });
    emitter.bind_var(&var, emitter.parameter(value, {var.lowest, var.highest}));
  }
  for (const WorkspaceSlot& slot : lowered.workspace) {
    emitter.bind_buffer(slot.buffer, emitter.at_entry([&](llvm::IRBuilder<>& ir) {
      return offset_by(ir, kernel->getArg(1), slot.offset);
    }));
  }
  emitter.emit(lowered.program.root());
  emitter.finish();
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(const LoweredProgram& lowered, const std::string& symbol,
                                          const CodegenTraits& traits, llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  const std::vector<Place> places = places_of(lowered);
  UnitCallers callers;
  emit_kernel(lowered, places, symbol, traits, *module, callers);
  if (lowered.prepare)
    emit_kernel(*lowered.prepare, places, prepare_symbol(symbol), traits, *module, callers);
  emit_setup(*module, units_of(lowered), symbol, callers);
  set_function_attributes(*module, traits);
  return module;
}

ModuleSource source_of(const LoweredProgram& lowered, const std::string& symbol) {
  return [&lowered, symbol](llvm::LLVMContext& context, const CodegenTraits& traits) {
    return emit_module(lowered, symbol, traits, context);
  };
}

}  // namespace tunesmith::llvm_target

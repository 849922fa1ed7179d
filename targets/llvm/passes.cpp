#include "passes.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "function_emitter.h"
#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

namespace {

// The emitter has already unrolled, vectorised and counted addresses along with loops, so little is left to
// do, and more passes gain nothing. Fragments of tensor intrinsics are inlined first.
constexpr const char* kPipeline =
    "always-inline,"
    "function(sroa,early-cse<memssa>,loop-mssa(licm),early-cse)";

}  // namespace

struct PassPipeline::State {
  explicit State(llvm::TargetMachine& machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(cgscc);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, cgscc, modules);
    if (llvm::Error error = builder.parsePassPipeline(passes, kPipeline)) {
      throw InternalError("LLVM rejects the pass pipeline: " + llvm::toString(std::move(error)));
    }
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager passes;
};

PassPipeline::PassPipeline(llvm::TargetMachine& machine) : state_(std::make_unique<State>(machine)) {}
PassPipeline::~PassPipeline() = default;

void PassPipeline::run(llvm::Module& module) {
  state_->passes.run(module, state_->modules);
  state_->modules.clear();
  state_->cgscc.clear();
  state_->functions.clear();
  state_->loops.clear();
}

std::string register_buffer_in_memory(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::AllocaInst>(instruction)) continue;
      llvm::StringRef name = instruction.getName();
      if (name.consume_front(kRegisterPrefix)) return name.split(".sroa").first.str();
    }
  }
  return {};
}

}  // namespace tunesmith::llvm_target

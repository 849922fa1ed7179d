#include "code_writer.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

namespace {

/// Forwards passes, except useless ones.
class UsefulPasses final : public llvm::legacy::PassManagerBase {
 public:
  UsefulPasses(llvm::legacy::PassManagerBase& taker, std::set<std::string>& left_out)
      : taker_(taker), left_out_(left_out) {}

  void add(llvm::Pass* pass) override {
    std::string name = pass->getPassName().str();
    if (!passes_without_use().contains(name)) {
      taker_.add(pass);
      return;
    }
    left_out_.insert(std::move(name));
    delete pass;  // like a pass manager that does not need it
  }

 private:
  llvm::legacy::PassManagerBase& taker_;
  std::set<std::string>& left_out_;
};

}  // namespace

const std::set<std::string>& passes_without_use() {
  static const std::set<std::string> names{
      // What they look for is in no emitted program: integers of more than 64 bits, comparisons of memory,
      // garbage collection, exceptions, thread-local variables, computed jumps, profiles, debugging.
      "Expand large div/rem", "Expand large fp convert", "Merge contiguous icmps into a memcmp",
      "Expand memcmp() to load/stores", "Lower Garbage Collection Instructions", "Shadow Stack GC Lowering",
      "Analyze Machine Code For Garbage Collection", "Fixup Statepoint Caller Saved", "TLS Variable Hoist",
      "Local Dynamic TLS Access Clean-up", "Expand indirectbr instructions", "Exception handling preparation",
      "Prepare callbr", "Contiguously Lay Out Funclets", "StackMap Liveness Analysis",
      "Instrument function entry/exit with calls to e.g. mcount() (post inlining)", "Insert fentry calls",
      "Insert XRay ops", "Implement the 'patchable-function' attribute", "Pseudo Probe Inserter",
      "Remove Redundant DEBUG_VALUE analysis", "Live DEBUG_VALUE analysis",
      "Machine Sanitizer Binary Metadata", "Stack Frame Layout Analysis", "Register Allocation Pass Scoring",
      "Check CFA info and insert CFI instructions if needed",
      // These have to be requested, and are not.
      "Replace intrinsics with calls to vector library", "Safe Stack instrumentation pass",
      "Early If-Conversion", "Post RA top-down list latency scheduler", "Insert KCFI indirect call checks",
      "X86 PIC Global Base Reg Initialization", "Argument Stack Rebase",
      "X86 Windows Fixup Buffer Security Check", "X86 speculative load hardening",
      "X86 Load Value Injection (LVI) Load Hardening", "X86 Load Value Injection (LVI) Ret-Hardening",
      "X86 Speculative Execution Side Effect Suppression", "X86 Indirect Branch Tracking",
      "X86 Indirect Thunks", "X86 Return Thunks", "X86 Atom pad short functions",
      "X86 Discriminate Memory Operands", "X86 Insert Cache Prefetches", "X86 insert wait instruction",
      "Merge disjoint stack slots", "Local Stack Slot Allocation",
      // They changed nothing in programs of four operators, or made none faster. Strength reduction, which
      // the emitter does itself (ScopedValues::reduce_strength), took a quarter of the total time.
      "Loop Strength Reduction", "Constant Hoisting", "X86 Domain Reassignment Pass",
      "Partially inline calls to library functions", "Early Tail Duplication", "Tail Duplication",
      "Optimize machine instruction PHIs", "Live Range Shrink", "Machine InstCombiner", "X86 Fixup SetCC",
      "Shrink Wrapping analysis", "PostRA Machine Sink", "Machine Loop Invariant Code Motion",
      "Machine Late Instructions Cleanup Pass"};
  return names;
}

struct CodeWriter::State {
  llvm::SmallString<0> output;
  llvm::raw_svector_ostream stream{output};
  llvm::legacy::PassManager passes;
  std::set<std::string> left_out;
};

CodeWriter::CodeWriter(llvm::TargetMachine& machine, llvm::CodeGenFileType file_type)
    : state_(std::make_unique<State>()) {
  UsefulPasses useful(state_->passes, state_->left_out);
  if (machine.addPassesToEmitFile(useful, state_->stream, nullptr, file_type, /*DisableVerify=*/true))
    throw EnvironmentError("LLVM cannot write code for " + machine.getTargetTriple().str());
}

CodeWriter::~CodeWriter() = default;

std::string CodeWriter::write(llvm::Module& module) {
  state_->output.clear();
  state_->passes.run(module);
  return state_->output.str().str();
}

const std::set<std::string>& CodeWriter::left_out() const { return state_->left_out; }

}  // namespace tunesmith::llvm_target

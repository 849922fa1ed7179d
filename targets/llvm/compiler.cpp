#include "compiler.h"

#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "code_writer.h"
#include "diagnostics.h"
#include "emit_error.h"
#include "passes.h"

namespace tunesmith::llvm_target {

namespace {

llvm::CodeGenOptLevel codegen_level(const std::string& name) {
  if (name == "aggressive") return llvm::CodeGenOptLevel::Aggressive;
  return name == "default" ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::Less;
}

/// Once for the process. The parser is for inline assembly in fragments of tensor intrinsics.
void initialise_targets() {
  static const bool once = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
    return true;
  }();
  static_cast<void>(once);
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine,
                                                         const TargetOptions& options) {
  initialise_targets();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, message);
  if (target == nullptr)
    throw EnvironmentError(fmt::format("LLVM cannot compile for {}: {}", machine.triple, message));
  llvm::TargetOptions codegen;
  codegen.AllowFPOpFusion = options.contract ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  // Small and position-independent: one object serves the JIT and a shared library.
  std::unique_ptr<llvm::TargetMachine> result(
      target->createTargetMachine(machine.triple, machine.cpu, machine.feature_string, codegen,
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, codegen_level(options.codegen)));
  if (!result) throw EnvironmentError(fmt::format("LLVM cannot compile for {}", machine.triple));
  return result;
}

CodegenTraits traits_of(const Machine& machine, const TargetOptions& options) {
  CodegenTraits traits;
  traits.vector_bits = machine.vector_bits;
  traits.contract = options.contract;
  traits.reassociate = options.reassociate;
  traits.reciprocal = options.reciprocal;
  traits.fma = machine.has_fma();
  traits.f16_arithmetic = machine.has("avx512fp16") || machine.has("fullfp16");
  traits.bf16_convert = machine.has("avx512bf16") && machine.has("avx512vl");
  if (machine.has("avx2") && traits.fma && machine.vector_bits >= 256) traits.permuted_lanes = 8;
  if (machine.has("avx512f") && traits.fma && machine.vector_bits == 512) traits.permuted_lanes = 16;
  return traits;
}

/// With it LLVM puts vectors of that many bits into single registers of SVE.
void fix_vector_length(llvm::Module& module, int64_t bits) {
  constexpr int64_t kGranule = 128;
  const auto granules = static_cast<unsigned>(bits / kGranule);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(module.getContext(), granules, granules));
  }
}

}  // namespace

struct Compiler::State {
  State(const Machine& the_machine, const TargetOptions& the_options)
      : machine(make_target_machine(the_machine, the_options)),
        pipeline(*machine),
        object_writer(std::in_place, *machine, llvm::CodeGenFileType::ObjectFile),
        traits(traits_of(the_machine, the_options)),
        triple(the_machine.triple),
        sve_bits(the_machine.sve_vectors() ? the_machine.vector_bits : 0),
        verify(the_options.verify) {}

  std::unique_ptr<llvm::TargetMachine> machine;
  PassPipeline pipeline;
  std::optional<CodeWriter> object_writer;
  CodegenTraits traits;
  std::string triple;
  int64_t sve_bits;
  bool verify;

  /// After an error, starts with a new code generator.
  void renew() { object_writer.emplace(*machine, llvm::CodeGenFileType::ObjectFile); }

  void check(const llvm::Module& module) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(module, &stream)) throw InternalError("the emitted LLVM IR is wrong: " + text);
  }
};

Compiler::Compiler(const Machine& machine, const TargetOptions& options)
    : state_(std::make_unique<State>(machine, options)) {}
Compiler::~Compiler() = default;

tl::expected<std::string, std::string> Compiler::compile(const ModuleSource& source, OutputKind kind) {
  // A context for each module: types and constants of a whole run would pile up in a shared one.
  llvm::LLVMContext context;
  Diagnostics diagnostics(context);
  std::unique_ptr<llvm::Module> module;
  try {
    module = source(context, state_->traits);
  } catch (const EmitError& error) {
    return tl::unexpected(std::string(error.what()));
  }
  module->setTargetTriple(state_->triple);
  module->setDataLayout(state_->machine->createDataLayout());
  if (state_->sve_bits > 0) fix_vector_length(*module, state_->sve_bits);
  if (state_->verify) state_->check(*module);
  diagnostics.speak_of(*module);
  state_->pipeline.run(*module);
  const std::string in_memory = register_buffer_in_memory(*module);
  if (!in_memory.empty())
    return tl::unexpected(fmt::format("register buffer {} stayed in memory", in_memory));

  std::string text;
  if (kind == OutputKind::Object) {
    text = state_->object_writer->write(*module);
    if (diagnostics.failed()) state_->renew();
  } else if (kind == OutputKind::Assembly) {
    text = CodeWriter(*state_->machine, llvm::CodeGenFileType::AssemblyFile).write(*module);
  }
  if (diagnostics.failed()) return tl::unexpected(diagnostics.error());
  if (kind != OutputKind::Ir) return text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

struct CompilerPool::State {
  Machine machine;
  TargetOptions options;
  std::mutex mutex;
  std::vector<std::unique_ptr<Compiler>> idle;
};

CompilerPool::CompilerPool(const Machine& machine, const TargetOptions& options)
    : state_(new State{machine, options, {}, {}}) {}
CompilerPool::~CompilerPool() = default;

tl::expected<std::string, std::string> CompilerPool::compile(const ModuleSource& source, OutputKind kind) {
  std::unique_ptr<Compiler> compiler;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->idle.empty()) {
      compiler = std::move(state_->idle.back());
      state_->idle.pop_back();
    }
  }
  if (!compiler) compiler = std::make_unique<Compiler>(state_->machine, state_->options);
  auto result = compiler->compile(source, kind);
  const std::lock_guard lock(state_->mutex);
  state_->idle.push_back(std::move(compiler));
  return result;
}

}  // namespace tunesmith::llvm_target

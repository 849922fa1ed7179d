#include "loader.h"

#include <atomic>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include "emit_setup.h"
#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

namespace {

namespace orc = llvm::orc;

template <typename T>
T or_throw(llvm::Expected<T> result, const char* what) {
  if (result) return std::move(*result);
  throw EnvironmentError(fmt::format("{}: {}", what, llvm::toString(result.takeError())));
}

}  // namespace

struct Loader::State {
  std::unique_ptr<orc::LLJIT> jit;
  /// Functions that kernels call: the C library's mathematics, used by the emitter and the code generator.
  orc::JITDylib* library = nullptr;
  uint64_t loaded = 0;
};

namespace {

class JitKernel final : public LoadedKernel {
 public:
  JitKernel(std::shared_ptr<void> owner, orc::ExecutionSession& session, orc::JITDylib& library,
            tunesmith_kernel function, tunesmith_kernel prepare_function)
      : owner_(std::move(owner)),
        session_(session),
        library_(library),
        entry_(function),
        prepare_(prepare_function) {}
  ~JitKernel() override {
    // A failure here only leaves the code in memory.
    llvm::consumeError(session_.removeJITDylib(library_));
  }
  tunesmith_kernel entry() const override { return entry_; }
  tunesmith_kernel prepare() const override { return prepare_; }
  std::optional<KernelFault> take_fault() override {
    const int64_t fault = fault_ == nullptr ? 0 : std::atomic_ref(*fault_).exchange(0);
    if (fault == 0) return std::nullopt;
    return KernelFault{KernelFault::Kind::NotSetUp, setup_failure(setup_, fault)};
  }
  /// Its threads report a failed set-up at `fault`.
  void watch(const SetupStep& setup, int64_t* fault) {
    setup_ = setup;
    fault_ = fault;
  }

 private:
  std::shared_ptr<void> owner_;
  orc::ExecutionSession& session_;
  orc::JITDylib& library_;
  tunesmith_kernel entry_;
  tunesmith_kernel prepare_;
  SetupStep setup_;
  int64_t* fault_ = nullptr;
};

}  // namespace

Loader::Loader() : state_(std::make_shared<State>()) {
  if (llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter()) {
    throw EnvironmentError("LLVM has no back end for this processor");
  }
  orc::LLJITBuilder builder;
  // Kernels have no static initialisers, so that no platform need be emulated.
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
  state_->jit = or_throw(builder.create(), "LLVM's loader");
  state_->library = &state_->jit->getExecutionSession().createBareJITDylib("library");
  state_->library->addGenerator(or_throw(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
                                             state_->jit->getDataLayout().getGlobalPrefix()),
                                         "LLVM's loader"));
}

Loader::~Loader() = default;

std::unique_ptr<LoadedKernel> Loader::load(const CompiledKernel& kernel) {
  constexpr const char* kWhat = "the kernel cannot be loaded";
  orc::LLJIT& jit = *state_->jit;
  orc::ExecutionSession& session = jit.getExecutionSession();
  // A name space of its own, so that kernels of one name live side by side.
  orc::JITDylib& library = session.createBareJITDylib(fmt::format("kernel{}", state_->loaded++));
  library.addToLinkOrder(*state_->library);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(kernel.object, "kernel.o");
  llvm::Error added = jit.addObjectFile(library, std::move(buffer));
  const auto refuse = [&](llvm::Error error) {
    llvm::consumeError(session.removeJITDylib(library));
    throw EnvironmentError(fmt::format("{}: {}", kWhat, llvm::toString(std::move(error))));
  };
  if (added) refuse(std::move(added));
  const auto find = [&](const std::string& symbol) {
    auto address = jit.lookup(library, symbol);
    if (!address) refuse(address.takeError());
    return *address;
  };
  const auto entry = find(kernel.symbol).toPtr<tunesmith_kernel>();
  const auto prepare = kernel.prepare ? find(kernel.prepare->symbol).toPtr<tunesmith_kernel>() : nullptr;
  auto loaded = std::make_unique<JitKernel>(state_, session, library, entry, prepare);
  if (!kernel.setup) return loaded;
  if (const int64_t answer = find(kernel.setup->symbol).toPtr<tunesmith_setup>()(); answer != 0)
    throw EnvironmentError(setup_failure(*kernel.setup, answer));
  loaded->watch(*kernel.setup, find(kernel.setup->fault).toPtr<int64_t*>());
  return loaded;
}

}  // namespace tunesmith::llvm_target

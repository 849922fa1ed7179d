#include "emit_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include "fragment.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

namespace {

/// A part of the set-up: one of the two texts of a unit.
struct SetupPart {
  const UnitSetup* unit = nullptr;
  bool of_thread = false;
  int64_t number = 0;  // from 1

  const UnitSetup::Code& code() const { return of_thread ? unit->thread : unit->process; }
  const char* whose() const { return of_thread ? "thread" : "process"; }
  std::string name_at(int line) const {
    SourceLocation place = code().location;
    if (place.line > 0) place.line += line - 1;
    place.column = 0;
    return fmt::format("{}{}extension {}: the set-up of the {}", place.str(), place.str().empty() ? "" : ": ",
                       unit->extension, whose());
  }
};

std::vector<SetupPart> parts_of(const std::vector<UnitSetup>& units) {
  std::vector<SetupPart> parts;
  for (const UnitSetup& unit : units) {
    for (const bool of_thread : {false, true}) {
      SetupPart part{&unit, of_thread, static_cast<int64_t>(parts.size()) + 1};
      if (!part.code().text.empty()) parts.push_back(part);
    }
  }
  return parts;
}

void add_units_of(const Program& program, std::vector<UnitSetup>& units) {
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorContent); };
  for (const Loop* loop : collect<Loop>(program.root(), is_call)) {
    const TensorIntrinsicPtr intrinsic = tensor_call(*loop).intrinsic;
    const auto found = intrinsic->implementations.find("llvm");
    if (found == intrinsic->implementations.end()) continue;
    const UnitSetup& setup = found->second.setup;
    if (setup.process.text.empty() && setup.thread.text.empty()) continue;
    if (std::ranges::find(units, setup.extension, &UnitSetup::extension) == units.end())
      units.push_back(setup);
  }
}

/// Calls the parts in sequence; at the first failure, `on_failure` gets the result
/// in a separate block. Afterwards `ir` is at the point where all have succeeded.
void call_parts(llvm::IRBuilder<>& ir, llvm::Function* in, const std::vector<SetupPart>& parts,
                const std::function<void(llvm::Value*)>& on_failure) {
  for (const SetupPart& part : parts) {
    Fragment fragment;
    fragment.symbol = fmt::format("setup.{}.{}", part.whose(), part.unit->extension);
    fragment.result = "i32";
    fragment.text = part.code().text;
    fragment.place = [&](int line) { return part.name_at(line); };
    llvm::Value* answer = ir.CreateCall(fragment_function(*in->getParent(), fragment));
    llvm::BasicBlock* failed = llvm::BasicBlock::Create(ir.getContext(), "failed", in);
    llvm::BasicBlock* done = llvm::BasicBlock::Create(ir.getContext(), "done", in);
    ir.CreateCondBr(ir.CreateICmpNE(answer, ir.getInt32(0)), failed, done);
    ir.SetInsertPoint(failed);
    const auto high = static_cast<uint64_t>(part.number) << 32U;
    on_failure(ir.CreateOr(ir.CreateZExt(answer, ir.getInt64Ty()), ir.getInt64(high)));
    ir.SetInsertPoint(done);
  }
}

void emit_process(llvm::Module& module, const std::vector<SetupPart>& parts, const std::string& symbol) {
  llvm::IRBuilder<> ir(module.getContext());
  auto* setup = llvm::Function::Create(llvm::FunctionType::get(ir.getInt64Ty(), false),
                                       llvm::GlobalValue::ExternalLinkage, symbol, module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", setup));
  call_parts(ir, setup, parts, [&](llvm::Value* answer) { ir.CreateRet(answer); });
  ir.CreateRet(ir.getInt64(0));
}

/// Replaces `function` by a new function of the same name that calls it after setting up the thread.
void guard_function(llvm::Function* function, const std::vector<SetupPart>& parts,
                    llvm::GlobalVariable* fault) {
  llvm::Module& module = *function->getParent();
  llvm::IRBuilder<> ir(module.getContext());
  auto* guarded = llvm::Function::Create(function->getFunctionType(), function->getLinkage(), "", module);
  guarded->takeName(function);
  function->setName(guarded->getName() + ".ready");
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  function->replaceAllUsesWith(guarded);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", guarded));
  call_parts(ir, guarded, parts, [&](llvm::Value* answer) {
    llvm::StoreInst* store = ir.CreateAlignedStore(answer, fault, llvm::Align(8));
    store->setAtomic(llvm::AtomicOrdering::Monotonic);
    ir.CreateRetVoid();
  });
  llvm::SmallVector<llvm::Value*, 4> arguments;
  for (llvm::Argument& argument : guarded->args()) arguments.push_back(&argument);
  ir.CreateCall(function, arguments);
  ir.CreateRetVoid();
}

}  // namespace

std::vector<UnitSetup> units_of(const LoweredProgram& lowered) {
  std::vector<UnitSetup> units;
  add_units_of(lowered.program, units);
  if (lowered.prepare) add_units_of(lowered.prepare->program, units);
  return units;
}

std::optional<SetupStep> setup_step(const std::vector<UnitSetup>& units, const std::string& symbol) {
  if (units.empty()) return std::nullopt;
  SetupStep step{symbol + "_setup", symbol + "_setup_fault", {}};
  for (const SetupPart& part : parts_of(units)) step.parts.push_back(part.name_at(1));
  return step;
}

void emit_setup(llvm::Module& module, const std::vector<UnitSetup>& units, const std::string& symbol,
                const UnitCallers& callers) {
  const std::optional<SetupStep> step = setup_step(units, symbol);
  if (!step) return;
  std::vector<SetupPart> of_process = parts_of(units);
  std::vector<SetupPart> of_thread = of_process;
  std::erase_if(of_process, [](const SetupPart& part) { return part.of_thread; });
  std::erase_if(of_thread, [](const SetupPart& part) { return !part.of_thread; });
  emit_process(module, of_process, step->symbol);
  llvm::Type* type = llvm::Type::getInt64Ty(module.getContext());
  auto* fault =
      new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
                               llvm::Constant::getNullValue(type), step->fault);
  fault->setAlignment(llvm::Align(8));
  for (const auto& [function, extensions] : callers) {
    std::vector<SetupPart> its = of_thread;
    std::erase_if(its, [&](const SetupPart& part) { return !extensions.contains(part.unit->extension); });
    if (!its.empty()) guard_function(function, its, fault);
  }
}

std::string setup_failure(const SetupStep& step, int64_t answer) {
  const auto number = static_cast<size_t>(answer >> 32);
  const std::string part = number >= 1 && number <= step.parts.size() ? step.parts[number - 1] : "the set-up";
  return fmt::format("{} failed: it returned {}", part, static_cast<int32_t>(answer));
}

}  // namespace tunesmith::llvm_target

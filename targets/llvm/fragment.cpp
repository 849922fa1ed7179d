#include "fragment.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "assembly_places.h"
#include "emit_error.h"

namespace tunesmith::llvm_target {

namespace {

bool is_of_module(const std::string& line) {
  return line.starts_with("declare ") || line.starts_with("attributes ") || line.starts_with("@");
}

/// The text of a whole module; `lines` maps its lines to those of the fragment.
struct ModuleText {
  explicit ModuleText(const Fragment& fragment) {
    std::string before;
    std::string body;
    std::vector<int> lines_of_body;
    int number = 0;
    for (size_t begin = 0; begin < fragment.text.size();) {
      const size_t end = std::min(fragment.text.find('\n', begin), fragment.text.size());
      const std::string line = fragment.text.substr(begin, end - begin);
      (is_of_module(line) ? before : body) += line + "\n";
      (is_of_module(line) ? lines : lines_of_body).push_back(++number);
      begin = end + 1;
    }
    text = fmt::format("{}define {} @\"{}\"({}) {} {{\n{}}}\n", before, fragment.result, fragment.symbol,
                       fragment.parameters, fragment.attributes, body);
    // The function's head lies in between; errors in it are attributed to line 1.
    lines.push_back(1);
    lines.insert(lines.end(), lines_of_body.begin(), lines_of_body.end());
  }

  int line_of(int at) const {
    return lines[static_cast<size_t>(std::clamp<int>(at, 1, static_cast<int>(lines.size())) - 1)];
  }

  std::string text;
  std::vector<int> lines;
};

bool is_own_or_parameter(const llvm::Value* pointer) {
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
  return llvm::isa<llvm::Argument>(object) || llvm::isa<llvm::AllocaInst>(object);
}

}  // namespace

llvm::Function* fragment_function(llvm::Module& module, const Fragment& fragment) {
  if (llvm::Function* known = module.getFunction(fragment.symbol)) return known;
  const ModuleText whole(fragment);
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> parsed =
      llvm::parseAssemblyString(whole.text, diagnostic, module.getContext());
  if (parsed == nullptr) {
    throw EmitError(fmt::format("{}: {}: {}", fragment.place(whole.line_of(diagnostic.getLineNo())),
                                diagnostic.getMessage().str(), diagnostic.getLineContents().str()));
  }
  std::string fault;
  llvm::raw_string_ostream said(fault);
  if (llvm::verifyModule(*parsed, &said))
    throw EmitError(fmt::format("{}: {}", fragment.place(1), fault.substr(0, fault.find('\n'))));
  mark_assembly(*parsed, whole.text, [&](int line) { return fragment.place(whole.line_of(line)); });
  parsed->setDataLayout(module.getDataLayout());
  parsed->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(parsed)))
    throw EmitError(fmt::format("{}: the fragment cannot be linked", fragment.place(1)));
  llvm::Function* function = module.getFunction(fragment.symbol);
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  return function;
}

bool touches_parameters_only(const llvm::Function& function) {
  return std::ranges::all_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    if (!instruction.mayReadOrWriteMemory()) return true;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return is_own_or_parameter(load->getPointerOperand());
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return is_own_or_parameter(store->getPointerOperand());
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && call->onlyAccessesArgMemory() &&
           std::ranges::all_of(call->args(), [](const llvm::Use& argument) {
             return !argument->getType()->isPointerTy() || is_own_or_parameter(argument);
           });
  });
}

}  // namespace tunesmith::llvm_target

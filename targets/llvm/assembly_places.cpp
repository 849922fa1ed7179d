#include "assembly_places.h"

#include <sstream>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Metadata.h>

#include "tunesmith/support/hash.h"

namespace tunesmith::llvm_target {
namespace {

constexpr const char* kPlaces = "tunesmith.assembly_places";

/// The line numbers, from 1, of lines with the word asm.
std::vector<int> lines_with_assembly(const std::string& text) {
  std::vector<int> lines;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find(" asm ") != std::string::npos) lines.push_back(number);
  }
  return lines;
}

}  // namespace

void mark_assembly(llvm::Module& module, const std::string& text,
                   const std::function<std::string(int line)>& place_of) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && call->isInlineAsm()) calls.push_back(call);
    }
  }
  if (calls.empty()) return;
  const std::vector<int> lines = lines_with_assembly(text);
  llvm::LLVMContext& context = module.getContext();
  for (size_t i = 0; i < calls.size(); ++i) {
    // If a string or comment also has the word, uses the beginning instead.
    const std::string place = place_of(lines.size() == calls.size() ? lines[i] : 1);
    constexpr uint64_t kMask = 0x7fffffff;
    const uint64_t cookie = (hash_bytes(place) & kMask) | 1;
    auto* number =
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), cookie));
    calls[i]->setMetadata("srcloc", llvm::MDNode::get(context, number));
    module.getOrInsertNamedMetadata(kPlaces)->addOperand(
        llvm::MDNode::get(context, {number, llvm::MDString::get(context, place)}));
  }
}

std::string assembly_place(const llvm::Module& module, uint64_t cookie) {
  const llvm::NamedMDNode* places = module.getNamedMetadata(kPlaces);
  if (places == nullptr) return {};
  for (const llvm::MDNode* place : places->operands()) {
    if (llvm::mdconst::extract<llvm::ConstantInt>(place->getOperand(0))->getZExtValue() == cookie)
      return llvm::cast<llvm::MDString>(place->getOperand(1))->getString().str();
  }
  return {};
}

}  // namespace tunesmith::llvm_target

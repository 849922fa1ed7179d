#include "processors.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/AArch64TargetParser.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>

namespace tunesmith::llvm_target {

namespace {

using Names = llvm::SmallVector<llvm::StringRef, 128>;

/// LLVM's list for AArch64 contains more than processor names: "generic" is the common subset.
constexpr const char* kNoProcessor = "generic";

Names x86_names() {
  Names names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return names;
}

Names aarch64_names() {
  Names names;
  llvm::AArch64::fillValidCPUArchList(names);
  names.erase(std::remove(names.begin(), names.end(), llvm::StringRef(kNoProcessor)), names.end());
  return names;
}

bool contains(const Names& names, const std::string& name) {
  return std::ranges::find(names, llvm::StringRef(name)) != names.end();
}

/// This process's triple, or Linux's for another architecture.
std::string triple_of(llvm::Triple::ArchType architecture, const char* linux_triple) {
  std::string own = llvm::sys::getProcessTriple();
  return llvm::Triple(own).getArch() == architecture ? own : linux_triple;
}

Processor x86_processor(const std::string& name) {
  Processor found{triple_of(llvm::Triple::x86_64, "x86_64-unknown-linux-gnu"), {}};
  llvm::SmallVector<llvm::StringRef, 128> features;
  llvm::X86::getFeaturesForCPU(name, features);
  for (const llvm::StringRef feature : features) found.features.insert(feature.str());
  return found;
}

Processor aarch64_processor(const std::string& name) {
  Processor found{triple_of(llvm::Triple::aarch64, "aarch64-unknown-linux-gnu"), {}};
  std::vector<llvm::StringRef> features;
  llvm::AArch64::getExtensionFeatures(llvm::AArch64::parseCpu(name)->getImpliedExtensions(), features);
  for (llvm::StringRef feature : features) {
    if (feature.consume_front("+")) found.features.insert(feature.str());
  }
  return found;
}

}  // namespace

Processor find_processor(const std::string& name, const SourceLocation& location) {
  const Names x86 = x86_names(), aarch64 = aarch64_names();
  if (contains(x86, name)) return x86_processor(name);
  if (contains(aarch64, name)) return aarch64_processor(name);
  std::vector<std::string> known{"native"};
  for (const Names* names : {&x86, &aarch64}) {
    for (const llvm::StringRef one : *names) known.push_back(one.str());
  }
  throw UserError(location, fmt::format("unknown processor '{}' for LLVM", name), suggest(name, known));
}

}  // namespace tunesmith::llvm_target

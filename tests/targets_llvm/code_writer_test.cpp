#include "code_writer.h"

#include <gtest/gtest.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>

#include "lowered_program.h"

namespace tunesmith {
namespace {

/// A target machine. Makes a target first, which sets LLVM up.
std::unique_ptr<llvm::TargetMachine> target_machine(llvm::CodeGenOptLevel level) {
  testing::make_target()->assembly(testing::gmm_tile_program(16, 16, 8, 4, 8, 4), "kernel");
  const std::string triple = llvm::sys::getProcessTriple();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

TEST(CodeWriter, LeavesOutThePassesWithoutUse) {
  // If LLVM renamed a pass, it would silently run again.
  const auto machine = target_machine(llvm::CodeGenOptLevel::Aggressive);
  const llvm_target::CodeWriter writer(*machine, llvm::CodeGenFileType::ObjectFile);
  EXPECT_EQ(writer.left_out(), llvm_target::passes_without_use());
}

TEST(CodeWriter, ChangesNoOptionOfTheProcess) {
  const auto machine = target_machine(llvm::CodeGenOptLevel::Less);
  const llvm_target::CodeWriter writer(*machine, llvm::CodeGenFileType::ObjectFile);
  EXPECT_TRUE(writer.left_out().contains("Loop Strength Reduction"));
  for (const char* name : {"disable-lsr", "disable-constant-hoisting", "disable-x86-domain-reassignment"})
    EXPECT_EQ(llvm::cl::getRegisteredOptions().lookup(name)->getNumOccurrences(), 0) << name;
}

}  // namespace
}  // namespace tunesmith

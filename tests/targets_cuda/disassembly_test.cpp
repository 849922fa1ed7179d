// The machine code of a kernel as NVIDIA's disassembler prints it, and the instructions of its main loop.
// Here the disassembler is a script, so that the tests need none.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nvrtc/disassembler.h"
#include "nvrtc/nvrtc.h"
#include "run_candidate.h"
#include "support/temporary_folder.h"
#include "text/main_loop.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A loop that copies, one that multiplies, inside of another one, and a kernel without loops.
constexpr const char* kDisassembly = R"(
	.section	.text.product,"ax",@progbits
product:
.text.product:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E R2, [R4.64] ;
        /*0020*/              @!P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0030*/                   IADD3 R9, R9, 0x1, RZ ;
.L_x_3:
        /*0040*/                   LDSM.16.M88.4 R8, [R3] ;
        /*0050*/                   HMMA.16816.F32 R12, R8, R16, R12 ;
        /*0060*/              @P1  HMMA.16816.F32 R20, R8, R18, R20 ;
        /*0070*/              @P0  BRA `(.L_x_3) ;
        /*0080*/                   FFMA R12, R12, R1, R1 ;
        /*0090*/              @P2  BRA `(.L_x_2) ;
        /*00a0*/              @P3  BRA `(.L_x_4) ;
.L_x_4:
        /*00b0*/                   EXIT ;
.text.copy:
.L_x_5:
        /*0000*/                   LDG.E R2, [R4.64] ;
        /*0010*/              @!P0 BRA `(.L_x_5) ;
)";

TEST(MainLoopOfCode, IsTheOneThatMultipliesMost) {
  const auto loop = find_main_loop(kDisassembly, "product");
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->text(), "4 instructions: HMMA 2 (50.0 %), BRA 1 (25.0 %), LDSM 1 (25.0 %)");
}

TEST(MainLoopOfCode, IsNotThereWhereNoLoopMultiplies) {
  EXPECT_FALSE(find_main_loop(kDisassembly, "copy"));
  EXPECT_FALSE(find_main_loop(kDisassembly, "other"));
}

class Disassembler : public ::testing::Test {
 protected:
  ~Disassembler() override { unsetenv("TUNESMITH_NVDISASM"); }

  void chosen(const std::string& script) {
    const std::string file = folder_.path() / "disassembler";
    std::ofstream(file) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("TUNESMITH_NVDISASM", file.c_str(), 1);
  }
  std::string assembly() {
    const Program copy = test::program_of("X: {shape: [4], dtype: f32}", "O[i<4] = X[i]");
    return test::target().assembly(lower_for(test::target(), copy), "k");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Disassembler, IsGivenTheCode) {
  chosen("test \"$1\" = -c && cat \"$2\"");
  EXPECT_EQ(disassemble(find_disassembler(), "the code"), "the code");
}

TEST_F(Disassembler, ThatFailsIsAnError) {
  chosen("echo 'no such architecture' >&2; exit 1");
  try {
    disassemble(find_disassembler(), "the code");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("refuses the code: no such architecture"));
  }
}

TEST_F(Disassembler, GivesTheAssemblyOfAProgram) {
  if (Nvrtc::find() == nullptr) GTEST_SKIP() << "no NVRTC";
  chosen("echo the machine code");
  EXPECT_EQ(assembly(), "the machine code\n");
}

TEST_F(Disassembler, ThatIsAbsentIsSaidBeforeTheText) {
  setenv("TUNESMITH_NVDISASM", "/no/disassembler", 1);
  EXPECT_THAT(assembly(), StartsWith("// Not the machine code: "));
  EXPECT_THAT(assembly(), HasSubstr("__global__"));
}

}  // namespace
}  // namespace tunesmith::cuda

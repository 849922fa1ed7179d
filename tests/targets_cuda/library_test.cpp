// The library that `build` writes for a GPU.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidates/kernel_library.h"
#include "nvrtc/nvrtc.h"
#include "run_candidate.h"
#include "temporary_folder.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class KernelLibrary : public ::testing::Test {
 protected:
  LibraryFiles written(const Schedule& schedule, const Program& program, const std::string& name) {
    const auto kernel = test::target().compile(lower_for(test::target(), schedule.program()), "norm_kernel");
    EXPECT_TRUE(kernel.has_value()) << kernel.error();
    return test::target().build_library({&*kernel, &program, name, folder_.path(), "row_norm, /* 1 us */"});
  }

  static std::string content(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  tunesmith::test::TemporaryFolder folder_;
};

TEST_F(KernelLibrary, IsCudaWithAFunctionThatLaunchesTheKernels) {
  const Program program =
      test::program_of("X: {shape: [6, 12], dtype: f32}, stream: {shape: [12], dtype: f16}",
                       "S[i<6] = sum(k<12) X[i, k]\n  O[i<6, j<12] = X[i, j] / S[i] + f32(stream[j])");
  Schedule s(program.clone());
  s.bind(s.get_loops(s.get_block("S"))[0], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[0], "block.x");
  const LibraryFiles files = written(s, program, "norm");
  EXPECT_EQ(files.library, folder_ / "norm.cu");
  EXPECT_EQ(files.header, folder_ / "norm.h");
  const std::string header = content(files.header);
  EXPECT_THAT(header,
              HasSubstr("int norm(const float* X, const uint16_t* stream_1, float* O, void* workspace, "
                        "void* stream);"));
  EXPECT_THAT(header, HasSubstr("#define NORM_WORKSPACE_BYTES 64\n"));
  EXPECT_THAT(header, HasSubstr("X: input f32[6, 12]"));
  const std::string text = content(files.library);
  EXPECT_THAT(text, HasSubstr("norm_kernel_0<<<dim3(1, 1, 1), dim3(6, 1, 1), 0, (cudaStream_t)stream>>>"
                              "((float*)X, (float*)((char*)workspace + 0));"));
  EXPECT_THAT(text, HasSubstr("norm_kernel_1<<<dim3(6, 1, 1)"));
  EXPECT_THAT(files.others, ::testing::Contains((folder_ / "tunesmith_device.cuh").string()));
  if (Nvrtc::find() != nullptr) {
    EXPECT_THAT(files.others, ::testing::Contains((folder_ / "norm.cubin").string()));
  }
  for (const std::string& file : files.others) EXPECT_GT(fs::file_size(file), 100u) << file;
  // The header is C, and C++.
  for (const char* language : {"c", "c++"}) {
    const ProcessResult checked = run_process(
        {find_in_path({"g++", "c++"}), "-x", language, "-Wall", "-Werror", "-fsyntax-only", files.header});
    EXPECT_TRUE(checked.end.succeeded()) << checked.output;
  }
}

TEST_F(KernelLibrary, RefusesANameThatIsNone) {
  const Program program = test::program_of("X: {shape: [8], dtype: f32}", "O[i<8] = X[i]");
  const Schedule s(program.clone());
  EXPECT_THROW(written(s, program, "no-name"), UserError);
}

}  // namespace
}  // namespace tunesmith::cuda

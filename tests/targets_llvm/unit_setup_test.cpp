// The set-up of an extension's unit: in the process and in each thread, in loaded kernels and built
// libraries.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "temporary_folder.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// An emulated unit whose instruction returns zeros in a thread without set-up, which needs a key from the
/// process's set-up. Uses inline assembly, a branch and state.
std::string needy_unit(const std::string& process_answer, const std::string& thread_answer) {
  return fmt::format(R"yaml(extension: needy
target: llvm
setup:
  process: |
    @needy_key = linkonce_odr global i32 -1
    declare i32 @pthread_key_create(ptr, ptr)
    %known = load i32, ptr @needy_key
    %is_known = icmp sge i32 %known, 0
    br i1 %is_known, label %done, label %make
    make:
    %failed = call i32 @pthread_key_create(ptr @needy_key, ptr null)
    br label %done
    done:
    ret i32 {}
  thread: |
    @needy_key = linkonce_odr global i32 -1
    declare i32 @pthread_setspecific(i32, ptr)
    call void asm sideeffect "nop", ""()
    %key = load i32, ptr @needy_key
    %failed = call i32 @pthread_setspecific(i32 %key, ptr @needy_key)
    ret i32 {}
intrinsics:
  - name: needy_double
    semantics:
      inputs: {{X: {{shape: [4], dtype: f32}}}}
      compute: "O[i<4] = X[i] + X[i]"
      outputs: [O]
    implementation:
      arguments: [X]
      fragment: |
        @needy_key = linkonce_odr global i32 -1
        declare ptr @pthread_getspecific(i32)
        %key = load i32, ptr @needy_key
        %mine = call ptr @pthread_getspecific(i32 %key)
        %ready = icmp ne ptr %mine, null
        br i1 %ready, label %compute, label %refuse
        compute:
        %r = fadd <4 x float> %X, %X
        ret <4 x float> %r
        refuse:
        ret <4 x float> zeroinitializer
)yaml",
                     process_answer, thread_answer);
}

class UnitSetupOf : public ::testing::Test {
 protected:
  /// A kernel that calls the unit's instruction in a parallel loop.
  CompiledKernel compile(const std::string& file) {
    const auto extension = ExtensionFile::parse(file, "needy.yaml");
    LowerOptions options = target->lower_options();
    extension->adapt(options);
    auto schedule = replay(workload.program, Trace::parse("o = get_block(\"O\")\ni, j = get_loops(o)\n"
                                                          "b = blockize(j)\nt = tensorize(b, "
                                                          "\"needy_double\")\nparallel(i)\n"));
    if (!schedule) throw Error(schedule.error().what());
    lowered = lower(schedule->program().clone(), options);
    auto compiled = target->compile(lowered, "kernel");
    if (!compiled) throw Error(compiled.error());
    return *compiled;
  }

  std::string complaint_of(const std::string& file) {
    try {
      compile(file);
      testing::run_guarded(*target, lowered, arguments, 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  const Workload workload = WorkloadDefinition::parse(
                                "name: test\ninputs: {A: {shape: [64, 4], dtype: f32}}\ncompute: |\n"
                                "  O[i<64, j<4] = A[i, j] + A[i, j]\noutputs: [O]\n",
                                "test.yaml")
                                .instantiate();
  std::vector<Tensor> arguments = test::random_arguments(workload.program);
  std::unique_ptr<llvm_target::LlvmTarget> target = testing::make_target();
  LoweredProgram lowered;
};

TEST_F(UnitSetupOf, TheProcessAndEachThreadComesBeforeTheFirstCall) {
  const CompiledKernel compiled = compile(needy_unit("0", "0"));
  ASSERT_TRUE(compiled.setup);
  EXPECT_THAT(compiled.setup->parts,
              ::testing::ElementsAre("needy.yaml:5: extension needy: the set-up of the process",
                                     "needy.yaml:16: extension needy: the set-up of the thread"));
  std::vector<Tensor> expected = arguments;
  interpret(workload.program, expected);
  for (const int threads : {1, 3}) {
    const std::vector<Tensor> got = testing::run_guarded(*target, lowered, arguments, threads);
    EXPECT_EQ(max_error(got.back(), expected.back()), 0.0) << threads;
  }
}

TEST_F(UnitSetupOf, WithoutItTheEmulationGivesZeros) {
  // Shows that the test above can fail.
  std::string file = needy_unit("0", "0");
  const size_t begin = file.find("setup:");
  file.erase(begin, file.find("intrinsics:") - begin);
  EXPECT_FALSE(compile(file).setup);
  std::vector<Tensor> expected = arguments;
  interpret(workload.program, expected);
  const std::vector<Tensor> got = testing::run_guarded(*target, lowered, arguments);
  EXPECT_GT(max_error(got.back(), expected.back()), 0.0);
}

TEST_F(UnitSetupOf, FailuresAreNamed) {
  EXPECT_THAT(complaint_of(needy_unit("22", "0")),
              HasSubstr("needy.yaml:5: extension needy: the set-up of the process failed: it returned 22"));
  EXPECT_THAT(complaint_of(needy_unit("0", "-7")),
              HasSubstr("needy.yaml:16: extension needy: the set-up of the thread failed: it returned -7"));
  EXPECT_EQ(complaint_of(needy_unit("0", "0")), "none");
}

TEST_F(UnitSetupOf, MistakesInItsCodeAreCompileErrorsAtTheirLine) {
  EXPECT_THAT(complaint_of(needy_unit("%nothing", "0")),
              HasSubstr("needy.yaml:14: extension needy: the set-up of the process: use of undefined value"));
  EXPECT_THAT([] { ExtensionFile::parse("extension: a\ntarget: llvm\nsetup: {core: x}\n", "a.yaml"); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("core")));
  EXPECT_THAT([] { ExtensionFile::parse("extension: a\ntarget: llvm\nsetup: {}\n", "a.yaml"); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("a.yaml:3:8: setup: expected one of the keys")));
}

TEST_F(UnitSetupOf, AFailureInTheWorkerIsTheCandidates) {
  MeasureOptions options;
  options.threads = 2;
  const auto runner = make_worker_runner(workload, *target, {"llvm", {}, {}}, options);
  const std::vector<CompiledKernel> kernels{compile(needy_unit("22", "0")), compile(needy_unit("0", "7")),
                                            compile(needy_unit("0", "0"))};
  std::vector<MeasureRequest> requests;
  for (const CompiledKernel& kernel : kernels) requests.push_back({&kernel, 0.0});
  const std::vector<MeasureResult> results = runner->run(requests);
  ASSERT_EQ(results.size(), 3U);
  for (const size_t failed : {size_t{0}, size_t{1}}) {
    ASSERT_TRUE(results[failed].failure) << failed;
    EXPECT_EQ(results[failed].failure->cause, FailureCause::LoadError);
  }
  EXPECT_THAT(results[0].failure->message,
              HasSubstr("needy.yaml:5: extension needy: the set-up of the process failed: it returned 22"));
  EXPECT_THAT(results[1].failure->message,
              HasSubstr("needy.yaml:16: extension needy: the set-up of the thread failed: it returned 7"));
  EXPECT_FALSE(results[2].failure) << results[2].failure->message;
}

TEST_F(UnitSetupOf, BuiltLibrariesDoItThemselves) {
  const test::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  const auto status_with = [&](const char* process, const char* thread, const char* wanted) {
    const CompiledKernel compiled = compile(needy_unit(process, thread));
    target->build_library({&compiled, &workload.program, "twice", folder, "none"});
    const std::string source = folder + "/main.c";
    std::ofstream(source) << fmt::format(R"(#include "twice.h"
int main(void) {{
  static float a[256], o[256];
  for (int i = 0; i < 256; ++i) a[i] = (float)i;
  void* buffers[] = {{a, o}};
  for (int call = 0; call < 3; ++call) {{
    if (twice_raw(buffers) != {}) return 1;
    for (int i = 0; i < 256; ++i) if (twice_{} == twice_OK && o[i] != 2 * a[i]) return 2;
  }}
  return 0;
}})",
                                         wanted, std::string_view(wanted).substr(6));
    const auto built = run_process({find_in_path({"cc"}), source, "-o", folder + "/main", "-L" + folder,
                                    "-ltwice", "-Wl,-rpath," + folder});
    EXPECT_EQ(built.end.status(), 0) << built.output;
    return run_process({folder + "/main"}).end.status();
  };
  EXPECT_EQ(status_with("0", "0", "twice_OK"), 0);
  EXPECT_EQ(status_with("22", "0", "twice_SETUP_FAILED"), 0);
  EXPECT_EQ(status_with("0", "7", "twice_SETUP_FAILED"), 0);
}

}  // namespace
}  // namespace tunesmith

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "temporary_folder.h"
#include "tunesmith/process/run_process.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

/// A program whose main() runs {1}; {0} is the number of lanes of a vector.
constexpr const char* kMain = R"(
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "tile.h"
#define N ({0} * 4)
static float a[16 * 8], b[8 * N], c[16 * N];
static int64_t a_shape[] = {{16, 8}}, b_shape[] = {{2, 8, N / 2}}, c_shape[] = {{16, N}};
static DLTensor A = {{a, {{kDLCPU, 0}}, 2, {{kDLFloat, 32, 1}}, a_shape, NULL, 0}};
static DLTensor B = {{b, {{kDLCPU, 0}}, 3, {{kDLFloat, 32, 1}}, b_shape, NULL, 0}};
static DLTensor C = {{c, {{kDLCPU, 0}}, 2, {{kDLFloat, 32, 1}}, c_shape, NULL, 0}};
static int wrong_elements(const float* result) {{
  int wrong = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < N; ++j) {{
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[(j / (N / 2) * 8 + k) * (N / 2) + j % (N / 2)];
      wrong += result[i * N + j] != sum;
    }}
  return wrong;
}}
static int serial_calls;
static void serial(void* pool, int64_t count, tunesmith_loop_body body, void* closure) {{
  serial_calls += pool == &serial_calls;
  for (int64_t i = 0; i < count; ++i) body(closure, i, i + 1);
}}
static int upward_calls;
static void rounding_up(void* pool, int64_t count, tunesmith_loop_body body, void* closure) {{
  (void)pool;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(0xdfc0);
#endif
  body(closure, 0, count);
  ++upward_calls;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(0x1f80);
#endif
}}
static void* many_calls(void* result) {{
  void* buffers[] = {{a, b, result}};
  for (int i = 0; i < 2000; ++i)
    if (tile_raw(buffers) != 0 || wrong_elements(result)) return result;
  return NULL;
}}
int main(void) {{
  for (int i = 0; i < 16 * 8; ++i) a[i] = i % 7 - 3;
  for (int i = 0; i < 8 * N; ++i) b[i] = i % 5 - 2;
  memset(c, 0xff, sizeof c);
  (void)serial, (void)rounding_up, (void)upward_calls, (void)many_calls, (void)A, (void)B, (void)C;
  {1}
}}
)";

/// A library of a tile of a matrix product, 16 x 2 vectors x 8, and a C program that calls it.
class BuiltLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    temporary.emplace();
    folder = temporary->path();
    target = testing::make_target();
    lanes = target->lower_options().vector_bits / 32;
    lowered = testing::gmm_tile_program(16, 4 * lanes, 8, 4, 2 * lanes, lanes, /*parallel=*/true);
    const auto compiled = target->compile(lowered, "kernel");
    ASSERT_TRUE(compiled);
    Program program;
    program.inputs = {make_buffer("A", kF32, {16, 8}), make_buffer("int", kF32, {2, 8, 2 * lanes})};
    program.outputs = {make_buffer("check", kF32, {16, 4 * lanes})};
    files = target->build_library({&*compiled, &program, "tile", folder, "gmm:n=16 */ int trap;"});
  }
  static void TearDownTestSuite() {
    temporary.reset();
    target.reset();
    lowered = {};
  }

  /// Compiles and runs `body` inside main(), with A, B and C as DLTensors of the right shapes; returns its
  /// exit status and output.
  static ProcessResult call(const std::string& body) {
    const std::string source = folder + "/main.c", program = folder + "/main";
    std::ofstream(source) << fmt::format(fmt::runtime(kMain), lanes, body);
    const auto built =
        run_process({find_in_path({"cc"}), "-std=gnu11", "-Wall", "-Wextra", "-Werror", source, "-o", program,
                     "-L" + folder, "-ltile", "-Wl,-rpath," + folder, "-pthread"});
    EXPECT_EQ(built.end.status(), 0) << built.output;
    return run_process({program});
  }

  static inline std::optional<test::TemporaryFolder> temporary;
  static inline std::string folder;
  static inline std::unique_ptr<llvm_target::LlvmTarget> target;
  static inline LoweredProgram lowered;
  static inline LibraryFiles files;
  static inline int64_t lanes = 0;
};

TEST_F(BuiltLibrary, GivesTheResultToACProgram) {
  const auto result = call("return tile(&A, &B, &C) != tile_OK || wrong_elements(c);");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

TEST_F(BuiltLibrary, TakesByteOffsetsAndCompactStrides) {
  const auto result = call(R"(
  static int64_t strides[] = {N, 1};
  C.strides = strides;
  static float more[16 * N + 4];
  C.data = more;
  C.byte_offset = 16;
  if (tile(&A, &B, &C) != tile_OK) return 1;
  return wrong_elements(more + 4) ? 2 : 0;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

TEST_F(BuiltLibrary, RefusesWrongArguments) {
  const auto result = call(R"(
  DLTensor t;
  int64_t shape[] = {16, 9}, strides[] = {1, 16};
#define REFUSED(position, expected, change) \
  t = position == 0 ? A : position == 1 ? B : C; change; \
  if (tile(position == 0 ? &t : &A, position == 1 ? &t : &B, position == 2 ? &t : &C) != expected + 256 * position) { puts(#change); return 1; }
  REFUSED(0, tile_WRONG_SHAPE, t.shape = shape)
  REFUSED(0, tile_NOT_CONTIGUOUS, t.strides = strides)
  REFUSED(1, tile_WRONG_RANK, t.ndim = 2)
  REFUSED(1, tile_WRONG_TYPE, t.dtype.bits = 64)
  REFUSED(1, tile_WRONG_TYPE, t.dtype.code = kDLInt)
  REFUSED(2, tile_WRONG_DEVICE, t.device.device_type = 2)
  REFUSED(2, tile_MISALIGNED, t.byte_offset = 2)
  REFUSED(2, tile_NULL_ARGUMENT, t.data = NULL)
  REFUSED(2, tile_NULL_ARGUMENT, t.shape = NULL)
  if (tile(NULL, &B, &C) != tile_NULL_ARGUMENT) return 2;
  return 0;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

TEST_F(BuiltLibrary, RunsOnTheCallersThreads) {
  const auto result = call(R"(
  tile_set_parallel_for(serial, &serial_calls);
  if (tile(&A, &B, &C) != tile_OK || wrong_elements(c)) return 1;
  if (serial_calls == 0) return 2;
  tile_set_parallel_for(NULL, NULL);
  const int before = serial_calls;
  if (tile(&A, &B, &C) != tile_OK || wrong_elements(c)) return 3;
  return serial_calls != before;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

#if defined(__x86_64__)
// On its own threads, started while the caller rounds up and flushes denormals, and on the caller's thread.
TEST_F(BuiltLibrary, ComputesInTheDefaultFloatingPointModeAndLeavesTheCallersAsItWas) {
  const auto result = call(R"(
  for (int i = 0; i < 16; ++i) a[i * 8] = 1e-39f;
  const unsigned mode = (__builtin_ia32_stmxcsr() & ~0x6000u) | 0xc040u;
  for (int i = 0; i < 2; ++i) {
    memset(c, 0xff, sizeof c);
    __builtin_ia32_ldmxcsr(mode);
    if (tile(&A, &B, &C) != tile_OK) return 1;
    if ((__builtin_ia32_stmxcsr() & ~0x3fu) != (mode & ~0x3fu)) return 2;
    __builtin_ia32_ldmxcsr(0x1f80);
    if (wrong_elements(c)) return 3;
    tile_set_parallel_for(rounding_up, NULL);
  }
  return upward_calls > 0 ? 0 : 4;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}
#endif

TEST_F(BuiltLibrary, IsCalledBySeveralThreadsAtOnce) {
  const auto result = call(R"(
  static float results[4][16 * N];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, many_calls, results[i]);
  int wrong = 0;
  for (int i = 0; i < 4; ++i) {
    void* answer;
    pthread_join(threads[i], &answer);
    wrong += answer != NULL;
  }
  return wrong;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

TEST_F(BuiltLibrary, WorksInAForkedChild) {
  const auto result = call(R"(
  extern int fork(void);
  extern int waitpid(int, int*, int);
  if (tile(&A, &B, &C) != tile_OK) return 1;
  const int child = fork();
  memset(c, 0xff, sizeof c);
  const int failed = tile(&A, &B, &C) != tile_OK || wrong_elements(c);
  if (child == 0) return failed;
  int status = 0;
  waitpid(child, &status, 0);
  return failed || status != 0;)");
  EXPECT_EQ(result.end.status(), 0) << result.output;
}

TEST_F(BuiltLibrary, ExportsOnlyItsOwnNamesAndNeedsOnlyTheCLibrary) {
  const auto symbols = run_process({find_in_path({"nm"}), "-D", "--defined-only", files.library});
  std::istringstream lines(symbols.output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(line.rfind(' ') + 1));
  const std::vector<std::string> own = {"tile", "tile_raw", "tile_set_parallel_for", "tile_workspace_bytes"};
  EXPECT_EQ(names, own);
  const auto needed = run_process({find_in_path({"readelf"}), "-d", files.library});
  EXPECT_EQ(needed.output.find("tunesmith"), std::string::npos);
  EXPECT_EQ(needed.output.find("libstdc++"), std::string::npos);
}

TEST_F(BuiltLibrary, HasAHeaderForCAndCxxAlone) {
  const std::string include = "-include" + files.header;
  for (const auto& [compiler, language] : {std::pair{"cc", "c"}, std::pair{"c++", "c++"}}) {
    const auto result = run_process({find_in_path({compiler}), "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                     "-x", language, include, "-c", "/dev/null", "-o", "/dev/null"});
    EXPECT_EQ(result.end.status(), 0) << result.output;
  }
}

TEST_F(BuiltLibrary, LeavesNothingElseBehind) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().stem() != "main") names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"libtile.so", "tile.h"}));
}

TEST_F(BuiltLibrary, NeedsACompilerInPath) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const auto compiled = target->compile(lowered, "kernel");
  EXPECT_THROW(target->build_library({&*compiled, &lowered.program, "other", folder, ""}), EnvironmentError);
  setenv("PATH", path.c_str(), 1);
}

TEST_F(BuiltLibrary, LiesInAFolderThatIsCalledAsAnOption) {
  const auto compiled = target->compile(lowered, "kernel");
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  fs::create_directory("-lm");
  EXPECT_NO_THROW(target->build_library({&*compiled, &lowered.program, "other", "-lm", ""}));
  EXPECT_TRUE(fs::exists("-lm/libother.so"));
  fs::remove_all("-lm");
  fs::current_path(before);
}

TEST_F(BuiltLibrary, CannotBeNamedAsWhatCHas) {
  const auto compiled = target->compile(lowered, "kernel");
  for (const char* name : {"tanh", "sinf", "abs", "malloc", "environ", "main", "pool", "run", "clean_up",
                           "run_chunk", "double", "class"}) {
    EXPECT_THROW(target->build_library({&*compiled, &lowered.program, name, folder, ""}), UserError) << name;
  }
  EXPECT_NO_THROW(target->build_library({&*compiled, &lowered.program, "pooling", folder, ""}));
  for (const char* file : {"pooling.h", "libpooling.so"}) fs::remove(fs::path(folder) / file);
}

}  // namespace
}  // namespace tunesmith

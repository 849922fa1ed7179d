// A network's library, made of kernels with a hand-written plan.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dl_tensor.h"
#include "lowered_program.h"
#include "temporary_folder.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using network::BufferPlace;
using testing::DLTensor;
using Kind = BufferPlace::Kind;

constexpr int64_t kRows = 3, kInner = 8, kColumns = 5;

constexpr const char* kProduct = R"(name: product
inputs:
  X: {shape: [3, 8], dtype: f32}
  W: {shape: [5, 8], dtype: f32, constant: true}
compute: |
  T[k<8, j<5] = W[j, k]
  P[i<3, j<5] = sum(k<8) X[i, k] * T[k, j]
outputs: [P]
)";
constexpr const char* kFinish = R"(name: finish
inputs:
  P: {shape: [3, 5], dtype: f32}
  B: {shape: [5], dtype: f32, constant: true}
compute: |
  Q[i<3, j<5] = max(P[i, j] + B[j], 0)
outputs: [Q]
)";

/// relu(X W' + B): two kernels, of which the first prepares.
class NetworkLibrary : public ::testing::Test {
 protected:
  using Open = int (*)(const char*, void**);
  using Close = void (*)(void*);
  using Run = int (*)(const void*, const DLTensor* const*, DLTensor* const*, void*);

  static void SetUpTestSuite() {
    temporary.emplace();
    folder = temporary->path();
    std::iota(weights.begin(), weights.end(), -17.0F);
    std::iota(bias.begin(), bias.end(), -2.0F);
    const auto target = testing::make_target();
    LowerOptions options = target->lower_options();
    options.prepare = true;
    const auto compile = [&](const char* text, const char* symbol) {
      const Workload workload = WorkloadDefinition::parse(text, "test.yaml").instantiate();
      auto kernel = target->compile(lower(workload.program, options), symbol);
      if (!kernel) throw InternalError(kernel.error());
      return *kernel;
    };
    const CompiledKernel product = compile(kProduct, "k_product"), finish = compile(kFinish, "k_finish");
    ASSERT_TRUE(product.prepare.has_value());
    std::vector<std::byte> prepared(static_cast<size_t>(product.prepare->bytes));
    const auto loaded = target->load(product);
    void* memory = std::aligned_alloc(64, (prepared.size() + 63) / 64 * 64);
    void* buffers[] = {nullptr, weights.data(), nullptr, memory};
    loaded->prepare()(
        buffers, nullptr,
        [](void*, int64_t count, tunesmith_loop_body body, void* closure) { body(closure, 0, count); },
        nullptr);
    std::memcpy(prepared.data(), memory, prepared.size());
    std::free(memory);

    network::LibraryPlan plan;
    plan.name = "small";
    plan.provenance = "a test */ of two kernels";
    plan.inputs = {{"X \"1\"", {kF32, {kRows, kInner}}}};
    plan.outputs = {{"Q", {kF32, {kRows, kColumns}}}};
    plan.arena_bytes = 64 + std::max(product.workspace_bytes, finish.workspace_bytes);
    plan.weight_bytes = 64 + static_cast<int64_t>(prepared.size());
    plan.weights = {{0, std::as_bytes(std::span(bias))}, {64, prepared}};
    plan.steps = {{"product \\?",
                   &product,
                   {{Kind::Input, 0}, {Kind::Weights, 0}, {Kind::Arena, 0}, {Kind::Weights, 64}},
                   64},
                  {"finish", &finish, {{Kind::Arena, 0}, {Kind::Weights, 0}, {Kind::Output, 0}}, 64}};
    plan.arena_bytes = (plan.arena_bytes + 63) / 64 * 64;
    files = write_library(plan, *target->packaging(), folder.string());
  }
  static void TearDownTestSuite() { temporary.reset(); }

  void SetUp() override {
    library_ = dlopen(files.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void TearDown() override { dlclose(library_); }

  template <typename Function>
  Function function(const std::string& name) {
    return reinterpret_cast<Function>(dlsym(library_, ("small_" + name).c_str()));
  }

  static DLTensor tensor(float* data, int64_t* shape) {
    return {data, {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
  }

  int run(const void* model, std::vector<float>& result, void* workspace = nullptr) {
    std::vector<float> values(kRows * kInner);
    std::iota(values.begin(), values.end(), 0.0F);
    int64_t in_shape[] = {kRows, kInner}, out_shape[] = {kRows, kColumns};
    const DLTensor in = tensor(values.data(), in_shape);
    DLTensor out = tensor(result.data(), out_shape);
    const DLTensor* inputs[] = {&in};
    DLTensor* outputs[] = {&out};
    return function<Run>("run")(model, inputs, outputs, workspace);
  }

  static std::vector<float> expected() {
    std::vector<float> result;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        float sum = bias[static_cast<size_t>(j)];
        for (int64_t k = 0; k < kInner; ++k)
          sum += static_cast<float>(i * kInner + k) * weights[static_cast<size_t>(j * kInner + k)];
        result.push_back(std::max(sum, 0.0F));
      }
    }
    return result;
  }

  static std::optional<test::TemporaryFolder> temporary;
  static fs::path folder;
  static network::NetworkFiles files;
  static std::array<float, kColumns * kInner> weights;
  static std::array<float, kColumns> bias;
  void* library_ = nullptr;
};
std::optional<test::TemporaryFolder> NetworkLibrary::temporary;
fs::path NetworkLibrary::folder;
network::NetworkFiles NetworkLibrary::files;
std::array<float, kColumns * kInner> NetworkLibrary::weights;
std::array<float, kColumns> NetworkLibrary::bias;

TEST_F(NetworkLibrary, ComputesWhatItsKernelsDoInTurn) {
  void* model = nullptr;
  ASSERT_EQ(function<Open>("open")(files.weights.c_str(), &model), 0);
  EXPECT_EQ(function<int (*)(const void*)>("check_weights")(model), 0);
  std::vector<float> result(kRows * kColumns, -1.0F);
  ASSERT_EQ(run(model, result), 0);
  EXPECT_EQ(result, expected());
  const size_t bytes = function<size_t (*)()>("workspace_bytes")();
  void* workspace = std::aligned_alloc(64, bytes);
  std::ranges::fill(result, -1.0F);
  EXPECT_EQ(run(model, result, workspace), 0);
  EXPECT_EQ(result, expected());
  EXPECT_EQ(run(model, result, static_cast<char*>(workspace) + 8), 7 + 256 * 2);
  std::free(workspace);
  function<Close>("close")(model);
}

TEST_F(NetworkLibrary, IsCalledBySeveralThreads) {
  void* model = nullptr;
  ASSERT_EQ(function<Open>("open")(files.weights.c_str(), &model), 0);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int call = 0; call < 500; ++call) {
        std::vector<float> result(kRows * kColumns, -1.0F);
        count += run(model, result) != 0 || result != expected() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  function<Close>("close")(model);
}

TEST_F(NetworkLibrary, RefusesWrongArgumentsAndWeights) {
  void* model = nullptr;
  const auto open = function<Open>("open");
  EXPECT_EQ(open((folder / "none").c_str(), &model), 10);
  EXPECT_EQ(model, nullptr);
  std::ifstream file(files.weights, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto open_changed = [&](const std::string& changed) {
    const fs::path path = folder / "changed.weights";
    std::ofstream(path, std::ios::binary) << changed;
    return open(path.c_str(), &model);
  };
  EXPECT_EQ(open_changed(bytes.substr(0, bytes.size() - 1)), 11);
  std::string other_head = bytes;
  other_head[24] = static_cast<char>(other_head[24] + 1);
  EXPECT_EQ(open_changed(other_head), 11);
  std::string other_value = bytes;
  other_value.back() = static_cast<char>(other_value.back() + 1);
  ASSERT_EQ(open_changed(other_value), 0);
  EXPECT_EQ(function<int (*)(const void*)>("check_weights")(model), 11);

  std::vector<float> result(kRows * kColumns);
  int64_t shape[] = {kRows, kInner + 1};
  const DLTensor in = tensor(result.data(), shape);
  const DLTensor* inputs[] = {&in};
  DLTensor* outputs[] = {nullptr};
  EXPECT_EQ(function<Run>("run")(model, inputs, outputs, nullptr), 4);
  EXPECT_EQ(function<Run>("run")(nullptr, inputs, outputs, nullptr), 1);
  function<Close>("close")(model);
}

TEST_F(NetworkLibrary, TellsAnObserverOfEachStep) {
  using Observe = void (*)(void*, int, void* const*);
  using RunObserved = int (*)(const void*, const DLTensor* const*, DLTensor* const*, void*, Observe, void*);
  void* model = nullptr;
  ASSERT_EQ(function<Open>("open")(files.weights.c_str(), &model), 0);
  EXPECT_EQ(function<int (*)()>("steps")(), 2);
  EXPECT_STREQ(function<const char* (*)(int)>("step_name")(0), "product \\?");
  EXPECT_EQ(function<const char* (*)(int)>("step_name")(2), nullptr);
  std::vector<float> values(kRows * kInner, 1.0F), result(kRows * kColumns);
  int64_t in_shape[] = {kRows, kInner}, out_shape[] = {kRows, kColumns};
  const DLTensor in = tensor(values.data(), in_shape);
  DLTensor out = tensor(result.data(), out_shape);
  const DLTensor* inputs[] = {&in};
  DLTensor* outputs[] = {&out};
  std::vector<std::pair<int, float>> seen;  // the first element of each step's result
  const auto observe = [](void* context, int step, void* const* buffers) {
    static_cast<std::vector<std::pair<int, float>>*>(context)->emplace_back(
        step, step < 0 ? 0.0F : *static_cast<float*>(buffers[2]));
  };
  ASSERT_EQ(function<RunObserved>("run_observed")(model, inputs, outputs, nullptr, observe, &seen), 0);
  const float first = std::accumulate(weights.begin(), weights.begin() + kInner, 0.0F);
  EXPECT_EQ(seen, (std::vector<std::pair<int, float>>{
                      {-1, 0.0F}, {0, first}, {1, std::max(first + bias[0], 0.0F)}}));
  function<Close>("close")(model);
}

TEST_F(NetworkLibrary, ItsMainProgramCompilesWithoutWarningsAndPrintsTimes) {
  const fs::path program = folder / "main";
  const auto compiled = run_process({find_in_path({"cc"}), "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall",
                                     "-Wextra", "-Werror", "-O1", files.main_program, "-I", folder,
                                     files.library, "-Wl,-rpath," + folder.string(), "-o", program});
  ASSERT_EQ(compiled.end.status(), 0) << compiled.output;
  const auto ran = run_process({program, "10", files.weights});
  EXPECT_EQ(ran.end.status(), 0) << ran.output;
  EXPECT_NE(ran.output.find("10 calls: 10th percentile"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("us  product \\?"), std::string::npos) << ran.output;
}

TEST_F(NetworkLibrary, APlanWhoseBuffersLieOutsideIsRefused) {
  const auto target = testing::make_target();
  const CompiledKernel kernel{"", "k_none", 100};
  network::LibraryPlan plan;
  plan.name = "outside";
  plan.arena_bytes = 64;
  plan.steps = {{"none", &kernel, {}, 0}};
  EXPECT_THROW(write_library(plan, *target->packaging(), folder.string()), InternalError) << "the workspace";
  plan.arena_bytes = 128;
  plan.steps[0].buffers = {{Kind::Input, 0}};
  EXPECT_THROW(write_library(plan, *target->packaging(), folder.string()), InternalError) << "an input";
  plan.steps[0].buffers = {{Kind::Arena, 32}};
  EXPECT_THROW(write_library(plan, *target->packaging(), folder.string()), InternalError) << "misaligned";
}

}  // namespace
}  // namespace tunesmith

// Whole networks, compiled without any schedule, against their evaluation.
#include <cmath>
#include <filesystem>
#include <random>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "dl_tensor.h"
#include "lowered_program.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/plan_library.h"
#include "tunesmith/verification/data_sets.h"
#include "unit/network/random_network.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using network::Network;

class CompiledNetwork {
 public:
  CompiledNetwork(const Network& network, const fs::path& folder) {
    const auto target = testing::make_target();
    LowerOptions options = target->lower_options();
    options.prepare = true;
    std::vector<network::RegionKernel> regions;
    std::vector<std::unique_ptr<CompiledKernel>> kernels;
    for (const network::Region& region : form_regions(network)) {
      network::NodeWorkload made = workload_of(network, region.nodes, region.results);
      auto kernel =
          target->compile(lower(made.workload.program, options), "k_" + std::to_string(kernels.size()));
      if (!kernel) throw InternalError(kernel.error());
      kernels.push_back(std::make_unique<CompiledKernel>(std::move(*kernel)));
      std::vector<std::byte> prepared = prepare(network, made, *kernels.back(), *target);
      regions.push_back(
          {made.workload.name, made.inputs, made.outputs, kernels.back().get(), std::move(prepared)});
    }
    files_ = write_library(plan_library(network, regions, "net"), *target->packaging(), folder.string());
    library_ = dlopen(files_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw InternalError(dlerror());
    const auto open = reinterpret_cast<int (*)(const char*, void**)>(dlsym(library_, "net_open"));
    if (open(files_.weights.c_str(), &model_) != 0) throw InternalError("the weights do not open");
  }
  ~CompiledNetwork() {
    reinterpret_cast<void (*)(void*)>(dlsym(library_, "net_close"))(model_);
    dlclose(library_);
  }
  CompiledNetwork(const CompiledNetwork&) = delete;
  CompiledNetwork& operator=(const CompiledNetwork&) = delete;

  int run(std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) const {
    std::vector<testing::DLTensor> all;
    for (std::vector<Tensor>* list : {&inputs, &outputs}) {
      for (Tensor& tensor : *list) all.push_back(testing::dl_tensor(tensor));
    }
    std::vector<const testing::DLTensor*> in;
    std::vector<testing::DLTensor*> out;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i < inputs.size())
        in.push_back(&all[i]);
      else
        out.push_back(&all[i]);
    }
    using Run = int (*)(const void*, const testing::DLTensor* const*, testing::DLTensor* const*, void*);
    return reinterpret_cast<Run>(dlsym(library_, "net_run"))(model_, in.data(), out.data(), nullptr);
  }

 private:
  network::NetworkFiles files_;
  void* library_ = nullptr;
  void* model_ = nullptr;
};

/// Of what these operators compute, f32 keeps at least four digits here.
void expect_close(const Tensor& result, const Tensor& expected, const std::string& text) {
  ASSERT_EQ(result.shape, expected.shape);
  for (int64_t i = 0; i < result.elements(); ++i)
    EXPECT_NEAR(result.get(i), expected.get(i), 1e-4 * (1 + std::abs(expected.get(i))))
        << "element " << i << " of\n"
        << text;
}

Tensor zeros_like(const network::Tensor& tensor) {
  network::Shape shape;
  for (const network::Extent& extent : *tensor.shape) shape.push_back(std::get<int64_t>(extent));
  return Tensor::zeros(*tensor.dtype, shape);
}

class CompiledNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tunesmith-networks-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void expect_what_evaluation_gives(const Network& network, std::mt19937& random) const {
    const CompiledNetwork compiled(network, folder_);
    std::vector<Tensor> inputs, outputs;
    for (const network::TensorIndex input : network.inputs) {
      inputs.push_back(zeros_like(network.tensors[static_cast<size_t>(input)]));
      inputs.back().fill_random(random());
      if (!inputs.back().dtype.is_float()) draw_indices(inputs.back(), inputs.back().shape.back(), random());
    }
    for (const network::TensorIndex output : network.outputs)
      outputs.push_back(zeros_like(network.tensors[static_cast<size_t>(output)]));
    ASSERT_EQ(compiled.run(inputs, outputs), 0);
    const std::vector<Tensor> expected = evaluate(network, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) expect_close(outputs[i], expected[i], to_text(network));
  }

  fs::path folder_;
};

TEST_F(CompiledNetworks, OfMatricesComputeWhatTheirEvaluationDoes) {
  std::mt19937 random(5);
  for (int draw = 0; draw < 12; ++draw)
    expect_what_evaluation_gives(network::random_network(random, 12, 8), random);
}

TEST_F(CompiledNetworks, OfImagesComputeWhatTheirEvaluationDoes) {
  std::mt19937 random(6);
  for (int draw = 0; draw < 8; ++draw)
    expect_what_evaluation_gives(network::random_image_network(random, 10), random);
}

}  // namespace
}  // namespace tunesmith

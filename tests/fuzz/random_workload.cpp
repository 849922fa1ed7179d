#include "random_workload.h"

#include <cstdlib>
#include <iterator>
#include <map>
#include <vector>

#include <tunesmith/workload/library.h>

namespace tunesmith::fuzz {
namespace {

/// A parameter with its smallest and largest value; with `step` > 1 multiples only.
struct Range {
  const char* name;
  int64_t least;
  int64_t largest;
  int64_t step = 1;
};

struct Family {
  const char* name;
  std::vector<Range> ranges;
  /// The workload has only sums of products and extremes, which are exact for small integers in every type.
  bool exact = true;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"gmm", {{"b", 1, 2}, {"n", 1, 9}, {"m", 1, 9}, {"k", 1, 9}}},
      {"gmm", {{"n", 4, 12, 4}, {"m", 4, 12, 4}, {"k", 4, 8, 4}}},
      {"conv2d",
       {{"h", 3, 7},
        {"w", 3, 7},
        {"ci", 1, 3},
        {"co", 1, 4},
        {"kernel", 1, 3},
        {"stride", 1, 2},
        {"padding", 0, 2}}},
      {"conv2d",
       {{"h", 4, 6},
        {"w", 5, 7},
        {"ci", 2, 4, 2},
        {"co", 2, 4, 2},
        {"kernel", 1, 2},
        {"dilation", 1, 2},
        {"groups", 1, 2}}},
      {"conv_bias_bn_relu", {{"h", 3, 6}, {"w", 3, 6}, {"ci", 1, 3}, {"co", 1, 4}, {"kernel", 1, 3}}, false},
      {"depthwise_conv2d", {{"h", 3, 7}, {"w", 3, 7}, {"c", 1, 4}, {"stride", 1, 2}}},
      {"max_pool2d", {{"h", 3, 7}, {"w", 3, 7}, {"c", 1, 3}}},
      {"transposed_conv2d", {{"h", 2, 4}, {"w", 2, 4}, {"ci", 1, 3}, {"co", 1, 3}}},
      {"dense_bias_gelu", {{"n", 1, 8}, {"m", 1, 8}, {"k", 1, 8}}, false},
      {"elementwise_chain", {{"n", 1, 12}, {"m", 1, 12}}, false},
      {"softmax", {{"m", 1, 9}, {"n", 1, 12}}, false},
      {"exponentials", {{"m", 1, 9}, {"n", 1, 12}}, false},
      {"layer_norm", {{"m", 1, 6}, {"n", 1, 12}}, false},
      {"norm", {{"b", 1, 3}, {"m", 1, 8}, {"n", 1, 8}}, false},
      {"reduce_sum_2d", {{"m", 1, 12}, {"n", 1, 16}}},
      {"attention_scores", {{"seq", 1, 5}, {"heads", 1, 3}, {"dim", 1, 5}}},
      {"gram", {{"b", 1, 2}, {"n", 1, 8}, {"k", 1, 8}}},
  };
  return all;
}

/// A softmax's sum alone: the exponentials that it adds have no other reader.
constexpr const char* kExponentials = R"(name: exponentials
params: {m: 4, n: 4, dtype: f32}
inputs: {X: {shape: [m, n], dtype: dtype}}
compute: |
  Max[i<m] = max(j<n) X[i, j]
  O[i<m] = sum(j<n) exp(X[i, j] - Max[i])
outputs: [O]
)";

/// WorkloadLibrary::load that reads each file once.
Workload built_in(const std::string& text) {
  static std::map<std::string, WorkloadDefinition> definitions = {
      {"exponentials", WorkloadDefinition::parse(kExponentials, "exponentials.yaml")}};
  const auto [name, params] = parse_workload_text(text);
  auto known = definitions.find(name);
  if (known == definitions.end()) known = definitions.emplace(name, WorkloadLibrary().definition(name)).first;
  return known->second.instantiate(params);
}

std::string random_built_in(RandomStream& random, Numbers numbers) {
  const Family* chosen = nullptr;
  do {
    chosen = &families()[random.below(families().size())];
  } while (numbers == Numbers::Exact && !chosen->exact);
  const Family& family = *chosen;
  std::string text = family.name + std::string(":");
  for (const Range& range : family.ranges) {
    const auto choices = static_cast<uint64_t>((range.largest - range.least) / range.step + 1);
    const int64_t value = range.least + range.step * static_cast<int64_t>(random.below(choices));
    text += range.name + std::string("=") + std::to_string(value) + ",";
  }
  if (numbers == Numbers::Exact) {
    constexpr const char* kTypes[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8"};
    return text + "dtype=" + kTypes[random.below(std::size(kTypes))];
  }
  // In f64, a wrong index changes results a million times more than another order of a sum.
  return text + "dtype=f64";
}

void fill_exact(Tensor& tensor, uint64_t seed) {
  RandomStream random(seed);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.dtype.is_float()) {
      tensor.set(i, static_cast<double>(random.below(5)) - 2);
      continue;
    }
    // The largest, the smallest, or any value; set_int wraps it to the type.
    const auto any = static_cast<int64_t>(random.next());
    const int value_bits = tensor.dtype.bits - (tensor.dtype.is_signed_int() ? 1 : 0);
    const uint64_t greatest = ~uint64_t{0} >> (64 - value_bits);
    switch (random.below(6)) {
      case 0:
        tensor.set_int(i, static_cast<int64_t>(greatest));
        break;
      case 1:
        tensor.set_int(i, static_cast<int64_t>(greatest + 1));
        break;
      default:
        tensor.set_int(i, any);
    }
  }
}

}  // namespace

RandomWorkload random_workload(RandomStream& random) {
  const Numbers numbers = random.below(2) == 0 ? Numbers::Reals : Numbers::Exact;
  if (random.below(2) == 0) {
    const std::string text = random_built_in(random, numbers);
    return {text, built_in(text), numbers};
  }
  const std::string text = random_definition(random, numbers);
  return {text, WorkloadDefinition::parse(text, "random.yaml").instantiate(), numbers};
}

std::vector<Tensor> random_arguments(const Program& program, Numbers numbers) {
  std::vector<Tensor> tensors;
  for (const Buffer& buffer : program.inputs) {
    tensors.push_back(Tensor::like(*buffer));
    if (numbers == Numbers::Exact) {
      fill_exact(tensors.back(), tensors.size());
    } else {
      tensors.back().fill_random(tensors.size());
    }
  }
  for (const Buffer& buffer : program.outputs) tensors.push_back(Tensor::like(*buffer));
  return tensors;
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace tunesmith::fuzz

#include "random_workload.h"

#include <cstdlib>
#include <iterator>
#include <vector>

#include <tunesmith/workload/library.h>

#include "random_definition.h"

namespace tunesmith::fuzz {
namespace {

/// A parameter and its least and largest value; `step` > 1 keeps to multiples.
struct Range {
  const char* name;
  int64_t least;
  int64_t largest;
  int64_t step = 1;
};

struct Family {
  const char* name;
  std::vector<Range> ranges;
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
      {"conv_bias_bn_relu", {{"h", 3, 6}, {"w", 3, 6}, {"ci", 1, 3}, {"co", 1, 4}, {"kernel", 1, 3}}},
      {"depthwise_conv2d", {{"h", 3, 7}, {"w", 3, 7}, {"c", 1, 4}, {"stride", 1, 2}}},
      {"max_pool2d", {{"h", 3, 7}, {"w", 3, 7}, {"c", 1, 3}}},
      {"transposed_conv2d", {{"h", 2, 4}, {"w", 2, 4}, {"ci", 1, 3}, {"co", 1, 3}}},
      {"dense_bias_gelu", {{"n", 1, 8}, {"m", 1, 8}, {"k", 1, 8}}},
      {"elementwise_chain", {{"n", 1, 12}, {"m", 1, 12}}},
      {"softmax", {{"m", 1, 9}, {"n", 1, 12}}},
      {"layer_norm", {{"m", 1, 6}, {"n", 1, 12}}},
      {"norm", {{"b", 1, 3}, {"m", 1, 8}, {"n", 1, 8}}},
      {"reduce_sum_2d", {{"m", 1, 12}, {"n", 1, 16}}},
      {"attention_scores", {{"seq", 1, 5}, {"heads", 1, 3}, {"dim", 1, 5}}},
  };
  return all;
}

}  // namespace

namespace {

std::string random_built_in(RandomStream& random) {
  const Family& family = families()[random.below(families().size())];
  std::string text = family.name + std::string(":");
  for (const Range& range : family.ranges) {
    const auto choices = static_cast<uint64_t>((range.largest - range.least) / range.step + 1);
    const int64_t value = range.least + range.step * static_cast<int64_t>(random.below(choices));
    text += range.name + std::string("=") + std::to_string(value) + ",";
  }
  // In f64 another order of a sum changes nothing that a wrong index would not change a million times more.
  return text + "dtype=f64";
}

}  // namespace

RandomWorkload random_workload(RandomStream& random) {
  if (random.below(2) == 0) {
    const std::string text = random_built_in(random);
    return {text, WorkloadLibrary().load(text)};
  }
  const std::string text = random_definition(random);
  return {text, WorkloadDefinition::parse(text, "random.yaml").instantiate()};
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace tunesmith::fuzz

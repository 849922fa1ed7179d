// Parts of a joined tensor are computed in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"

namespace tunesmith::network {
namespace {

using ::testing::ElementsAre;

class JoinInPlace : public ::testing::Test {
 protected:
  JoinInPlace() { builder_.input("x", kF32, {int64_t{1}, int64_t{4}, int64_t{6}, int64_t{6}}); }

  void convolve(const std::string& of, const std::string& to, int64_t from, int64_t channels) {
    builder_.numbers(to + "_w", {channels, from, 3, 3},
                     weights(channels * from * 9, 5 + 2 * ++convolutions_));
    builder_.node("Conv", {of, to + "_w"}, {to}, {{"pads", std::vector<int64_t>(4, 1)}});
  }
  void join(const std::vector<std::string>& parts, const std::string& to) {
    builder_.node("Concat", parts, {to}, {{"axis", int64_t{1}}});
  }

  const Tensor& tensor(const std::string& name) const {
    return *std::ranges::find(network_.tensors, name, &Tensor::name);
  }
  /// "j at 4", or "" if it is no part of another tensor.
  std::string place(const std::string& name) const {
    const std::optional<Part>& part = tensor(name).part;
    return part ? network_.tensors[static_cast<size_t>(part->whole)].name + " at " +
                      std::to_string(part->begin)
                : "";
  }
  std::vector<std::string> regions(const std::vector<std::string>& outputs) {
    network_ = resolved(builder_.finish(outputs));
    std::vector<std::string> result;
    for (const Region& region : form_regions(network_)) {
      std::string text;
      for (const size_t node : region.nodes) text += (text.empty() ? "" : " ") + network_.nodes[node].op;
      result.push_back(text);
    }
    return result;
  }

  Builder builder_;
  Network network_;
  int64_t convolutions_ = 0;  // makes each of them unique
};

TEST_F(JoinInPlace, ConvolutionsWriteTheirChannels) {
  convolve("x", "a", 4, 2);
  convolve("a", "b", 2, 3);
  join({"a", "b"}, "j");
  convolve("j", "y", 5, 4);
  EXPECT_THAT(regions({"y"}), ElementsAre("Conv", "Conv", "Conv"));
  EXPECT_EQ(place("a"), "j at 0");
  EXPECT_EQ(place("b"), "j at 2");
  EXPECT_THAT(tensor("b").part->strides, ElementsAre(180, 30, 5, 1));
  EXPECT_EQ(place("j"), "");
}

TEST_F(JoinInPlace, WhatGrowsIsOneTensor) {
  convolve("x", "a", 4, 2);
  convolve("a", "b", 2, 3);
  join({"a", "b"}, "j");
  convolve("j", "c", 5, 1);
  join({"a", "b", "c"}, "k");  // starts with j's parts
  convolve("k", "d", 6, 2);
  join({"k", "d"}, "l");  // joins k itself
  convolve("l", "y", 8, 4);
  EXPECT_THAT(regions({"y"}), ElementsAre("Conv", "Conv", "Conv", "Conv", "Conv"));
  EXPECT_EQ(place("j"), "l at 0");
  EXPECT_EQ(place("k"), "l at 0");
  EXPECT_EQ(place("b"), "l at 2");
  EXPECT_EQ(place("c"), "l at 5");
  EXPECT_EQ(place("d"), "l at 6");
}

TEST_F(JoinInPlace, OneOfThemMayBeCopied) {
  convolve("x", "a", 4, 2);
  convolve("a", "b", 2, 3);
  convolve("b", "c", 3, 3);
  join({"a", "b"}, "j");
  join({"a", "c"}, "k");
  convolve("j", "d", 5, 4);
  convolve("k", "e", 5, 4);
  builder_.node("Add", {"d", "e"}, {"y"});
  // `a` is a part of `k`, which is joined last.
  EXPECT_THAT(regions({"y"}), ElementsAre("Conv", "Conv", "Conv", "tunesmith.Copy", "Conv", "Conv Add"));
  EXPECT_EQ(place("a"), "k at 0");
  EXPECT_EQ(place("b"), "j at 2");
}

TEST_F(JoinInPlace, WhatTheCallerSeesIsCopied) {
  convolve("x", "a", 4, 2);
  convolve("a", "b", 2, 3);
  builder_.node("Concat", {"a", "b"}, {"j"}, {{"axis", int64_t{1}}});
  builder_.node("Relu", {"j"}, {"r"});
  convolve("r", "y", 5, 4);
  // `a` and `b` are results, so joining in place would copy both.
  EXPECT_THAT(regions({"a", "b", "y"}), ElementsAre("Conv", "Conv", "Concat Relu", "Conv"));
}

TEST_F(JoinInPlace, TheResultMayBeTheCallers) {
  builder_.node("Softmax", {"x"}, {"a"}, {{"axis", int64_t{3}}});
  builder_.node("ReduceSum", {"a", "axes"}, {"b"}, {{"keepdims", int64_t{1}}});
  builder_.integers("axes", {1});
  join({"a", "b"}, "j");
  EXPECT_THAT(regions({"j"}), ElementsAre("Softmax", "ReduceSum"));
  EXPECT_EQ(place("b"), "j at 144");
}

TEST_F(JoinInPlace, WhatOneKernelComputesWithItsOperandStays) {
  builder_.input("z", kF32, {int64_t{1}, int64_t{2}, int64_t{6}, int64_t{6}});
  builder_.node("ReduceMean", {"x"}, {"a"}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}});
  join({"a", "z"}, "j");
  builder_.node("Relu", {"j"}, {"y"});
  EXPECT_THAT(regions({"y"}), ElementsAre("ReduceMean Concat Relu"));
  EXPECT_EQ(place("a"), "");
}

TEST_F(JoinInPlace, PartsOfAProductLieOnBothSidesOfWhatTheyAreJoinedTo) {
  convolve("x", "p", 4, 2);
  convolve("x", "q", 4, 2);
  convolve("p", "m", 2, 2);
  join({"m", "q"}, "j");
  convolve("j", "y", 4, 4);
  EXPECT_THAT(regions({"y"}), ElementsAre("Conv", "Conv", "Conv"));
  EXPECT_EQ(place("m"), "j/whole at 0");
  EXPECT_EQ(place("q"), "j/whole at 2");
  EXPECT_EQ(place("p"), "j/whole at 4");
  EXPECT_EQ(place("j"), "j/whole at 0");
}

TEST_F(JoinInPlace, AKernelMovesAnEnlargedImageToItsPlace) {
  convolve("x", "a", 4, 2);
  builder_.numbers("roi", {0}, {});
  builder_.numbers("scales", {4}, {1, 1, 0.5, 0.5});
  builder_.node("Resize", {"a", "roi", "scales"}, {"r"}, {{"mode", std::string("nearest")}});
  convolve("r", "b", 2, 3);
  builder_.numbers("back", {4}, {1, 1, 2, 2});
  builder_.node("Resize", {"b", "roi", "back"}, {"s"}, {{"mode", std::string("nearest")}});
  join({"s", "a"}, "j");
  convolve("j", "y", 5, 4);
  EXPECT_EQ(regions({"y"}).size(), 4);
  EXPECT_EQ(place("s"), "j at 0");
  EXPECT_EQ(place("a"), "j at 3");
}

TEST_F(JoinInPlace, AViewOfAResultIsWrittenInItsOrder) {
  builder_.integers("rows", {1, 2, 72});
  builder_.integers("more", {1, 1, 72});
  convolve("x", "a", 4, 4);
  convolve("a", "b", 4, 2);
  builder_.node("Relu", {"a"}, {"c"});
  builder_.node("Reshape", {"c", "rows"}, {"r"});
  builder_.node("Reshape", {"b", "more"}, {"s"});
  join({"r", "s"}, "j");
  builder_.node("Transpose", {"j"}, {"t"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  builder_.node("MatMul", {"j", "t"}, {"y"});
  network_ = resolved(builder_.finish({"y"}));
  for (const Region& region : form_regions(network_))
    for (const size_t node : region.nodes) EXPECT_NE(network_.nodes[node].op, "Concat");
}

TEST_F(JoinInPlace, AViewThatIsJoinedTwiceIsComputedOnce) {
  builder_.node("Relu", {"x"}, {"r"});
  builder_.node("Transpose", {"r"}, {"t"}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  join({"t", "t"}, "j");
  EXPECT_THAT(regions({"j"}), ElementsAre("Relu Transpose", "tunesmith.Copy"));
  region_workloads(network_, form_regions(network_));
}

TEST_F(JoinInPlace, AnotherReaderOfAViewReadsWhereItIsJoined) {
  builder_.node("Softmax", {"x"}, {"s"});
  builder_.node("Transpose", {"s"}, {"t"}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  convolve("x", "a", 4, 2);
  join({"t", "a"}, "j");
  convolve("t", "b", 4, 4);
  convolve("j", "c", 6, 4);
  builder_.node("Add", {"b", "c"}, {"y"});
  EXPECT_THAT(regions({"y"}), ElementsAre("Softmax Transpose", "Conv", "Conv", "Conv Add"));
  region_workloads(network_, form_regions(network_));
}

TEST_F(JoinInPlace, EqualKernelsOfOneStrideAreOneTask) {
  convolve("x", "a", 4, 4);
  convolve("a", "b", 4, 4);
  convolve("b", "c", 4, 4);
  join({"a", "b", "c"}, "j");
  convolve("j", "y", 12, 4);
  EXPECT_EQ(regions({"y"}).size(), 4);
  const std::vector<Region> made = form_regions(network_);
  const auto hash = [&](size_t i) {
    return workload_of(network_, made[i].nodes, made[i].results).workload.hash;
  };
  EXPECT_EQ(hash(1), hash(2));
  EXPECT_NE(hash(0), hash(1));  // it reads the caller's image
}

}  // namespace
}  // namespace tunesmith::network

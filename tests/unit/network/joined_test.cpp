// Statements of nodes as one workload.
#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/plain_kernels.h"

namespace tunesmith::network {
namespace {

/// Of each region: what its text says is what is tuned, whatever the order of axes is.
void expect_texts_to_mean_the_same(const Network& network) {
  for (const NodeWorkload& region : region_workloads(network, form_regions(network)))
    EXPECT_EQ(WorkloadDefinition::parse(region.workload.definition, "text").instantiate().hash,
              region.workload.hash)
        << region.workload.definition;
}

TEST(Joined, TextsMeanTheSame) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    expect_texts_to_mean_the_same(random_network(random, 12, 5));
    expect_texts_to_mean_the_same(resolved(random_image_graph(random, 10)));
  }
}

}  // namespace
}  // namespace tunesmith::network

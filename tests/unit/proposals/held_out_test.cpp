#include "tunesmith/proposals/held_out.h"

#include <set>

#include <gtest/gtest.h>

#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

SequenceTask task_of(const std::string& workload) {
  return describe_task(WorkloadLibrary().load(workload).program, DeviceModel());
}

TEST(HeldOut, NeighboursAreHeldOutTogether) {
  const std::string product = neighbourhood(task_of("gmm:b=1,n=512,m=512,k=512"));
  EXPECT_EQ(neighbourhood(task_of("gmm:b=1,n=1000,m=513,k=1023")), product);
  EXPECT_NE(neighbourhood(task_of("gmm:b=1,n=1024,m=512,k=512")), product);
  EXPECT_NE(neighbourhood(task_of("gmm:b=1,n=512,m=512,k=512,dtype=f64")), product);
  // Neither the machine nor names matter.
  SequenceTask elsewhere = task_of("gmm:b=1,n=512,m=512,k=512");
  elsewhere.machine["cores"] = 64;
  elsewhere.blocks.front().name = "another";
  EXPECT_EQ(neighbourhood(elsewhere), product);
  // Padding and strides belong to the extents.
  EXPECT_EQ(neighbourhood(task_of("conv2d:h=56,w=56,ci=64,co=64,kernel=3,stride=2,padding=1")),
            neighbourhood(task_of("conv2d:h=48,w=48,ci=64,co=64,kernel=3,stride=2,padding=1")));
}

/// A raised version may hold out other tasks; within a version, held-out tasks stay.
TEST(HeldOut, ChoosesTheSameInEveryVersionOfSequences) {
  std::set<std::string> held_out;
  size_t all = 0;
  for (const WorkloadSuite& suite : WorkloadLibrary().suites()) {
    for (const std::string& workload : suite.workloads) {
      ++all;
      if (is_held_out(task_of(workload))) held_out.insert(workload);
    }
  }
  EXPECT_GT(held_out.size(), all / 12);
  EXPECT_LT(held_out.size(), all / 3);
  for (const char* out :
       {"gmm:b=1,n=512,m=512,k=512", "layer_norm:m=128,n=768", "dense_bias_gelu:n=128,k=768,m=768"})
    EXPECT_TRUE(is_held_out(task_of(out))) << out;
  for (const char* in : {"gmm:b=1,n=1024,m=1024,k=1024", "gmm:b=1,n=128,m=128,k=128", "softmax:m=256,n=256"})
    EXPECT_FALSE(is_held_out(task_of(in))) << in;
}

}  // namespace
}  // namespace tunesmith

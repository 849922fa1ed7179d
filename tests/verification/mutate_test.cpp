#include <array>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/verification/denormals_show.h>
#include <tunesmith/verification/mutate.h>
#include <tunesmith/verification/unwritten_register.h>
#include <tunesmith/workload/library.h>

namespace tunesmith {
namespace {

TEST(Mutate, EveryKindHasAPlaceInTheSuite) {
  std::set<size_t> kinds;
  std::vector<Workload> workloads;
  for (const char* text : {"conv2d:h=5,w=5,ci=3,co=4", "dense_bias_gelu:n=6,m=5,k=7", "layer_norm:m=4,n=4",
                           "relu:n=4,m=4", "gmm:n=4,m=4,k=4,dtype=i32,acc=i32"})
    workloads.push_back(WorkloadLibrary().load(text));
  workloads.push_back(
      WorkloadDefinition::parse("name: to_int\nparams: {n: 4}\ninputs: {X: {shape: [n], "
                                "dtype: f32}}\ncompute: |\n  O[i<n] = i8(X[i])\noutputs: [O]\n",
                                "to_int.yaml")
          .instantiate());
  for (const Workload& workload : workloads) {
    const std::string before = to_string(workload.program);
    for (size_t kind = 0; kind < kMutations; ++kind) {
      const std::optional<Program> mutant = mutate(workload.program, static_cast<Mutation>(kind), 0);
      if (!mutant) continue;
      kinds.insert(kind);
      EXPECT_NE(to_string(*mutant), before)
          << mutation_name(static_cast<Mutation>(kind)) << " of " << workload.name;
    }
    EXPECT_EQ(to_string(workload.program), before) << "the program itself stays as it is";
  }
  EXPECT_EQ(kinds.size(), kMutations);
}

TEST(Mutate, PlacesAreDifferentAndComeToAnEnd) {
  const Workload workload = WorkloadLibrary().load("gmm:n=3,m=4,k=5");
  std::set<std::string> mutants;
  uint64_t site = 0;
  while (const std::optional<Program> mutant = mutate(workload.program, Mutation::OffByOne, site)) {
    mutants.insert(to_string(*mutant));
    ++site;
  }
  EXPECT_EQ(site, 2u) << "a load of A and one of B";
  EXPECT_EQ(mutants.size(), 2u);
}

// An elementwise chain hides denormals, since it adds 1.
TEST(DenormalsShow, WhereNothingHidesThem) {
  const auto show = [](const char* text, uint64_t site) {
    const Program program = WorkloadLibrary().load(text).program;
    return denormals_show(program, mutate(program, Mutation::DenormalsFlushed, site).value());
  };
  EXPECT_TRUE(show("gmm:n=3,m=4,k=5", 0));
  EXPECT_TRUE(show("gmm:n=3,m=4,k=5", 1));
  EXPECT_TRUE(show("relu:n=3,m=4,dtype=f16", 0));
  for (const char* text : {"elementwise_chain:n=3,m=4", "elementwise_chain:n=3,m=4,dtype=f16"}) {
    for (const uint64_t site : {0, 1, 2, 3}) EXPECT_FALSE(show(text, site)) << text << " " << site;
  }
}

// A workspace in memory does not depend on the compiler: it is filled before the call.
TEST(ReadsUnwrittenRegister, OnlyWhereOneIsReadAndNothingWroteIt) {
  const auto unrolled = [](const char* scope) {
    Schedule schedule(WorkloadDefinition::parse("name: twice\ninputs: {X: {shape: [4], dtype: f32}}\n"
                                                "compute: |\n  D[i<4] = X[i] + X[i]\n  O[i<4] = D[i] + 1\n"
                                                "outputs: [O]\n",
                                                "twice.yaml")
                          .instantiate()
                          .program,
                      RandomStream(0));
    schedule.set_scope(schedule.get_block("D"), 0, scope);
    for (const char* block : {"D", "O"}) schedule.unroll(schedule.get_loops(schedule.get_block(block))[0]);
    return schedule.program().clone();
  };
  const auto without_tail = [](const Program& program) {
    return mutate(program, Mutation::TailDropped, 0).value();
  };
  EXPECT_FALSE(reads_unwritten_register(unrolled("local"), {}));
  EXPECT_TRUE(reads_unwritten_register(without_tail(unrolled("local")), {}));
  EXPECT_FALSE(reads_unwritten_register(without_tail(unrolled("global")), {}));
}

TEST(InDoublePrecision, FloatsAreF64AndIntegersStay) {
  const Program wide = in_double_precision(WorkloadLibrary().load("gmm:n=3,m=4,k=5,dtype=bf16").program);
  for (const Buffer& buffer : wide.buffers()) EXPECT_EQ(buffer->dtype, kF64);
  const Program integers =
      in_double_precision(WorkloadLibrary().load("gmm:n=3,m=4,k=5,dtype=u8,b_dtype=i8").program);
  EXPECT_EQ(integers.inputs[0]->dtype, kU8);
}

}  // namespace
}  // namespace tunesmith

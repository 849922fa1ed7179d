// Detects programs whose accesses depend on data.
#include "candidates/data_dependence.h"

#include <functional>

#include <gtest/gtest.h>

#include "run_candidate.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

using namespace test;

/// O[i] = X[i], whose store `change` changes.
Program changed(const std::function<void(Store&, const Buffer& input)>& change) {
  Program program = program_of("X: {shape: [8], dtype: f32}", "O[i<8] = X[i]");
  change(*find_first<Store>(program.root()), program.inputs.front());
  return program;
}

TEST(DataDependence, ArithmeticAndConditionsOfIndicesHaveNone) {
  EXPECT_FALSE(accesses_depend_on_data(
      program_of("A: {shape: [8, 4], dtype: f32}, B: {shape: [4], dtype: f32}",
                 "S[i<8] = sum(k<4) A[i, k] * B[k]\n  O[i<8] = max(exp(S[i]), 0) / 2")));
  EXPECT_FALSE(accesses_depend_on_data(changed([](Store& store, const Buffer& input) {
    const Expr& i = store.indices.front();
    store.value = select(lt(i, int_imm(4)), load(input, {i}), load(input, {int_imm(7) - i}));
  })));
  // A choice between two numbers does not change accesses.
  EXPECT_FALSE(accesses_depend_on_data(changed([](Store& store, const Buffer& input) {
    store.value =
        select(lt(load(input, store.indices), float_imm(0, kF32)), float_imm(1, kF32), float_imm(2, kF32));
  })));
}

TEST(DataDependence, LoadsAndStoresThatALoadedValueTellsOfHaveIt) {
  const auto is_negative = [](const Store& store, const Buffer& input) {
    return lt(load(input, store.indices), float_imm(0, kF32));
  };
  EXPECT_TRUE(accesses_depend_on_data(changed([&](Store& store, const Buffer& input) {
    store.value = select(is_negative(store, input), load(input, {int_imm(0)}), float_imm(2, kF32));
  })));
  EXPECT_TRUE(accesses_depend_on_data(
      changed([&](Store& store, const Buffer& input) { store.mask = is_negative(store, input); })));
  EXPECT_TRUE(accesses_depend_on_data(changed([&](Store& store, const Buffer& input) {
    store.value = load(input, store.indices, is_negative(store, input));
  })));
  EXPECT_TRUE(accesses_depend_on_data(changed([&](Store& store, const Buffer& input) {
    const Expr both = logical_and(is_negative(store, input), is_negative(store, input));
    store.value = select(both, float_imm(1, kF32), float_imm(2, kF32));
  })));
  Program branch = program_of("X: {shape: [8], dtype: f32}", "O[i<8] = X[i]");
  Store& store = *find_first<Store>(branch.root());
  const Expr condition = is_negative(store, branch.inputs.front());
  Block& around = *branch.blocks().front();
  StmtPtr body = around.take_body();
  around.set_body(std::make_unique<If>(condition, std::move(body)));
  EXPECT_TRUE(accesses_depend_on_data(branch));
}

}  // namespace
}  // namespace tunesmith::cuda

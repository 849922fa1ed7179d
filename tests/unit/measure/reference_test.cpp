#include "measure/reference.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "measure/verify_outputs.h"
#include "tunesmith/interp/interpreter.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

constexpr double kTolerance = 8.0;  // MeasureOptions::tolerance

std::vector<Tensor> inputs_of(const Program& program, bool positive) {
  std::vector<Tensor> inputs;
  for (const Buffer& input : program.inputs) {
    Tensor data = Tensor::like(*input);
    data.fill_random(inputs.size() + 1);
    if (positive && data.dtype.is_float()) {
      for (int64_t i = 0; i < data.elements(); ++i) data.set(i, std::abs(data.get(i)) + 0.05);
    }
    inputs.push_back(std::move(data));
  }
  return inputs;
}

/// The outputs of `program`, interpreted; inputs are converted to its types.
std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(Tensor::like(*program.inputs[i]));
    for (int64_t at = 0; at < inputs[i].elements(); ++at) {
      if (inputs[i].dtype.is_float()) {
        arguments.back().set(at, inputs[i].get(at));
      } else {
        arguments.back().set_int(at, inputs[i].get_int(at));
      }
    }
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  interpret(program, arguments);
  return {std::make_move_iterator(arguments.begin() + static_cast<std::ptrdiff_t>(inputs.size())),
          std::make_move_iterator(arguments.end())};
}

/// The worst of all outputs, as the worker compares them.
double worst(const Program& program, const std::vector<Tensor>& got, const std::vector<Tensor>& reference) {
  double most = 0.0;
  const size_t outputs = program.outputs.size();
  for (size_t i = 0; i < outputs; ++i) {
    const auto* magnitude = reinterpret_cast<const double*>(reference[outputs + i].bytes.data());
    most = std::max(most, compare_output(*program.outputs[i], got[i].bytes.data(), reference[i].bytes.data(),
                                         magnitude, kTolerance * error_unit(program))
                              .worst);
  }
  return most;
}

TEST(ReferenceProgram, OfAProductHasValuesAndSumsOfMagnitudesInDoublePrecision) {
  const Workload workload = WorkloadLibrary().load("gmm:n=3,m=2,k=5");
  const Program reference = reference_program(workload.program);
  ASSERT_EQ(reference.outputs.size(), 2u);
  for (const Buffer& output : reference.outputs) EXPECT_EQ(output->dtype, kF64);
  const std::vector<Tensor> inputs = inputs_of(workload.program, false);
  const std::vector<Tensor> results = run(reference, inputs);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      double value = 0.0;
      double magnitude = 0.0;
      for (int64_t k = 0; k < 5; ++k) {
        const double product = inputs[0].get(i * 5 + k) * inputs[1].get(k * 2 + j);
        value += product;
        magnitude += std::abs(product);
      }
      EXPECT_DOUBLE_EQ(results[0].get(i * 2 + j), value);
      EXPECT_DOUBLE_EQ(results[1].get(i * 2 + j), magnitude);
    }
  }
}

TEST(ReferenceProgram, IntegersKeepTheirType) {
  const Program program = std::move(WorkloadDefinition::parse("name: t\n"
                                                              "params: {n: 4}\n"
                                                              "inputs: {X: {shape: [n], dtype: i32}}\n"
                                                              "compute: |\n  O[i<n] = X[i] * 3\n"
                                                              "outputs: [O]\n",
                                                              "t.yaml")
                                        .instantiate()
                                        .program);
  const Program reference = reference_program(program);
  EXPECT_EQ(reference.outputs[0]->dtype, program.outputs[0]->dtype);
  EXPECT_EQ(reference.outputs[1]->dtype, kF64);
  const std::vector<Tensor> inputs = inputs_of(program, false);
  EXPECT_EQ(run(reference, inputs)[0].bytes, run(program, inputs)[0].bytes);
}

TEST(ErrorUnit, GrowsWithTheRootOfTheTerms) {
  const auto unit = [](const char* text) { return error_unit(WorkloadLibrary().load(text).program); };
  const double u = unit_roundoff(kF32);
  EXPECT_DOUBLE_EQ(unit("gmm:n=4,m=4,k=15"), 4 * u);
  EXPECT_DOUBLE_EQ(unit("gmm:n=4,m=4,k=63"), 8 * u);
  EXPECT_DOUBLE_EQ(unit("gmm:n=4,m=4,k=15,dtype=f64"), 4 * unit_roundoff(kF64));
}

/// The unscheduled program in its own precision is right by the measure, and a small mistake is not.
class LibraryWorkloads : public testing::TestWithParam<const char*> {};

TEST_P(LibraryWorkloads, RoundingIsWithinTheToleranceAndAMistakeIsNot) {
  const Workload workload = WorkloadLibrary().load(GetParam());
  const Program reference = reference_program(workload.program);
  for (const bool positive : {false, true}) {
    std::vector<Tensor> inputs = inputs_of(workload.program, positive);
    const std::vector<Tensor> wanted = run(reference, inputs);
    EXPECT_LE(worst(workload.program, run(workload.program, inputs), wanted), 1.0);
    // One element of the first input is another: as an index that is wrong once.
    inputs[0].set(inputs[0].elements() / 2, inputs[0].get(inputs[0].elements() / 2) + 1.0);
    EXPECT_GT(worst(workload.program, run(workload.program, inputs), wanted), 1.0);
  }
}

TEST_P(LibraryWorkloads, InFastOrderEveryBitIsTheSame) {
  const Workload workload = WorkloadLibrary().load(GetParam());
  const Program reference = reference_program(workload.program);
  const std::vector<Tensor> inputs = inputs_of(workload.program, false);
  EXPECT_EQ(run(in_fast_order(reference), inputs), run(reference, inputs));
}

TEST(FastOrder, OfAProductRunsAlongTheRowsInParallel) {
  const Workload workload = WorkloadLibrary().load("gmm:n=3,m=2,k=5");
  Schedule schedule(in_fast_order(reference_program(workload.program)));
  const BlockRV block = schedule.get_block(schedule.program().blocks().front()->name);
  std::vector<std::string> loops;
  for (const LoopRV& loop : schedule.get_loops(block)) loops.push_back(schedule.loop(loop).var->name);
  EXPECT_EQ(loops, (std::vector<std::string>{"z", "i", "r", "j"}));
  EXPECT_EQ(schedule.loop(schedule.get_loops(block)[1]).loop_kind, LoopKind::Parallel);
}

INSTANTIATE_TEST_SUITE_P(Small, LibraryWorkloads,
                         testing::Values("gmm:n=7,m=5,k=33", "conv2d:h=6,w=5,ci=3,co=4,kernel=3,padding=1",
                                         "dense_bias_gelu:n=6,m=5,k=7", "conv_bias_bn_relu:h=5,w=5,ci=3,co=4",
                                         "softmax:m=4,n=37", "elementwise_chain:n=5,m=7",
                                         "layer_norm:m=4,n=19", "norm:m=6,n=8"));

}  // namespace
}  // namespace tunesmith

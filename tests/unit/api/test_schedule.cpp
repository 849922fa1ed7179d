#include "unit/api/test_schedule.h"

#include "api/handles.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith_test {
namespace {

using namespace tunesmith;

tunesmith_schedule* schedule_of(const char* compute, const char* output) {
  const std::string file = std::string(
                               "name: t\ninputs: {A: {shape: [16, 8], dtype: f32}, B: {shape: [8, 16], "
                               "dtype: f32}}\ncompute: |\n  C[i<16, j<16] = sum(k<8) A[i, k] * B[k, j]\n") +
                           compute + "outputs: [" + output + "]\n";
  return new tunesmith_schedule(
      Schedule(WorkloadDefinition::parse(file, "t.yaml").instantiate().program, RandomStream(1)));
}

}  // namespace

tunesmith_schedule* make_gmm_schedule() { return schedule_of("", "C"); }
tunesmith_schedule* make_relu_schedule() { return schedule_of("  R[i<16, j<16] = max(C[i, j], 0)\n", "R"); }

}  // namespace tunesmith_test

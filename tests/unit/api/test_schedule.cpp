#include "unit/api/test_schedule.h"

#include <memory>
#include <utility>
#include <vector>

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

OptionText::OptionText(const std::string& text) {
  const std::vector<OptionSpec> specs = {OptionSpec::string("trace", "", "instructions")};
  RawScalar written{text, {"my.yaml", 9, 13}};
  int line = 9;
  for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    written.parts.emplace_back(begin, SourceLocation{"my.yaml", line++, 13});
    if (text.find('\n', begin) == std::string::npos) break;
  }
  RawOption option;
  option.name = "trace";
  option.values = {written};
  option.value_location = written.location;
  // The result points to the options, so both live together.
  struct Kept {
    Options options;
    tunesmith_options told;
  };
  const auto kept = std::make_shared<Kept>(Kept{Options::validate(specs, {{option}}, "module 'test'"), {}});
  kept->told.options = &kept->options;
  kept->told.specs = specs;
  told_ = std::shared_ptr<const tunesmith_options>(kept, &kept->told);
}

tunesmith_schedule* make_gmm_schedule() { return schedule_of("", "C"); }
tunesmith_schedule* make_chain_schedule() {
  return schedule_of("  R[i<16, j<16] = max(C[i, j], 0)\n  S[i<16, j<16] = R[i, j] + 1\n", "S");
}
tunesmith_schedule* make_relu_schedule() { return schedule_of("  R[i<16, j<16] = max(C[i, j], 0)\n", "R"); }

}  // namespace tunesmith_test

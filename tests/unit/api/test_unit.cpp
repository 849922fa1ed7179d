#include "unit/api/test_unit.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/handles.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith_test {
namespace {

using namespace tunesmith;

const std::vector<TensorIntrinsicPtr>& unit() {
  static const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/intrinsics.yaml");
  static const std::vector<TensorIntrinsicPtr> intrinsics = extension->intrinsics();
  return intrinsics;
}

class UnitContext final : public ModuleContext {
 public:
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return host_execution(); }
  const Program& original() const override { return original_; }
  bool has_extension(std::string_view name) const override { return name == "unit"; }
  std::vector<TensorIntrinsicPtr> intrinsics(std::string_view extension) const override {
    return has_extension(extension) ? unit() : std::vector<TensorIntrinsicPtr>();
  }
  void claim(std::string_view, std::string) override {}

 private:
  DeviceModel device_;
  Program original_;
};

}  // namespace

tunesmith_schedule* make_schedule_with_unit() {
  const std::string file =
      "name: t\ninputs: {A: {shape: [16, 8], dtype: f64}, B: {shape: [8, 16], dtype: f64}}\n"
      "compute: |\n  C[i<16, j<16] = sum(k<8) A[i, k] * B[k, j]\noutputs: [C]\n";
  return new tunesmith_schedule(Schedule(WorkloadDefinition::parse(file, "t.yaml").instantiate().program,
                                         RandomStream(1), std::make_shared<const TensorIntrinsics>(unit())));
}

tunesmith_context* context_with_unit() {
  static UnitContext context;
  static tunesmith_context handle(context);
  return &handle;
}

}  // namespace tunesmith_test

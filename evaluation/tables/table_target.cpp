// The target of a table: quantities, and kernels that only identify their program.

#include "tunesmith/evaluation/replay.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

class TableTarget final : public Target {
 public:
  explicit TableTarget(const Table& table)
      : identity_(table.identity),
        fingerprint_(hex64(hash_bytes(table.target))),
        device_(table.device),
        limits_(table.limits) {}

  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return identity_; }
  std::string fingerprint() const override { return fingerprint_; }
  LowerOptions lower_options() const override { return limits_; }
  bool can_prepare() const override { return limits_.prepare; }
  /// The features that the table's extensions need were available at recording.
  bool has_feature(std::string_view /*name*/) const override { return true; }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    CompiledKernel kernel;
    kernel.object = hex64(lowered_hash(lowered));
    kernel.symbol = symbol;
    return kernel;
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override { refuse(); }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw InternalError("a recorded table's programs are looked up, not run");
  }

  std::string identity_;
  std::string fingerprint_;
  DeviceModel device_;
  LowerOptions limits_;
};

}  // namespace

std::shared_ptr<Target> make_table_target(const Table& table) { return std::make_shared<TableTarget>(table); }

SpaceSpec table_space(const Table& table, const SpaceSpec& search) {
  SpaceSpec space = table.space;
  space.name = search.name;
  space.search = search.search;
  space.cost_model = search.cost_model;
  return space;
}

}  // namespace tunesmith

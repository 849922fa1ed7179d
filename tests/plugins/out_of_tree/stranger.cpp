#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

namespace {

class Stranger final : public tunesmith::TargetExtension {
 public:
  explicit Stranger(const tunesmith::Options& options) : units_(options.get_int("units")) {}
  tunesmith::ProbeResult probe(const tunesmith::Target&) const override { return {"stranger_unit"}; }
  void describe(tunesmith::DeviceModel& device) const override {
    device.set("stranger_units", static_cast<double>(units_));
  }
  void adapt(tunesmith::LowerOptions&) const override {}

 private:
  int64_t units_;
};

}  // namespace

TUNESMITH_PLUGIN(Stranger, tunesmith::PluginKind::Extension, "stranger", "2.0.0", "a matrix unit of nobody",
                 tunesmith::OptionSpec::integer("units", 4, 1, 64, "matrix units"));

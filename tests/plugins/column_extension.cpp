// An extension that adds a column of features: the machine's "scale" times the loops around a store.
#include <limits>
#include <stdexcept>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

namespace {

using namespace tunesmith;

class Columns final : public TargetExtension {
 public:
  explicit Columns(const Options& options)
      : name_(options.get_string("column")), value_(options.get_string("value")) {}

  ProbeResult probe(const Target& /*base*/) const override { return {}; }
  void describe(DeviceModel& device) const override { device.set("scale", 3.0); }
  void adapt(LowerOptions& /*options*/) const override {}
  std::vector<AddedColumn> feature_columns() const override {
    return {{{name_, "loops", "around the store, times the scale of the machine"},
             [value = value_](const FeatureStore& store) {
               if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
               if (value == "throws") throw std::runtime_error("boom in a column");
               return store.device.get("scale") * static_cast<double>(store.loops.size());
             }}};
  }

 private:
  std::string name_;
  std::string value_;
};

}  // namespace

TUNESMITH_PLUGIN(Columns, PluginKind::Extension, "columns", "1.0.0", "adds a column of features",
                 OptionSpec::string("column", "scaled_loops", "its name"),
                 OptionSpec::choice("value", "loops", {"loops", "nan", "throws"}, "what it gives"));

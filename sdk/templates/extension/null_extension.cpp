// An extension of a target that adds one quantity to the machine's description and changes nothing else: a
// start for your own. The interface is documented in <tunesmith/target/target.h>.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

namespace {

using namespace tunesmith;

class NullExtension final : public TargetExtension {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullExtension(const Options& options) : units_(options.get_int("units")) {}

  // Is the hardware available? {} means yes; {"the feature's name"} names what this machine lacks. With
  // `with: [null_extension?]` a space uses the extension only if its hardware is available.
  ProbeResult probe(const Target& /*base*/) const override { return {}; }

  // Sets quantities that modules for this hardware read.
  void describe(DeviceModel& device) const override {
    device.set("null_extension_units", static_cast<double>(units_));
  }

  // Sets limits and adds intrinsics. extend(Pipeline&) inserts steps of lowering.
  void adapt(LowerOptions& /*options*/) const override {}

 private:
  int64_t units_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullExtension, PluginKind::Extension, "null_extension", "0.1.0", "adds one quantity",
                 OptionSpec::integer("units", 0, 0, 64, "units of the hardware"));

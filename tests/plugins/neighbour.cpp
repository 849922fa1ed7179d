// A healthy plugin, written as a stranger would write one. Takes no options.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

namespace {

class Neighbour final : public tunesmith::TargetExtension {
 public:
  tunesmith::ProbeResult probe(const tunesmith::Target&) const override { return {}; }
  void describe(tunesmith::DeviceModel& device) const override { device.set("scale", 0.0); }
  void adapt(tunesmith::LowerOptions&) const override {}
};

}  // namespace

TUNESMITH_PLUGIN(Neighbour, tunesmith::PluginKind::Extension, "neighbour", "1.0.0",
                 "describes a scale of zero");

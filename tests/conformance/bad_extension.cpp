// Adds a quantity, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <limits>
#include <stdexcept>

#include <tunesmith/ir/visit.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<int> descriptions;

class BadExtension final : public TargetExtension {
 public:
  ProbeResult probe(const Target& /*base*/) const override {
    if (mistake("probe_throws")) throw std::runtime_error("boom in probe");
    return {mistake("not_here") ? "the flux unit" : ""};
  }
  void describe(DeviceModel& device) const override {
    device.set("bad_units", mistake("infinite_quantity") ? std::numeric_limits<double>::infinity() : 1.0);
    if (mistake("describes_anew")) device.set("descriptions", descriptions++);
  }
  void adapt(LowerOptions& options) const override {
    if (mistake("impossible_vectors")) options.vector_bits = 3;
  }
  void extend(Pipeline& pipeline) const override {
    if (mistake("pass_shrinks_loops")) {
      pipeline.insert_before("plan_memory", program_step("shrink_loops", [](Program& program) {
                               for (Loop* loop : collect<Loop>(program.root())) loop->extent = int_imm(1);
                             }));
    }
  }
};

}  // namespace

TUNESMITH_PLUGIN(BadExtension, PluginKind::Extension, "bad_extension", "1.0.0",
                 "makes the mistake that it is asked for");

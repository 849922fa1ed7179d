// An extension's identity consists of its library's bytes, its pack's libraries, its version and its options.
#include "space/extension_identity.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

class Unit final : public TargetExtension {
 public:
  ProbeResult probe(const Target& /*base*/) const override { return {}; }
  void describe(DeviceModel& /*device*/) const override {}
  void adapt(LowerOptions& /*options*/) const override {}
};

PluginInfo library() {
  PluginInfo info;
  info.kind = PluginKind::Extension;
  info.id = "unit";
  info.version = "1.0.0";
  info.vendor = "Acme";
  info.source = PluginSource::CommandLine;
  info.sha256 = std::string(64, 'a');
  return info;
}

Options options(const std::string& rows) {
  const std::vector<OptionSpec> specs{OptionSpec::integer("rows", 8, 1, 64, "rows of a tile")};
  RawOption rows_option;
  rows_option.name = "rows";
  rows_option.shape = RawOption::Shape::Scalar;
  RawScalar value;
  value.text = rows;
  rows_option.values = {value};
  const std::vector<RawOption> written{rows_option};
  return Options::validate(specs, written, "extension 'unit'", {});
}

TEST(ExtensionIdentity, OfALibraryIsAllThatItIs) {
  const auto identity = [](const PluginInfo& info, const std::string& rows = "8") {
    return extension_identity(Unit(), options(rows), &info);
  };
  PluginInfo rebuilt = library();
  rebuilt.sha256 = std::string(64, 'b');
  PluginInfo newer = library();
  newer.version = "1.0.1";
  PluginInfo with_runtime = library();
  with_runtime.libraries = {{"libunit.so.1", std::string(64, 'c')}};
  PluginInfo other_runtime = library();
  other_runtime.libraries = {{"libunit.so.1", std::string(64, 'd')}};
  const std::set<std::string> different{identity(library()),    identity(library(), "4"),
                                        identity(rebuilt),      identity(newer),
                                        identity(with_runtime), identity(other_runtime)};
  EXPECT_EQ(different.size(), 6U);
  PluginInfo elsewhere = library();
  elsewhere.source = PluginSource::User;
  elsewhere.manifest = "/elsewhere/unit.pack.json";
  EXPECT_EQ(identity(elsewhere), identity(library()));
}

TEST(ExtensionIdentity, TheKernelsOwnTargetsAreKnownByTheirFingerprints) {
  PluginInfo kernels = library();
  kernels.vendor = "Tunesmith";
  kernels.source = PluginSource::System;
  EXPECT_EQ(foreign_target_identity(kernels), "");
  PluginInfo dropped_in = library();
  dropped_in.source = PluginSource::System;
  EXPECT_NE(foreign_target_identity(dropped_in), "");
  PluginInfo rebuilt = library();
  rebuilt.sha256 = std::string(64, 'b');
  EXPECT_NE(foreign_target_identity(rebuilt), foreign_target_identity(library()));
}

}  // namespace
}  // namespace tunesmith

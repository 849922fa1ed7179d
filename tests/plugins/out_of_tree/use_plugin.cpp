// use_plugin FOLDER LOCK: uses the plugin of FOLDER, and checks the files of all plugins of the installation.
#include <cstdio>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/target/target.h>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    tunesmith::PluginSearch search;
    search.command_line = {{arguments[1]}};
    tunesmith::PluginRegistry registry(search);
    const auto& specs = registry.option_specs(tunesmith::PluginKind::Extension, "stranger");
    const auto stranger = registry.create<tunesmith::TargetExtension>(
        "stranger", tunesmith::Options::defaults(specs, "extension 'stranger'"));
    tunesmith::DeviceModel device;
    stranger->describe(device);
    registry.write_lock(arguments[2]);
    return device.all().at("stranger_units") == 4.0 ? 0 : 3;
  } catch (const tunesmith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// A target that describes a machine of modest, made-up size and compiles nothing: the start of a new one.
// Spaces can be composed, explained and sampled for it before its compiler exists. The interface is
// documented in <tunesmith/target/target.h>, what lowered programs look like in <tunesmith/lower/lower.h>.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/target.h>

namespace {

using namespace tunesmith;

class NullTarget final : public Target {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullTarget(const Options& options) : vector_bits_(options.get_int("vector_bits")) {
    // Modules and cost models read these quantities, never a device's name.
    device_.set("cores", 1);
    device_.set("vector_bits", static_cast<double>(vector_bits_));
    device_.set("vector_registers", 16);
    device_.set("vector_registers_used_by_tile", 12);
    device_.set("fma_per_cycle", 1);
    device_.set("l1_bytes", 32768);
    device_.set("l2_bytes", 524288);
    device_.set("l3_bytes", 8388608);
    device_.set("cache_line_bytes", 64);
    device_.description = "nothing but a description";
  }

  // {} is "here"; {"the feature's name"} is what this machine lacks.
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  // Of the code generator, so that times of old code are not taken for those of new code: a real target
  // answers a version that is raised with each such change, and its compiler's version.
  std::string fingerprint() const override { return "1"; }
  // What code is compiled for: kind, processor, features, options. Records of another identity are not taken
  // as this one's.
  std::string identity() const override { return "null_target vector_bits=" + std::to_string(vector_bits_); }
  LowerOptions lower_options() const override {
    LowerOptions options;
    options.vector_bits = vector_bits_;
    return options;
  }

  // Thread-safe. A program that cannot be compiled is an answer (the compiler's message), not an exception.
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected(std::string(kNothing));
  }
  std::string assembly(const LoweredProgram& lowered, const std::string& /*symbol*/) override {
    return "; " + std::to_string(lowered.workspace_bytes) + " bytes of workspace, and no code\n";
  }

  // What the machine or the installation lacks is an EnvironmentError.
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    throw EnvironmentError(kNothing);
  }
  // What else a target may offer, as libraries and peaks, is in the facets at the end of its interface.

 private:
  static constexpr const char* kNothing = "this target has no compiler yet";

  int64_t vector_bits_;
  DeviceModel device_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullTarget, PluginKind::Target, "null_target", "0.1.0",
                 "describes a machine and compiles nothing",
                 OptionSpec::integer("vector_bits", 128, 64, 2048, "of the widest vector register"));

// A target that describes a small, made-up machine and compiles nothing: a start for your own. Spaces can be
// composed, explained and sampled for it before its compiler exists. The interface is documented in
// <tunesmith/target/target.h>, the form of lowered programs in <tunesmith/lower/lower.h>.
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

  // {} means that the hardware is available; {"the feature's name"} names what this machine lacks.
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  // The version of the code generator, so that times of old code do not count for new code. A real target
  // returns a version that is raised with each change of the generated code, and its compiler's version.
  std::string fingerprint() const override { return "1"; }
  // Identifies what code is compiled for: kind, processor, features, options. Records of other identities do
  // not count.
  std::string identity() const override { return "null_target vector_bits=" + std::to_string(vector_bits_); }
  LowerOptions lower_options() const override {
    LowerOptions options;
    options.vector_bits = vector_bits_;
    return options;
  }

  // Thread-safe. Returns the compiler's message for a program that cannot be compiled, and does not throw.
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected(std::string(kNothing));
  }
  std::string assembly(const LoweredProgram& lowered, const std::string& /*symbol*/) override {
    return "; " + std::to_string(lowered.workspace_bytes) + " bytes of workspace, and no code\n";
  }

  // Throws EnvironmentError for what the machine or the installation lacks.
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    throw EnvironmentError(kNothing);
  }
  // The facets at the end of the interface are optional: libraries, peaks and others.

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

#include "golden/drawn_programs.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tunesmith/lower/version.h"
#include "tunesmith/performance/grid_work.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith::golden {
namespace {

constexpr const char* kSymbol = "golden";
/// The maximum number of draws, some of which are refused.
constexpr uint64_t kMaxDraws = 8;

constexpr Machine kMachines[] = {{"llvm", "cpu", "znver4", 2},
                                 {"llvm", "cpu", "sapphirerapids", 1},
                                 {"llvm", "cpu", "neoverse-n1", 1},
                                 {"llvm", "cpu-tiling", "haswell", 1},
                                 {"llvm", "cpu-paper", "skylake-avx512", 1},
                                 {"cuda", "cuda", "", 2},
                                 {"cuda", "cuda-attention", "", 1},
                                 {"cuda", "cuda-paper", "", 1},
                                 {"cuda", "cuda-tensorcore", "", 1},
                                 {"cuda", "cuda-tensorcore-mma", "", 1},
                                 {"cuda", "cuda-hopper", "", 1}};

constexpr const char* kWorkloads[] = {"gmm:n=33,m=70,k=48",
                                      "gmm:n=64,m=64,k=64,constant_b=1",
                                      "gmm:n=64,m=64,k=64,dtype=f16",
                                      "gmm:n=64,m=64,k=64,dtype=bf16",
                                      "gmm:n=64,m=64,k=64,dtype=u8,b_dtype=i8,acc=i32",
                                      "gmm:n=64,m=64,k=64,dtype=i8,acc=i32",
                                      "gmm:b=2,n=128,m=128,k=128,dtype=f16,acc=f32",
                                      "gmm_tf32:n=64,m=64,k=32",
                                      "gram:n=24,k=40",
                                      "dense_bias:n=16,m=48,k=32",
                                      "dense_bias_gelu:n=16,m=48,k=32",
                                      "attention_scores:seq=16,heads=2,dim=16",
                                      "conv1d:l=32,ci=16,co=24,kernel=3,stride=2",
                                      "conv2d:h=9,w=9,ci=8,co=20",
                                      "conv2d:h=8,w=8,ci=16,co=16,groups=4",
                                      "conv2d:h=12,w=12,ci=4,co=16,dilation=2,padding=2",
                                      "conv3d:d=4,h=6,w=6,ci=4,co=8",
                                      "conv_bias_bn_relu:h=8,w=8,ci=8,co=16",
                                      "capsule_conv2d:h=6,w=6,ci=4,co=4,stride=1",
                                      "depthwise_conv2d:h=10,w=10,c=24",
                                      "transposed_conv2d:h=4,w=4,ci=16,co=8",
                                      "avg_pool2d:h=12,w=12,c=16",
                                      "max_pool2d:h=12,w=12,c=16",
                                      "norm:m=24,n=40",
                                      "softmax:m=12,n=100",
                                      "layer_norm:m=12,n=96",
                                      "elementwise_chain:n=24,m=40",
                                      "relu:n=24,m=40",
                                      "reduce_sum_1d:n=4096",
                                      "reduce_sum_2d:m=24,n=160"};

/// Quantities that would otherwise be detected.
constexpr std::pair<const char*, double> kDescription[] = {
    {"cores", 8.0},           {"l1_bytes", 32768.0},     {"l2_bytes", 1048576.0},   {"l3_bytes", 33554432.0},
    {"l1_way_bytes", 4096.0}, {"l2_way_bytes", 65536.0}, {"cache_line_bytes", 64.0}};

/// The space's target with a description that does not depend on this machine.
class DescribedTarget final : public Target {
 public:
  explicit DescribedTarget(std::unique_ptr<Space> space)
      : space_(std::move(space)), device_(target().device()) {
    for (const auto& [quantity, value] : kDescription) device_.set(quantity, value);
  }

  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return target().execution(); }
  std::string identity() const override { return target().identity(); }
  std::string fingerprint() const override { return target().fingerprint(); }
  LowerOptions lower_options() const override { return target().lower_options(); }
  Pipeline pipeline() const override { return target().pipeline(); }
  std::vector<std::string> consumes() const override { return target().consumes(); }
  bool can_prepare() const override { return target().can_prepare(); }
  bool has_feature(std::string_view name) const override { return target().has_feature(name); }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    return target().compile(lowered, symbol);
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override { return target().load(kernel); }
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override {
    return target().assembly(lowered, symbol);
  }

 private:
  Target& target() const { return space_->target(); }

  const std::unique_ptr<Space> space_;
  DeviceModel device_;
};

/// For targets that write text, the text and its modelled time; else the machine code, since compiler options
/// that the text before it does not show determine it, too.
std::string code_of(const Space& space, const LoweredProgram& lowered) {
  Target& target = space.target();
  try {
    if (const auto text = target.source(lowered, kSymbol))
      return fmt::format("{}// {:.6g} s\n", *text,
                         grid_seconds(lowered.program, target.execution(), space.device()));
    return target.assembly(lowered, kSymbol);
  } catch (const LowerError& refusal) {
    return refusal.what();
  }
}

void draw_workload(const Machine& machine, const Space& space, const char* name, size_t number,
                   Corpus& corpus) {
  const Workload workload = WorkloadLibrary().load(name);
  const SketchSet set = space.generate(workload.program);
  std::set<uint64_t> drawn;
  for (uint64_t i = 0; i < kMaxDraws && std::ssize(drawn) < machine.programs; ++i) {
    const Trace& sketch = set.sketches[(number + i) % set.sketches.size()].trace();
    const auto candidate =
        space.materialise(workload.program, sketch.with_open_decisions(), RandomStream(number, i));
    if (!candidate || !drawn.insert((*candidate)->lowered_hash).second) continue;
    std::string where = machine.space;
    if (!std::string_view(machine.processor).empty()) where += fmt::format("/{}", machine.processor);
    corpus.programs[fmt::format("{} {} {} {}", machine.target, where, name, i)] = {
        hex64(hash_bytes((*candidate)->trace.str())), hex64((*candidate)->lowered_hash),
        hex64(hash_bytes(code_of(space, (*candidate)->lowered)))};
  }
}

Generator generator_of(const Space& space, const Machine& machine) {
  const std::string fingerprint = space.target().fingerprint();
  const size_t comma = std::min(fingerprint.find(','), fingerprint.size());
  if (std::string_view(machine.target) == "cuda")
    return {fingerprint.substr(0, comma), "", "targets/cuda/generator.cpp"};
  return {fingerprint.substr(0, comma), fingerprint.substr(std::min(comma + 1, fingerprint.size())),
          "targets/llvm/llvm_target.cpp"};
}

}  // namespace

std::span<const Machine> machines() { return kMachines; }

SpaceSpec space_of(const Machine& machine) {
  return SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(machine.space);
}

std::unique_ptr<Space> make_space(const Machine& machine, SpaceSpec spec, PluginRegistry& registry) {
  if (std::string_view(machine.processor).empty())
    return std::make_unique<Space>(spec, registry, TargetPresence::NotRequired);
  for (RawOption& option : spec.target.options) {
    if (option.name == "mcpu") option.values.front().text = machine.processor;
  }
  SpaceSpec plain = spec;
  plain.extensions.clear();
  return std::make_unique<Space>(spec, registry,
                                 std::make_shared<DescribedTarget>(
                                     std::make_unique<Space>(plain, registry, TargetPresence::NotRequired)));
}

std::string draw(const Machine& machine, PluginRegistry& registry, const std::function<bool()>& is_wanted,
                 Corpus& corpus) {
  std::unique_ptr<Space> space;
  try {
    space = make_space(machine, space_of(machine), registry);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  if (const auto& absent = space->absent_extensions(); !absent.empty()) return absent.front().str();
  corpus.lowering = fmt::format("{}", kLoweringVersion);
  corpus.generators[machine.target] = generator_of(*space, machine);
  size_t number = 0;
  for (const char* workload : kWorkloads) {
    ++number;
    if (is_wanted()) draw_workload(machine, *space, workload, number, corpus);
  }
  return "";
}

}  // namespace tunesmith::golden

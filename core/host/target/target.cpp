#include "tunesmith/target/target.h"

#include <algorithm>

#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/target/target_identity.h"

namespace tunesmith {

std::string task_target(const Target& target) { return TargetIdentity::of(target).str(); }

namespace {

bool reads(const Stmt& root, const Buffer& buffer) {
  return any_of_exprs(root, [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    return load != nullptr && load->buffer == buffer;
  });
}

}  // namespace

// Key functions: one type identity for all libraries.
LoadedKernel::~LoadedKernel() = default;
Target::~Target() = default;
IntrinsicCompiler::~IntrinsicCompiler() = default;
TargetExtension::~TargetExtension() = default;

tunesmith_kernel LoadedKernel::prepare() const { return nullptr; }

std::optional<KernelFault> LoadedKernel::take_fault() { return std::nullopt; }

std::optional<double> LoadedKernel::modelled_seconds() const { return std::nullopt; }

std::optional<double> LoadedKernel::device_seconds(int /*calls*/, void* const* /*buffers*/,
                                                   void* /*workspace*/) {
  return std::nullopt;
}

const ExecutionModel& Target::execution() const { return host_execution(); }

std::optional<std::string> Target::source(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) {
  return std::nullopt;
}

bool Target::can_prepare() const { return false; }

Pipeline Target::pipeline() const { return standard_pipeline(); }
std::vector<std::string> Target::consumes() const { return {}; }

void TargetExtension::extend(Pipeline& /*pipeline*/) const {}
std::vector<AddedColumn> TargetExtension::feature_columns() const { return {}; }

LowerOptions lower_options_of(const Target& target) {
  LowerOptions options = target.lower_options();
  options.execution = target.execution();
  return options;
}

LoweredProgram lower_for(const Target& target, const Program& program) {
  return lower(program, lower_options_of(target), target.pipeline());
}

const IntrinsicCompiler* Target::intrinsic_compiler() const { return nullptr; }
Packaging* Target::packaging() { return nullptr; }
Benchmarking* Target::benchmarking() { return nullptr; }
SeparateDevice* Target::separate_device() { return nullptr; }

bool Target::has_feature(std::string_view /*name*/) const { return false; }

std::optional<PrepareStep> prepare_step(const LoweredProgram& lowered, std::string symbol) {
  if (!lowered.prepare) return std::nullopt;
  const std::vector<Buffer>& taken = lowered.prepare->program.inputs;
  PrepareStep step;
  step.symbol = std::move(symbol);
  step.bytes = lowered.prepared_bytes;
  for (size_t i = 0; i < lowered.program.inputs.size(); ++i) {
    const Buffer& input = lowered.program.inputs[i];
    if (std::find(taken.begin(), taken.end(), input) == taken.end()) continue;
    step.reads.push_back(i);
    if (!reads(lowered.program.root(), input)) step.unread.push_back(i);
  }
  return step;
}

}  // namespace tunesmith

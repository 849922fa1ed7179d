// Checks of targets: compiled programs compute the same as the interpreter.
#include <cmath>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "checks.h"
#include "numeric.h"
#include "run_kernel.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"

namespace tunesmith::conformance {
namespace of_targets {
namespace {

constexpr uint64_t kSeed = 30;

Verdict not_here(const std::string& missing) {
  return unsupported(fmt::format("this machine lacks {}", missing));
}

/// The description is finite, complete, and constant.
Verdict check_contract(const Subject& subject) {
  const auto target = subject.create<Target>();
  const auto again = subject.create<Target>();
  for (const auto& [name, value] : target->device().all()) {
    if (!std::isfinite(value) || value < 0.0)
      return failed(fmt::format("the quantity {} is {}", name, value));
  }
  for (const char* name : {"cores", "vector_bits"}) {
    if (target->device().get_or(name, 0.0) < 1.0)
      return failed(fmt::format("it does not say how many {}", name));
  }
  const LowerOptions options = target->lower_options();
  if (options.vector_bits < 8 || options.vector_bits % 8 != 0 || options.vector_registers < 1) {
    return failed(
        fmt::format("cannot lower for {} vectors of {} bits", options.vector_registers, options.vector_bits));
  }
  if (const std::string fault = execution_model_fault(target->execution()); !fault.empty())
    return failed("its levels and scopes: " + fault);
  if (target->execution() != again->execution())
    return failed("two objects with the same options have different levels or scopes", "P19");
  const std::string identity = target->identity();
  if (identity.empty() || identity.find('\n') != std::string::npos)
    return failed("its identity is not one line");
  if (identity != again->identity() || identity != target->identity())
    return failed("its identity changes", "P19");
  const std::string fingerprint = target->fingerprint();
  if (fingerprint.empty() || fingerprint.find('\n') != std::string::npos)
    return failed("the fingerprint of its code generator is not one line");
  if (fingerprint != again->fingerprint())
    return failed("the fingerprint of its code generator changes", "P19");
  if (target->device().all() != again->device().all()) {
    return failed("two objects with the same options describe different machines", "P19");
  }
  if (target->probe().missing != again->probe().missing) return failed("its probe changes its mind", "P19");
  return passed();
}

/// "" when the compiled program's outputs are right.
std::string run_and_compare(Target& target, const CompiledKernel& compiled, const Program& program) {
  const Numeric numeric(program, kSeed);
  KernelRuns runs(target, compiled, program.inputs.size());
  for (size_t set = 0; set < numeric.sets(); ++set) {
    const std::vector<Tensor> got = runs.run(numeric.arguments(set));
    if (std::string fault = numeric.difference(set, got); !fault.empty()) return fault;
  }
  return {};
}

/// Compiles workloads and runs them. A target without a compiler is unsupported, a wrong result a failure.
Verdict check_results(const Subject& subject) {
  const auto target = subject.create<Target>();
  if (const ProbeResult probe = target->probe(); !probe.here()) return not_here(probe.missing);
  std::string refusal;
  size_t compiled_programs = 0;
  for (const Workload& workload : subject.workloads()) {
    const LoweredProgram lowered = lower_for(*target, workload.program);
    const auto compiled = target->compile(lowered, "kernel");
    if (!compiled) {
      refusal = fmt::format("{}: {}", workload.name, compiled.error());
      continue;
    }
    ++compiled_programs;
    if (const std::string fault = run_and_compare(*target, *compiled, workload.program); !fault.empty()) {
      return failed(fmt::format("{}: {}", workload.name, fault));
    }
    if (target->assembly(lowered, "kernel").empty())
      return failed(fmt::format("{}: no assembly", workload.name));
  }
  if (compiled_programs == 0) return unsupported("it compiles none of the kit's programs: " + refusal);
  return refusal.empty() ? passed() : failed("it compiles some of the kit's programs, but not " + refusal);
}

/// A target that can prepare constant inputs does so, and reads what it prepared.
Verdict check_preparation(const Subject& subject) {
  const auto target = subject.create<Target>();
  if (const ProbeResult probe = target->probe(); !probe.here()) return not_here(probe.missing);
  if (!target->can_prepare()) return skipped("what it makes of constant inputs it makes at every call");
  const Program program = WorkloadLibrary().load("gmm:n=8,m=12,k=16,constant_b=1").program;
  Schedule schedule(program);
  const BlockRV packed = schedule.cache_read(schedule.get_block("C"), 1, kScopeGlobal);
  schedule.transform_layout(packed, "write", 0, "(z, k, j) -> (z, j // 4, k, j % 4)");
  LowerOptions options = target->lower_options();
  options.prepare = true;
  const auto compiled = target->compile(lower(schedule.program(), options), "kernel");
  if (!compiled) return failed(compiled.error());
  if (!compiled->prepare) return failed("it says that it prepares, but compile() gives no step that does");
  const std::string fault = run_and_compare(*target, *compiled, program);
  return fault.empty() ? passed() : failed("with its second operand packed ahead of the call: " + fault);
}

/// compile() is promised to be thread-safe.
Verdict check_threads(const Subject& subject) {
  constexpr size_t kThreads = 4;
  const auto target = subject.create<Target>();
  if (const ProbeResult probe = target->probe(); !probe.here()) return not_here(probe.missing);
  if (!target->compile(lower_for(*target, subject.workloads().front().program), "kernel")) {
    return unsupported("it compiles nothing");
  }
  std::vector<std::string> faults(kThreads);
  std::vector<std::vector<CompiledKernel>> kernels(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (const Workload& workload : subject.workloads()) {
            auto compiled = target->compile(lower_for(*target, workload.program), "kernel");
            if (!compiled) throw EnvironmentError(compiled.error());
            kernels[t].push_back(std::move(*compiled));
          }
        } catch (const std::exception& error) {
          faults[t] = fmt::format("compiling in several threads: {}", error.what());
        }
      });
    }
  }
  for (size_t t = 0; t < kThreads; ++t) {
    if (!faults[t].empty()) return failed(faults[t]);
    for (size_t i = 0; i < kernels[t].size(); ++i) {
      const Workload& workload = subject.workloads()[i];
      if (const std::string fault = run_and_compare(*target, kernels[t][i], workload.program);
          !fault.empty()) {
        return failed(fmt::format("{}, compiled by one of several threads: {}", workload.name, fault));
      }
    }
  }
  return passed();
}

/// A damaged object is refused as a fault of the environment, and not run.
Verdict check_failures(const Subject& subject) {
  const auto target = subject.create<Target>();
  for (const char* object : {"", "damaged"}) {
    try {
      const auto kernel = target->load({object, "kernel", 0, 0.0});
      return failed("it loads an object that is damaged");
    } catch (const EnvironmentError&) {
      continue;
    } catch (const std::exception& error) {
      return failed(fmt::format("a damaged object is no EnvironmentError: {}", error.what()));
    }
  }
  return passed();
}

/// A library and its header are written to the requested folder.
Verdict check_library(const Subject& subject) {
  const auto target = subject.create<Target>();
  if (const ProbeResult probe = target->probe(); !probe.here()) return not_here(probe.missing);
  Packaging* const packaging = target->packaging();
  if (packaging == nullptr) return skipped("it has no facet that writes libraries");
  if (models_times(*target)) return skipped("what it models the times of is not here to be built for");
  const Workload& workload = subject.workloads().front();
  const auto compiled = target->compile(lower_for(*target, workload.program), "kernel");
  if (!compiled) return unsupported("it compiles nothing");
  std::string folder = (std::filesystem::temp_directory_path() / "tunesmith-verify-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return unsupported("no folder for temporary files");
  const LibraryFiles files =
      packaging->build_library({&*compiled, &workload.program, "conformance", folder, "the conformance kit"});
  const bool written = std::filesystem::exists(files.library) && std::filesystem::exists(files.header) &&
                       std::filesystem::path(files.library).filename() == "libconformance.so" &&
                       std::filesystem::path(files.header).filename() == "conformance.h";
  std::filesystem::remove_all(folder);
  return written ? passed() : failed("build_library() wrote no libconformance.so and conformance.h");
}

constexpr Check kChecks[] = {
    {"contract", "P26", &check_contract}, {"results", "P26", &check_results},
    {"threads", "P20", &check_threads},   {"failures", "P26", &check_failures},
    {"library", "P26", &check_library},   {"preparation", "P26", &check_preparation},
};

}  // namespace
}  // namespace of_targets

std::span<const Check> target_checks() { return of_targets::kChecks; }

}  // namespace tunesmith::conformance

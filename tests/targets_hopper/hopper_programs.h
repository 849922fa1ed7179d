// Drawn and hand-written programs of the space `cuda-hopper`, for the interpreter and the emulated device.
#pragma once

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/space/space.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith::hopper {

inline Space& hopper_space() {
  static PluginRegistry registry;
  static Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda-hopper"), registry);
  return space;
}

inline Program load_program(const std::string& text) {
  return std::move(WorkloadLibrary().load(text).program);
}

inline size_t product_calls(const Program& program) {
  return collect<Loop>(program.root(),
                       [](const Loop& loop) {
                         const auto name = loop.annotations.find(kTensorIntrinsic);
                         return name != loop.annotations.end() && collect<Loop>(loop).size() == 4;
                       })
      .size();
}

/// The emulated device's report on a call, which writes the outputs into `arguments`.
inline std::optional<KernelFault> run(const CompiledKernel& kernel, std::vector<Tensor>& arguments) {
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel.workspace_bytes) + 64);
  const std::unique_ptr<LoadedKernel> loaded = hopper_space().target().load(kernel);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  return loaded->take_fault();
}

inline std::optional<KernelFault> run(const LoweredProgram& lowered, std::vector<Tensor>& arguments) {
  const auto kernel = hopper_space().target().compile(lowered, "k");
  EXPECT_TRUE(kernel) << kernel.error();
  return kernel ? run(*kernel, arguments) : KernelFault{};
}

inline void expect_right(const Program& program, const Candidate& candidate) {
  std::vector<Tensor> wanted = test::random_arguments(program);
  interpret(program, wanted);
  std::vector<Tensor> interpreted = test::random_arguments(program);
  ASSERT_NO_THROW(interpret(candidate.lowered, interpreted)) << to_string(candidate.lowered.program);
  EXPECT_LT(max_error(wanted.back(), interpreted.back()), 1e-2);
  std::vector<Tensor> emulated = test::random_arguments(program);
  const auto fault = run(candidate.lowered, emulated);
  const std::string text = hopper_space().target().source(candidate.lowered, "k").value();
  ASSERT_FALSE(fault) << fault->message << text;
  EXPECT_LT(max_error(wanted.back(), emulated.back()), 1e-2) << text;
}

/// The sketch's first candidate whose trace contains the text; null if there is none.
inline CandidatePtr draw(const Program& program, const Schedule& sketch, const std::string& text) {
  for (uint64_t number = 0; number < 300; ++number) {
    const auto candidate =
        hopper_space().materialise(program, sketch.trace().with_open_decisions(), RandomStream(7, number));
    if (candidate && (*candidate)->trace.str().find(text) != std::string::npos) return *candidate;
  }
  return nullptr;
}

inline std::string trace_text(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(TUNESMITH_SOURCE_DIR "/tests/targets_hopper/traces/" + name + ".trace").rdbuf();
  return text.str();
}

inline CandidatePtr by_hand(const Program& program, const std::string& name = "hgemm_128x128x64") {
  auto candidate = hopper_space().materialise(program, Trace::parse(trace_text(name)), RandomStream(1, 1));
  EXPECT_TRUE(candidate) << candidate.error().message;
  return candidate ? *candidate : nullptr;
}

}  // namespace tunesmith::hopper

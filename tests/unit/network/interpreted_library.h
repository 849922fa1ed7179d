// Libraries of networks without compiled code.
#pragma once

#include <map>
#include <vector>

#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/runnable.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {

/// A target for interpreted references of a few operations.
class NoTarget final : public Target {
 public:
  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  std::string identity() const override { return "none"; }
  std::string fingerprint() const override { return "1"; }
  LowerOptions lower_options() const override { return {}; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    return tl::make_unexpected("it compiles nothing");
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override { return nullptr; }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    return "";
  }

 private:
  DeviceModel device_;
};

/// Claims to compute the steps `named`, but interprets the steps `made`, whose tensors `network` has.
class InterpretedLibrary final : public RunnableNetwork {
 public:
  InterpretedLibrary(const Network& network, const std::vector<NodeWorkload>& named,
                     const std::vector<NodeWorkload>& made)
      : network_(network), named_(named), made_(made) {
    for (const std::vector<NodeWorkload>* const regions : {&named, &made}) {
      for (const NodeWorkload& region : *regions) {
        const Program& program = region.workload.program;
        for (size_t i = 0; i < region.inputs.size(); ++i) allocate(region.inputs[i], *program.inputs[i]);
        for (size_t i = 0; i < region.outputs.size(); ++i) allocate(region.outputs[i], *program.outputs[i]);
      }
    }
  }

  int steps() const override { return static_cast<int>(named_.size()); }
  std::string step_name(int step) const override { return region(step).workload.name; }
  size_t buffers(int step) const override { return region(step).inputs.size() + region(step).outputs.size(); }
  bool reads(int /*step*/, size_t /*buffer*/) const override { return true; }

  void run(std::span<void* const> data, const StepObserver& observer) override {
    std::map<TensorIndex, std::byte*> at;
    for (auto& [tensor, bytes] : memory_) at[tensor] = bytes.data();
    size_t argument = 0;
    for (const auto& tensors : {network_.inputs, network_.outputs})
      for (const TensorIndex tensor : tensors) at[tensor] = static_cast<std::byte*>(data[argument++]);
    observer(-1, nullptr);
    for (int step = 0; step < steps(); ++step) {
      const NodeWorkload& made = made_[static_cast<size_t>(step)];
      const Program& program = made.workload.program;
      const auto places_of = [&](const NodeWorkload& of) {
        std::vector<void*> places;
        for (const auto& tensors : {of.inputs, of.outputs})
          for (const TensorIndex tensor : tensors) places.push_back(at.at(tensor));
        return places;
      };
      const std::vector<void*> places = places_of(made), buffers = places_of(region(step));
      std::vector<tunesmith::Tensor> values;
      for (const std::vector<Buffer>& some : {program.inputs, program.outputs})
        for (const Buffer& buffer : some)
          values.push_back(load_from(*buffer, static_cast<const std::byte*>(places[values.size()])));
      found.push_back(values.front());
      interpret(program, values);
      for (size_t i = program.inputs.size(); i < values.size(); ++i)
        store_in(*program.outputs[i - program.inputs.size()], values[i], static_cast<std::byte*>(places[i]));
      observer(step, buffers.data());
    }
  }

  std::vector<tunesmith::Tensor> found;  ///< the first input of each step that was run

 private:
  const NodeWorkload& region(int step) const { return named_[static_cast<size_t>(step)]; }
  void allocate(TensorIndex tensor, const BufferNode& buffer) {
    const Constant* const constant = network_.tensors[static_cast<size_t>(tensor)].constant.get();
    std::vector<std::byte>& bytes = memory_[tensor];
    bytes.resize(static_cast<size_t>(buffer.bytes()));
    if (constant != nullptr) bytes.assign(constant->bytes.begin(), constant->bytes.end());
  }

  const Network& network_;
  const std::vector<NodeWorkload>&named_, &made_;
  std::map<TensorIndex, std::vector<std::byte>> memory_;
};

}  // namespace tunesmith::network

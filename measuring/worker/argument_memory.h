// The inputs and outputs of a task in memory that shows what a candidate does to it.
#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/argument.h"
#include "tunesmith/verification/guarded_buffer.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// What memory that a candidate did not receive holds: once a NaN in every floating type, once a large number
/// in every type, because a maximum passes over a NaN.
inline constexpr std::byte kPoisonNaN{0xff};
inline constexpr std::byte kPoisonLarge{0x7b};

/// One copy of all arguments, inputs first, as the program lists them. Faults in it are accesses out of
/// bounds while it lives.
class ArgumentMemory {
 public:
  /// Each aligned to its element, or as `placement` says. Throws EnvironmentError when the memory is not to
  /// be had.
  ArgumentMemory(std::span<const Argument> arguments, Placement placement);
  ~ArgumentMemory();
  ArgumentMemory(const ArgumentMemory&) = delete;
  ArgumentMemory& operator=(const ArgumentMemory&) = delete;

  size_t size() const { return memory_.size(); }
  const Argument& argument(size_t position) const { return arguments_[position]; }
  void write_input(size_t position, const Tensor& data);
  /// All of them, though they are only read otherwise.
  void write_inputs(std::span<const Tensor> data);
  /// From now on inputs are only read, or (false) may be written again.
  void protect_inputs(bool read_only = true);
  void poison_outputs(std::byte poison);
  /// The inputs hold what those of `other`, a copy of the same arguments, hold; then they are only read.
  void take_inputs(const ArgumentMemory& other);
  /// Likewise the outputs.
  void take_outputs(const ArgumentMemory& other);
  /// One element, at a row-major position, of an input: it becomes that of `other`.
  void take_element(size_t position, int64_t element, const ArgumentMemory& other);
  /// Likewise of an output: it becomes what no element is that equals that of `right`.
  void spoil_element(size_t position, int64_t element, const ArgumentMemory& right);
  /// The first output whose bytes are not those of `other`; null when there is none. Looked at from the end:
  /// who has returned too early still writes there.
  const Argument* differs_from(const ArgumentMemory& other) const;
  /// The first output that is not as poison_outputs() left it; null when there is none.
  const Argument* written_over(std::byte poison) const;
  const std::byte* output(size_t position) const { return memory_[position].data(); }
  /// The first output with a changed byte around it or between its elements; null when there is none.
  const Argument* touched_around() const;

  /// What kernels get behind their buffers, if it is not empty.
  void set_parameters(std::vector<int64_t> values) { parameters_ = std::move(values); }
  /// What a kernel gets; `prepared` is null when it has no preparation.
  std::vector<void*> kernel_pointers(const CompiledKernel& kernel, std::byte* prepared) const;
  /// Likewise its preparation.
  std::vector<void*> prepare_pointers(const PrepareStep& step, std::byte* prepared) const;

 private:
  /// Of the element, in bytes.
  size_t offset_of(size_t position, int64_t element) const;
  bool gaps_are_poison(size_t position) const;

  std::vector<Argument> arguments_;
  std::vector<int64_t> parameters_;
  std::deque<GuardedBuffer> memory_;  // stays where it is: faults are looked up in it
  std::byte poison_{};                // of the outputs
};

}  // namespace tunesmith

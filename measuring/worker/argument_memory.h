// A task's inputs and outputs in memory that detects invalid accesses of a candidate.
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

/// The poison of memory that a candidate does not receive: once a NaN in every
/// floating type, once a large number in every type, since a maximum ignores NaN.
inline constexpr std::byte kPoisonNaN{0xff};
inline constexpr std::byte kPoisonLarge{0x7b};

/// One copy of all arguments, inputs first, as the program lists them. Faults in it are accesses out of
/// bounds while it lives.
class ArgumentMemory {
 public:
  /// Each is aligned to its element, or as `placement` says.
  /// Throws EnvironmentError if there is not enough memory.
  ArgumentMemory(std::span<const Argument> arguments, Placement placement);
  ~ArgumentMemory();
  ArgumentMemory(const ArgumentMemory&) = delete;
  ArgumentMemory& operator=(const ArgumentMemory&) = delete;

  size_t size() const { return memory_.size(); }
  const Argument& argument(size_t position) const { return arguments_[position]; }
  void write_input(size_t position, const Tensor& data);
  /// Writes all inputs, which are otherwise read-only.
  void write_inputs(std::span<const Tensor> data);
  /// Makes inputs read-only, or (false) writable again.
  void protect_inputs(bool read_only = true);
  void poison_outputs(std::byte poison);
  /// Copies the inputs of `other`, which has the same arguments; they are then read-only.
  void take_inputs(const ArgumentMemory& other);
  /// The same for outputs.
  void take_outputs(const ArgumentMemory& other);
  /// Copies one element, at a row-major position, of an input from `other`.
  void take_element(size_t position, int64_t element, const ArgumentMemory& other);
  /// Changes an element of an output to a value that differs from that of `right`.
  void spoil_element(size_t position, int64_t element, const ArgumentMemory& right);
  /// The first output whose bytes differ from those of `other`; null if none does.
  /// Compares from the end, which a program that returned too early writes last.
  const Argument* differs_from(const ArgumentMemory& other) const;
  /// The first output that has changed since poison_outputs(); null if none has.
  const Argument* written_over(std::byte poison) const;
  const std::byte* output(size_t position) const { return memory_[position].data(); }
  /// The first output with a changed byte around it or between its elements; null if there is none.
  const Argument* touched_around() const;

  /// Kernels get these values behind their buffers, if there are any.
  void set_parameters(std::vector<int64_t> values) { parameters_ = std::move(values); }
  /// The pointers that a kernel gets; `prepared` is null without a preparation.
  std::vector<void*> kernel_pointers(const CompiledKernel& kernel, std::byte* prepared) const;
  /// The same for its preparation.
  std::vector<void*> prepare_pointers(const PrepareStep& step, std::byte* prepared) const;

 private:
  /// The offset of the element in bytes.
  size_t offset_of(size_t position, int64_t element) const;
  bool gaps_are_poison(size_t position) const;

  std::vector<Argument> arguments_;
  std::vector<int64_t> parameters_;
  std::deque<GuardedBuffer> memory_;  // stays where it is: faults are looked up in it
  std::byte poison_{};                // of the outputs
};

}  // namespace tunesmith

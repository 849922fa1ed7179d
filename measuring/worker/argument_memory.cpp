#include "worker/argument_memory.h"

#include <algorithm>
#include <cstring>

#include "worker/worker_faults.h"

namespace tunesmith {
namespace {

constexpr size_t kComparedAtOnce = size_t{16} << 10;  // bytes

}  // namespace

ArgumentMemory::ArgumentMemory(std::span<const Argument> arguments, Placement placement)
    : arguments_(arguments.begin(), arguments.end()) {
  for (const Argument& argument : arguments_) {
    memory_.emplace_back(argument.buffer->bytes(), argument.buffer->dtype.bytes(), placement);
    watch_for_faults(memory_.back());
  }
}

ArgumentMemory::~ArgumentMemory() {
  for (const GuardedBuffer& memory : memory_) unwatch(memory);
}

void ArgumentMemory::write_input(size_t position, const Tensor& data) {
  store_in(*arguments_[position].buffer, data, memory_[position].data());
}

void ArgumentMemory::write_inputs(std::span<const Tensor> data) {
  for (size_t i = 0; i < data.size(); ++i) {
    memory_[i].set_read_only(false);
    write_input(i, data[i]);
    memory_[i].set_read_only(true);
  }
}

void ArgumentMemory::protect_inputs(bool read_only) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) memory_[i].set_read_only(read_only);
  }
}

void ArgumentMemory::poison_outputs(std::byte poison) {
  poison_ = poison;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) continue;
    std::memset(memory_[i].data(), std::to_integer<int>(poison),
                static_cast<size_t>(arguments_[i].buffer->bytes()));
    memory_[i].fill_canary();
  }
}

void ArgumentMemory::take_inputs(const ArgumentMemory& other) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].output) continue;
    memory_[i].set_read_only(false);
    std::memcpy(memory_[i].data(), other.memory_[i].data(),
                static_cast<size_t>(arguments_[i].buffer->bytes()));
    memory_[i].set_read_only(true);
  }
}

void ArgumentMemory::take_outputs(const ArgumentMemory& other) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) continue;
    std::memcpy(memory_[i].data(), other.memory_[i].data(),
                static_cast<size_t>(arguments_[i].buffer->bytes()));
    memory_[i].fill_canary();
  }
  poison_ = other.poison_;
}

size_t ArgumentMemory::offset_of(size_t position, int64_t element) const {
  const BufferNode& buffer = *arguments_[position].buffer;
  int64_t offset = buffer.strides.empty() ? element : 0;
  for (size_t axis = buffer.strides.size(); axis-- > 0; element /= buffer.shape[axis])
    offset += element % buffer.shape[axis] * buffer.strides[axis];
  return static_cast<size_t>(offset * buffer.dtype.bytes());
}

void ArgumentMemory::take_element(size_t position, int64_t element, const ArgumentMemory& other) {
  const size_t offset = offset_of(position, element);
  std::memcpy(memory_[position].data() + offset, other.memory_[position].data() + offset,
              static_cast<size_t>(arguments_[position].buffer->dtype.bytes()));
}

void ArgumentMemory::spoil_element(size_t position, int64_t element, const ArgumentMemory& right) {
  const size_t offset = offset_of(position, element);
  const std::byte* const from = right.memory_[position].data() + offset;
  std::transform(from, from + arguments_[position].buffer->dtype.bytes(), memory_[position].data() + offset,
                 [](std::byte each) { return ~each; });
}

const Argument* ArgumentMemory::differs_from(const ArgumentMemory& other) const {
  for (size_t i = arguments_.size(); i-- > 0;) {
    if (!arguments_[i].output) continue;
    const BufferNode& buffer = *arguments_[i].buffer;
    const std::byte* const mine = memory_[i].data();
    const std::byte* const others = other.memory_[i].data();
    if (!buffer.strides.empty()) {
      if (load_from(buffer, mine) != load_from(buffer, others)) return &arguments_[i];
      continue;
    }
    for (auto end = static_cast<size_t>(buffer.bytes()); end > 0;) {
      const size_t begin = end - std::min(end, kComparedAtOnce);
      if (std::memcmp(mine + begin, others + begin, end - begin) != 0) return &arguments_[i];
      end = begin;
    }
  }
  return nullptr;
}

const Argument* ArgumentMemory::written_over(std::byte poison) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) continue;
    const auto bytes = static_cast<size_t>(arguments_[i].buffer->bytes());
    const std::byte* const first = memory_[i].data();
    // All bytes are poison if the first is and each equals its neighbour.
    if (bytes > 0 && (*first != poison || std::memcmp(first, first + 1, bytes - 1) != 0))
      return &arguments_[i];
  }
  return nullptr;
}

const Argument* ArgumentMemory::touched_around() const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].output && (!memory_[i].check_canary() || !gaps_are_poison(i))) return &arguments_[i];
  }
  return nullptr;
}

bool ArgumentMemory::gaps_are_poison(size_t position) const {
  const BufferNode& buffer = *arguments_[position].buffer;
  if (buffer.strides.empty()) return true;
  const int64_t size = buffer.dtype.bytes();
  const std::byte* const memory = memory_[position].data();
  int64_t end = 0;
  bool poison = true;
  visit_runs(buffer, [&](const ElementRun& run) {
    poison = poison && std::all_of(memory + end, memory + run.begin * size,
                                   [&](std::byte each) { return each == poison_; });
    end = (run.begin + run.count) * size;
  });
  return poison;
}

std::vector<void*> ArgumentMemory::kernel_pointers(const CompiledKernel& kernel, std::byte* prepared) const {
  std::vector<void*> pointers;
  for (const GuardedBuffer& memory : memory_) pointers.push_back(memory.data());
  if (prepared != nullptr) {
    for (const size_t position : kernel.prepare->unread) pointers[position] = nullptr;
    pointers.push_back(prepared);
  }
  if (!parameters_.empty()) pointers.push_back(const_cast<int64_t*>(parameters_.data()));
  return pointers;
}

std::vector<void*> ArgumentMemory::prepare_pointers(const PrepareStep& step, std::byte* prepared) const {
  std::vector<void*> pointers(memory_.size(), nullptr);
  for (const size_t position : step.reads) pointers[position] = memory_.at(position).data();
  pointers.push_back(prepared);
  return pointers;
}

}  // namespace tunesmith

#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tunesmith/support/error.h"

namespace tunesmith::bench {

namespace {

void fill(void* memory, const Buffer& buffer, std::mt19937& random) {
  const auto count = static_cast<size_t>(buffer->elements());
  const DType type = buffer->dtype;
  std::uniform_real_distribution<float> number(-1, 1);
  for (size_t i = 0; i < count; ++i) {
    const float value = number(random);
    if (type == kF32) {
      static_cast<float*>(memory)[i] = value;
    } else if (type == kBF16) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      static_cast<uint16_t*>(memory)[i] = static_cast<uint16_t>(bits >> 16U);
    } else if (type == kU8 || type == kI8) {
      static_cast<uint8_t*>(memory)[i] = static_cast<uint8_t>(random());
    } else {
      throw UserError("no data of this type: " + type.str());
    }
  }
}

}  // namespace

Memory aligned(int64_t bytes) {
  const auto whole = static_cast<size_t>((bytes + 63) / 64 * 64);
  Memory memory(std::aligned_alloc(64, whole), std::free);
  if (memory == nullptr) throw EnvironmentError("no memory");
  std::memset(memory.get(), 0, whole);
  return memory;
}

Problem::Problem(Workload workload) : workload_(std::move(workload)) {
  std::mt19937 random(1);
  for (const Buffer& input : workload_.program.inputs) {
    memory_.push_back(aligned(input->bytes()));
    fill(memory_.back().get(), input, random);
  }
  memory_.push_back(aligned(output()->bytes()));
}

int64_t Problem::parameter(std::string_view name) const {
  for (const WorkloadParam& parameter : workload_.params) {
    if (parameter.name == name) return std::get<int64_t>(parameter.value);
  }
  throw InternalError("no parameter " + std::string(name));
}

std::vector<void*> Problem::buffers() const {
  std::vector<void*> pointers;
  for (const Memory& memory : memory_) pointers.push_back(memory.get());
  return pointers;
}

double Problem::difference_from(const void* other) const {
  const auto compare = [&](const auto* mine, const auto* theirs) {
    double most = 0.0, largest = 0.0;
    for (int64_t i = 0; i < output()->elements(); ++i) {
      most = std::max(most, std::abs(static_cast<double>(mine[i]) - static_cast<double>(theirs[i])));
      largest = std::max(largest, std::abs(static_cast<double>(mine[i])));
    }
    return most / largest;
  };
  const void* own = memory_.back().get();
  if (output()->dtype == kF32)
    return compare(static_cast<const float*>(own), static_cast<const float*>(other));
  if (output()->dtype == kI32)
    return compare(static_cast<const int32_t*>(own), static_cast<const int32_t*>(other));
  throw UserError("outputs of this type are not compared: " + output()->dtype.str());
}

std::function<void()> Problem::copy() {
  const auto bytes = static_cast<size_t>(std::min(output()->bytes(), workload_.program.inputs[0]->bytes()));
  copied_ = aligned(static_cast<int64_t>(bytes));
  return [to = copied_.get(), from = memory_[0].get(), bytes] {
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  };
}

}  // namespace tunesmith::bench

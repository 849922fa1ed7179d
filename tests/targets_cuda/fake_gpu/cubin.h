// The cubins of the fake NVRTC and driver: kernels for the emulation.
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace tunesmith::fake_gpu {

struct Kernel {
  std::string name;
  std::string parameters;  // for each 'p', a pointer, 'm', a map of a tensor, or 'v', a number of 4 bytes
  std::string program;
};

constexpr char kMagic[] = "fake cubin";

/// Contains its own size, since the driver does not get it.
inline std::string cubin_of(const std::vector<Kernel>& kernels) {
  std::string bytes = kMagic;
  const auto number = [&](size_t value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  number(kernels.size());
  for (const Kernel& kernel : kernels) {
    for (const std::string& text : {kernel.name, kernel.parameters, kernel.program}) {
      number(text.size());
      bytes += text;
    }
  }
  return bytes;
}

inline bool read_cubin(const char* bytes, std::vector<Kernel>& kernels) {
  if (std::strncmp(bytes, kMagic, sizeof kMagic - 1) != 0) return false;
  bytes += sizeof kMagic - 1;
  const auto number = [&] {
    size_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    bytes += sizeof value;
    return value;
  };
  kernels.resize(number());
  for (Kernel& kernel : kernels) {
    for (std::string* text : {&kernel.name, &kernel.parameters, &kernel.program}) {
      const size_t size = number();
      text->assign(bytes, size);
      bytes += size;
    }
  }
  return true;
}

}  // namespace tunesmith::fake_gpu

// CUDA C++ text to a cubin and what it takes, through a cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvrtc/compile_log.h"
#include "nvrtc/cubin_cache.h"
#include "nvrtc/nvrtc.h"

namespace tunesmith::cuda {

/// A compile that succeeded, or why it did not.
struct Compilation {
  bool succeeded = false;
  std::string architecture;
  std::string log;
  std::string cubin;
  CompileLog notes;
  bool from_cache = false;
  double cpu_seconds = 0;

  /// Null when no kernel has this name.
  const KernelResources* kernel(const std::string& name) const;
};

/// Compiles for any architecture; thread-safe. The header tunesmith_device.cuh is found by its name.
class KernelCompiler {
 public:
  /// Both must outlive this. Without a cache everything is compiled.
  explicit KernelCompiler(const Nvrtc& nvrtc, const CubinCache* cache = nullptr);

  /// `architecture` as "sm_80"; `options` are NVRTC's, besides the architecture.
  Compilation compile(const std::string& text, const std::string& name, const std::string& architecture,
                      const std::vector<std::string>& options = {}) const;

 private:
  const Nvrtc& nvrtc_;
  const CubinCache* cache_;
  std::vector<Nvrtc::Header> headers_;
};

}  // namespace tunesmith::cuda

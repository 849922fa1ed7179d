// Compiles CUDA C++ to a cubin and its resource usage, through a cache.
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

  /// Null if there is no kernel with this name.
  const KernelResources* kernel(const std::string& name) const;
};

/// Compiles for any architecture; thread-safe. The header tunesmith_device.cuh is found by its name.
class KernelCompiler {
 public:
  /// Both must outlive this. Without a cache everything is compiled.
  explicit KernelCompiler(const Nvrtc& nvrtc, const CubinCache* cache = nullptr);

  /// `architecture`: such as "sm_80"; `options`: of NVRTC, besides the architecture.
  Compilation compile(const std::string& text, const std::string& name, const std::string& architecture,
                      const std::vector<std::string>& options = {}) const;

 private:
  const Nvrtc& nvrtc_;
  const CubinCache* cache_;
  std::vector<Nvrtc::Header> headers_;
};

}  // namespace tunesmith::cuda

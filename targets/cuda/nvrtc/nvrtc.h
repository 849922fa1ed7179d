// NVIDIA's run-time compiler, loaded at run time if installed,
// and never linked. Needs neither a driver nor a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tunesmith::cuda {

class Nvrtc {
 public:
  /// The library, loaded once per process: the one named by the environment
  /// variable TUNESMITH_NVRTC, else libnvrtc.so.13 or .12 as found by the
  /// system's loader. Null if there is none; why_absent() then says why.
  static const Nvrtc* find();
  static std::string why_absent();
  /// From one library; null, with the reason, if it is not found or incomplete.
  static std::unique_ptr<Nvrtc> load(const std::string& library, std::string* why_not);

  /// "13.0".
  const std::string& version() const { return version_; }

  struct Output {
    bool succeeded = false;
    std::string log;
    std::string cubin;
    double cpu_seconds = 0;  // of this thread
  };
  /// Compiles CUDA C++; `name` names the text in messages. Only the
  /// given headers are available, by name. Thread-safe without waiting.
  /// Does not use the library's own cache, which omits the log.
  struct Header {
    std::string name, text;
  };
  Output compile(const std::string& text, const std::string& name, const std::vector<Header>& headers,
                 const std::vector<std::string>& options) const;

 private:
  using Program = void*;
  struct Instance;
  Nvrtc() = default;
  static const Instance& instance();
  bool open(const std::string& name, std::string* why_not);

  std::string version_;
  bool caches_ = false;
  int (*version_function_)(int*, int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
};

}  // namespace tunesmith::cuda

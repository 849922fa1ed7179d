// NVIDIA's run-time compiler, loaded where it is installed and never linked. Neither a driver nor a GPU is
// needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tunesmith::cuda {

class Nvrtc {
 public:
  /// The library, loaded once for the process: what the environment variable TUNESMITH_NVRTC names, else
  /// libnvrtc.so.13 or .12 where the system's loader finds it. Null when there is none; why_absent() then
  /// says why.
  static const Nvrtc* find();
  static std::string why_absent();
  /// Of one library; null, and why, where the loader does not find it or it lacks something.
  static std::unique_ptr<Nvrtc> load(const std::string& library, std::string* why_not);

  /// "13.0".
  const std::string& version() const { return version_; }

  struct Output {
    bool succeeded = false;
    std::string log;
    std::string cubin;
    double cpu_seconds = 0;  // of this thread
  };
  /// Compiles CUDA C++; `name` is what its messages call the text. Headers are those that are given, by their
  /// names. Thread-safe, and threads do not wait for one another. The library's own cache, which gives no
  /// log, is not used.
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

#include "nvrtc/nvrtc.h"

#include <cstdlib>
#include <ctime>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

template <class Function>
bool find_function(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

struct Nvrtc::Instance {
  std::unique_ptr<Nvrtc> library;
  std::string why_absent;
};

bool Nvrtc::open(const std::string& name, std::string* why_not) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why_not = dlerror();
    return false;
  }
  int major = 0, minor = 0;
  if (find_function(library, "nvrtcVersion", &version_function_) &&
      find_function(library, "nvrtcCreateProgram", &create_) &&
      find_function(library, "nvrtcCompileProgram", &compile_) &&
      find_function(library, "nvrtcGetProgramLogSize", &log_size_) &&
      find_function(library, "nvrtcGetProgramLog", &log_) &&
      find_function(library, "nvrtcGetCUBINSize", &cubin_size_) &&
      find_function(library, "nvrtcGetCUBIN", &cubin_) &&
      find_function(library, "nvrtcDestroyProgram", &destroy_) && version_function_(&major, &minor) == 0) {
    version_ = fmt::format("{}.{}", major, minor);
    caches_ = std::pair(major, minor) >= std::pair(12, 9);
    return true;
  }
  *why_not = name + " lacks functions of NVRTC";
  dlclose(library);
  return false;
}

std::unique_ptr<Nvrtc> Nvrtc::load(const std::string& library, std::string* why_not) {
  std::unique_ptr<Nvrtc> loaded(new Nvrtc);
  return loaded->open(library, why_not) ? std::move(loaded) : nullptr;
}

const Nvrtc::Instance& Nvrtc::instance() {
  static const Instance once = [] {
    std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12"};
    if (const char* chosen = std::getenv("TUNESMITH_NVRTC"); chosen != nullptr && *chosen != '\0')
      names = {chosen};
    Instance result;
    for (const std::string& name : names) {
      std::string why_not;
      result.library = load(name, &why_not);
      if (result.library) return result;
      result.why_absent += why_not + "; ";
    }
    result.why_absent += "set TUNESMITH_NVRTC to the path of libnvrtc.so";
    return result;
  }();
  return once;
}

const Nvrtc* Nvrtc::find() { return instance().library.get(); }

std::string Nvrtc::why_absent() { return instance().why_absent; }

Nvrtc::Output Nvrtc::compile(const std::string& text, const std::string& name,
                             const std::vector<Header>& headers,
                             const std::vector<std::string>& options) const {
  std::vector<const char*> header_texts, header_names, option_texts;
  for (const Header& header : headers) {
    header_texts.push_back(header.text.c_str());
    header_names.push_back(header.name.c_str());
  }
  for (const std::string& option : options) option_texts.push_back(option.c_str());
  if (caches_) option_texts.push_back("--no-cache");
  const double begin = thread_seconds();
  Program program = nullptr;
  if (const int error = create_(&program, text.c_str(), name.c_str(), int(headers.size()),
                                header_texts.data(), header_names.data());
      error != 0)
    throw EnvironmentError(fmt::format("NVRTC {} makes no program: error {}", version_, error));
  Output output;
  output.succeeded = compile_(program, int(option_texts.size()), option_texts.data()) == 0;
  // Sizes include the final zero.
  if (size_t bytes = 0; log_size_(program, &bytes) == 0 && bytes > 1) {
    output.log.resize(bytes);
    log_(program, output.log.data());
    output.log.pop_back();
  }
  if (size_t bytes = 0; output.succeeded && cubin_size_(program, &bytes) == 0) {
    output.cubin.resize(bytes);
    cubin_(program, output.cubin.data());
  }
  destroy_(&program);
  output.cpu_seconds = thread_seconds() - begin;
  return output;
}

}  // namespace tunesmith::cuda

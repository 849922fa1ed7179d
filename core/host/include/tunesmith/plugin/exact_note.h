// The note of a plugin of the exact tier, which exchanges C++
// objects with the kernel. TUNESMITH_PLUGIN (plugin.h) writes it.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/version.hpp>
#include <tl/expected.hpp>

#include "tunesmith/plugin/api_version.h"
#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/note.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The ABI fingerprint of the including translation unit. Evaluated at
/// compile time, since kernel and plugin must not share one definition.
consteval AbiFingerprint abi_of_this_translation_unit() {
  AbiFingerprint abi;
#if defined(__x86_64__)
  abi.architecture = note_text<16>("x86_64");
#elif defined(__aarch64__)
  abi.architecture = note_text<16>("aarch64");
#else
#error \
    "Tunesmith knows no architecture name for this machine: add it here and in core/host/plugin/elf_file.cpp"
#endif
#if defined(__GLIBCXX__)
  abi.standard_library = note_text<16>("libstdc++");
  abi.cxx11_abi = _GLIBCXX_USE_CXX11_ABI;
#elif defined(_LIBCPP_VERSION)
  abi.standard_library = note_text<16>("libc++");
#else
  abi.standard_library = note_text<16>("unknown");
#endif
  abi.compiler_abi = __GXX_ABI_VERSION;
#if defined(_GLIBCXX_DEBUG)
  abi.debug_mode = 1;
#endif
#if defined(__SANITIZE_ADDRESS__)
  abi.sanitizers |= 1;
#endif
#if defined(__SANITIZE_THREAD__)
  abi.sanitizers |= 2;
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  abi.sanitizers |= 1;
#endif
#if __has_feature(thread_sanitizer)
  abi.sanitizers |= 2;
#endif
#if __has_feature(memory_sanitizer)
  abi.sanitizers |= 4;
#endif
#endif
  abi.cxx_standard = __cplusplus;
  abi.boost = BOOST_VERSION;
  abi.expected =
      100 * (100 * TL_EXPECTED_VERSION_MAJOR + TL_EXPECTED_VERSION_MINOR) + TL_EXPECTED_VERSION_PATCH;
  return abi;
}

/// The note of an exact-tier plugin built by this translation unit.
consteval PluginNote make_exact_note(PluginKind kind, std::string_view id, std::string_view version) {
  PluginNote note = make_plugin_note(PluginTier::Exact, kind, id, version);
  note.api_major = kApiMajor;
  note.api_minor = kApiMinor;
  note.header_hash = note_text<24>(header_hash(kind));
  note.abi = abi_of_this_translation_unit();
  return note;
}

}  // namespace tunesmith
#pragma GCC visibility pop

// The ELF note that every plugin carries (section .note.tunesmith). The kernel
// reads it from the file, without the symbol table, and decides whether the
// plugin fits before loading any of its code: the note survives `strip`.
//
// Plugin authors do not use this header: TUNESMITH_PLUGIN (plugin.h) writes the note. It
// includes only the standard library, so that plugins of the stable tier need nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tunesmith/plugin/kind.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Text of fixed size; unused bytes are zero, and the last byte is always zero.
template <size_t size>
using NoteText = std::array<char, size>;

/// How a plugin communicates with the kernel, which decides whether it
/// fits. Stored in plugin files: the meaning of a number never changes.
enum class PluginTier : uint32_t {
  /// C++ objects are exchanged: the headers that the kind reaches, the C++
  /// ABI, and the libraries whose types are exchanged must be the kernel's.
  Exact = 1,
  /// A C interface that only grows: the major version must be the
  /// kernel's, and the required minor version no newer than the kernel's.
  Stable = 2
};

/// Must be equal on both sides for C++ objects to be exchanged.
struct AbiFingerprint {
  NoteText<16> architecture{};      ///< of the machine
  NoteText<16> standard_library{};  ///< "libstdc++", "libc++"
  uint32_t compiler_abi = 0;        ///< __GXX_ABI_VERSION
  uint32_t cxx11_abi = 0;           ///< _GLIBCXX_USE_CXX11_ABI
  uint32_t debug_mode = 0;          ///< 1 with _GLIBCXX_DEBUG, which changes the size of containers
  uint32_t sanitizers = 0;          ///< bits: 1 address, 2 thread, 4 memory
  uint32_t cxx_standard = 0;        ///< __cplusplus
  uint32_t boost = 0;               ///< BOOST_VERSION, 107400 for 1.74.0
  uint32_t expected = 0;            ///< of tl::expected, as 100 * (100 * major + minor) + patch
  uint32_t reserved = 0;

  bool operator==(const AbiFingerprint&) const = default;
};

/// The content of the note: no pointers, the machine's byte order. Since version 3 fields are only added
/// at the end: a reader ignores unknown fields of a longer note, and finds zeros in a shorter one.
/// note_version is raised when that is not enough; each kernel can read the first 24 bytes of every note.
struct PluginNote {
  static constexpr uint32_t kVersion = 3;
  static constexpr std::string_view kMagic = "TUNESMITH-PLUGIN";

  std::array<char, 16> magic{};
  uint32_t note_version = 0;
  uint32_t note_size = 0;  ///< sizeof(PluginNote)
  uint32_t tier = 0;       ///< PluginTier
  uint32_t kind = 0;       ///< PluginKind
  /// Exact: kApiMajor and kApiMinor, which tell the age of the plugin. Stable: the
  /// major version and the oldest sufficient minor version of the stable interface.
  uint16_t api_major = 0;
  uint16_t api_minor = 0;
  NoteText<24> header_hash{};  ///< exact: header_hash(kind) at compile time; stable: empty
  NoteText<64> id{};
  NoteText<32> version{};  ///< of the plugin
  AbiFingerprint abi{};    ///< exact; stable: zeros
  std::array<uint32_t, 9> reserved{};
};
static_assert(sizeof(AbiFingerprint) == 64 && sizeof(PluginNote) == 256);
static_assert(offsetof(PluginNote, tier) == 24 && offsetof(PluginNote, id) == 60 &&
              offsetof(PluginNote, abi) == 156);
static_assert(std::is_trivially_copyable_v<PluginNote> && std::is_standard_layout_v<PluginNote>);

/// The note as stored in the file: ELF's note header, the owner's name, the content.
struct ElfPluginNote {
  static constexpr uint32_t kType = 1;
  static constexpr std::string_view kOwner = "tunesmith";

  uint32_t owner_size = 0;  ///< with its terminating zero, without padding
  uint32_t content_size = 0;
  uint32_t type = 0;
  std::array<char, 12> owner{};
  PluginNote content{};
};
static_assert(sizeof(ElfPluginNote) == 24 + sizeof(PluginNote), "no padding inside an ELF note");

template <size_t size>
constexpr NoteText<size> note_text(std::string_view text) {
  NoteText<size> result{};
  if (text.size() >= size)
    throw "the text does not fit the plugin's note";  // a compile error where it is used
  for (size_t i = 0; i < text.size(); ++i) result[i] = text[i];
  return result;
}

/// Fills the fields that both tiers have in common.
consteval PluginNote make_plugin_note(PluginTier tier, PluginKind kind, std::string_view id,
                                      std::string_view version) {
  if (id.empty()) throw "a plugin needs an id";
  for (const char c : id) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) throw "an id is of a-z, 0-9 and _";
  }
  PluginNote note;
  for (size_t i = 0; i < note.magic.size(); ++i) note.magic[i] = PluginNote::kMagic[i];
  note.note_version = PluginNote::kVersion;
  note.note_size = sizeof(PluginNote);
  note.tier = static_cast<uint32_t>(tier);
  note.kind = static_cast<uint32_t>(kind);
  note.id = note_text<64>(id);
  note.version = note_text<32>(version);
  return note;
}

/// The note of a stable-tier plugin that needs version
/// `major`.`minimum_minor` of the stable interface.
consteval PluginNote make_stable_note(PluginKind kind, std::string_view id, std::string_view version,
                                      uint16_t major, uint16_t minimum_minor) {
  PluginNote note = make_plugin_note(PluginTier::Stable, kind, id, version);
  note.api_major = major;
  note.api_minor = minimum_minor;
  return note;
}

consteval ElfPluginNote make_elf_note(const PluginNote& content) {
  ElfPluginNote note;
  note.owner_size = ElfPluginNote::kOwner.size() + 1;
  note.content_size = sizeof(PluginNote);
  note.type = ElfPluginNote::kType;
  for (size_t i = 0; i < ElfPluginNote::kOwner.size(); ++i) note.owner[i] = ElfPluginNote::kOwner[i];
  note.content = content;
  return note;
}

/// Writes `content` (a constant PluginNote) into this library's notes. Once per library, at global scope.
#define TUNESMITH_EXPORT_NOTE(content)                                                           \
  namespace {                                                                                    \
  __attribute__((used, section(".note.tunesmith"),                                               \
                 aligned(4))) constinit const ::tunesmith::ElfPluginNote tunesmith_plugin_note = \
      ::tunesmith::make_elf_note(content);                                                       \
  }                                                                                              \
  static_assert(true, "asks for the semicolon after the macro")

}  // namespace tunesmith
#pragma GCC visibility pop

// Reads the plugin note of an untrusted ELF file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "plugin/stable_interface.h"
#include "tunesmith/plugin/exact_note.h"
#include "tunesmith/plugin/note.h"

namespace tunesmith {

/// The version of this kernel's stable interface. A minor version only adds to the previous one.
inline constexpr uint16_t kStableMajor = TUNESMITH_STABLE_MAJOR;
inline constexpr uint16_t kStableMinor = TUNESMITH_STABLE_NEWEST_MINOR;

/// The note in `file`, or the problem: not ELF, another class, byte order or architecture,
/// no shared library, truncated, no note, a damaged note. Never reads outside `file`.
tl::expected<PluginNote, std::string> read_plugin_note(std::span<const char> file);

/// The note of a plugin of this tier and kind that fits this kernel exactly.
PluginNote kernel_note(PluginTier tier, PluginKind kind);

/// A way in which a plugin does not fit.
struct NoteDifference {
  std::string_view rule;  ///< "P2", "P3"
  std::string text;       ///< "compiler ABI: built for 1016, this is 1017"
};

/// Every incompatibility of a plugin's note with a kernel's note of the same tier and kind. Empty if the
/// plugin fits.
std::vector<NoteDifference> note_differences(const PluginNote& plugin, const PluginNote& kernel);

/// The text of a field that read_plugin_note accepted.
template <size_t size>
std::string_view note_view(const NoteText<size>& text) {
  return std::string_view(text.data());
}

}  // namespace tunesmith

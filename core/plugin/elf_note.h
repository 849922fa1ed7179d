// Reads the plugin note out of the bytes of an ELF file, trusting nothing in them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/plugin/note.h"

namespace tunesmith {

/// The note in `file`, or why there is none that can be read: not ELF, another class, byte order or
/// architecture, no shared library, truncated, no note, a damaged note. Never reads outside `file`.
tl::expected<PluginNote, std::string> read_plugin_note(std::span<const char> file);

/// What the kernel was built with, as it would stand in a plugin's note.
const PluginNote& kernel_note();

/// Every field in which a plugin with this note does not fit a kernel with that one, as "compiler ABI: built
/// for 1016, this is 1017". Empty when it fits.
std::vector<std::string> note_differences(const PluginNote& plugin, const PluginNote& kernel);

/// Text of a field that read_plugin_note has accepted.
template <size_t size>
std::string_view note_view(const NoteText<size>& text) {
  return std::string_view(text.data());
}

}  // namespace tunesmith

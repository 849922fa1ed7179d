#include "plugin/elf_note.h"

#include <algorithm>

#include <fmt/format.h>

#include "plugin/elf_file.h"

namespace tunesmith {

namespace {

/// The contents of all notes in a segment with our owner name; stops at the first damaged one.
void collect_notes(std::span<const char> segment, uint64_t alignment,
                   std::vector<std::span<const char>>& contents) {
  const auto align = [alignment](uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
  uint64_t offset = 0;
  while (const auto header = read_at<Elf64_Nhdr>(segment, offset)) {
    const uint64_t owner = offset + sizeof(Elf64_Nhdr);
    const uint64_t content = align(owner + header->n_namesz);  // cannot overflow: both are far below 2^63
    if (!inside(owner, header->n_namesz, segment.size()) ||
        !inside(content, header->n_descsz, segment.size())) {
      return;
    }
    const std::string_view name(segment.data() + owner, header->n_namesz);
    if (name.size() == ElfPluginNote::kOwner.size() + 1 && name.starts_with(ElfPluginNote::kOwner) &&
        name.back() == '\0' && header->n_type == ElfPluginNote::kType) {
      contents.push_back(segment.subspan(content, header->n_descsz));
    }
    offset = align(content + header->n_descsz);
  }
}

template <size_t size>
bool is_text(const NoteText<size>& text) {
  const auto end = std::ranges::find(text, '\0');
  return end != text.begin() && std::all_of(text.begin(), end, [](char c) { return c > ' ' && c < 127; }) &&
         std::all_of(end, text.end(), [](char c) { return c == '\0'; }) && end != text.end();
}

/// Reads the note, or returns what is wrong with it. Ignores unknown fields of a longer note.
tl::expected<PluginNote, std::string> read_content(std::span<const char> content) {
  const auto damaged = [](const std::string& how) { return tl::unexpected("damaged note: " + how); };
  constexpr size_t kPrefix = offsetof(PluginNote, tier);
  if (content.size() < kPrefix) return damaged("too short");
  if (!std::ranges::equal(content.first(PluginNote::kMagic.size()), PluginNote::kMagic)) {
    return damaged("wrong magic");
  }
  const uint32_t version = *read_at<uint32_t>(content, offsetof(PluginNote, note_version));
  if (version != PluginNote::kVersion) {
    return tl::unexpected(
        fmt::format("note version: built for {}, this is {}", version, uint32_t{PluginNote::kVersion}));
  }
  const uint32_t size = *read_at<uint32_t>(content, offsetof(PluginNote, note_size));
  const auto note = read_at<PluginNote>(content, 0);
  if (!note || size != content.size()) {
    return damaged(fmt::format("expected {1} bytes, found {0}", content.size(), size));
  }
  const bool exact = note->tier == static_cast<uint32_t>(PluginTier::Exact);
  if (!exact && note->tier != static_cast<uint32_t>(PluginTier::Stable)) {
    return damaged(fmt::format("unknown plugin tier {}", note->tier));
  }
  if (!is_text(note->id) || !is_text(note->version) ||
      (exact && (!is_text(note->abi.architecture) || !is_text(note->abi.standard_library) ||
                 !is_text(note->header_hash)))) {
    return damaged("a text field is not UTF-8");
  }
  if (std::ranges::find(kPluginKinds, static_cast<PluginKind>(note->kind)) == kPluginKinds.end()) {
    return damaged(fmt::format("unknown plugin kind {}", note->kind));
  }
  return *note;
}

std::string sanitizer_names(uint32_t bits) {
  std::string text;
  const auto add = [&](uint32_t bit, const char* name) {
    if ((bits & bit) != 0) text += (text.empty() ? "" : "+") + std::string(name);
  };
  add(1, "address");
  add(2, "thread");
  add(4, "memory");
  return text.empty() ? "none" : text;
}

}  // namespace

tl::expected<PluginNote, std::string> read_plugin_note(std::span<const char> file) {
  const auto elf = parse_elf_file(file);
  if (!elf) return tl::unexpected(elf.error());
  std::vector<std::span<const char>> contents;
  for (const Elf64_Phdr& segment : elf->segments) {
    if (segment.p_type == PT_NOTE)
      collect_notes(elf->content(segment), segment.p_align == 8 ? 8 : 4, contents);
  }
  if (contents.empty()) return tl::unexpected(std::string("no Tunesmith note: not a Tunesmith plugin"));
  if (contents.size() > 1) return tl::unexpected(std::string("damaged note: more than one"));
  return read_content(contents.front());
}

PluginNote kernel_note(PluginTier tier, PluginKind kind) {
  PluginNote note;
  note.tier = static_cast<uint32_t>(tier);
  note.kind = static_cast<uint32_t>(kind);
  if (tier == PluginTier::Stable) {
    note.api_major = kStableMajor;
    note.api_minor = kStableMinor;
    return note;
  }
  note.api_major = kApiMajor;
  note.api_minor = kApiMinor;
  note.header_hash = note_text<24>(header_hash(kind));
  note.abi = abi_of_this_translation_unit();
  return note;
}

std::vector<NoteDifference> note_differences(const PluginNote& plugin, const PluginNote& kernel) {
  std::vector<NoteDifference> differences;
  const std::string_view kind = kind_name(static_cast<PluginKind>(plugin.kind));
  if (plugin.tier == static_cast<uint32_t>(PluginTier::Stable)) {
    if (plugin.api_major != kernel.api_major || plugin.api_minor > kernel.api_minor) {
      differences.push_back(
          {"P2", fmt::format("stable {} interface: needs {}.{}, this is {}.{}", kind, plugin.api_major,
                             plugin.api_minor, kernel.api_major, kernel.api_minor)});
    }
    return differences;
  }
  const auto headers = [](const PluginNote& note) {
    return fmt::format("API {}.{} with headers {}", note.api_major, note.api_minor,
                       note_view(note.header_hash));
  };
  // The version alone does not decide: equal header code is the same interface.
  if (plugin.header_hash != kernel.header_hash) {
    differences.push_back({"P2", fmt::format("{} interface: built for {}, this is {}", kind, headers(plugin),
                                             headers(kernel))});
  }
  const auto differ = [&](const char* field, const auto& theirs, const auto& ours) {
    if (theirs != ours)
      differences.push_back({"P3", fmt::format("{}: built for {}, this is {}", field, theirs, ours)});
  };
  const auto on_off = [](uint32_t value) { return value != 0 ? "on" : "off"; };
  const AbiFingerprint& theirs = plugin.abi;
  const AbiFingerprint& ours = kernel.abi;
  differ("architecture", note_view(theirs.architecture), note_view(ours.architecture));
  differ("standard library", note_view(theirs.standard_library), note_view(ours.standard_library));
  differ("compiler ABI", theirs.compiler_abi, ours.compiler_abi);
  differ("_GLIBCXX_USE_CXX11_ABI", theirs.cxx11_abi, ours.cxx11_abi);
  differ("debug mode of the standard library", std::string_view(on_off(theirs.debug_mode)),
         std::string_view(on_off(ours.debug_mode)));
  differ("sanitizers", sanitizer_names(theirs.sanitizers), sanitizer_names(ours.sanitizers));
  differ("C++ standard", theirs.cxx_standard, ours.cxx_standard);
  const auto boost = [](uint32_t version) {
    return fmt::format("{}.{}.{}", version / 100000, version / 100 % 1000, version % 100);
  };
  differ("Boost", boost(theirs.boost), boost(ours.boost));
  const auto expected = [](uint32_t version) {
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  };
  differ("tl::expected", expected(theirs.expected), expected(ours.expected));
  return differences;
}

}  // namespace tunesmith

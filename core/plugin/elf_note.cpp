#include "plugin/elf_note.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <elf.h>
#include <fmt/format.h>

namespace tunesmith {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the reader takes the file's byte order for its own");

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#endif

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    default:
      return fmt::format("machine {}", machine);
  }
}

bool inside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

/// A T at `offset`, copied because a file promises no alignment; nothing when it lies outside.
template <typename T>
std::optional<T> read_at(std::span<const char> bytes, uint64_t offset) {
  if (!inside(offset, sizeof(T), bytes.size())) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string check_header(std::span<const char> file, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return "built for a big-endian machine, this is little-endian";
  if (header.e_ident[EI_VERSION] != EV_CURRENT) return "damaged: unknown version of ELF";
  if (header.e_machine != kMachine) {
    return fmt::format("architecture: built for {}, this is {}", machine_name(header.e_machine),
                       machine_name(kMachine));
  }
  if (header.e_type != ET_DYN) return "not a shared library";
  if (header.e_phnum == 0) return "damaged: no program headers";
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return "damaged: program headers of a wrong size";
  if (!inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), file.size())) {
    return "truncated: the program headers lie outside the file";
  }
  return {};
}

/// The contents of all notes in a segment whose owner is ours; stops at the first that does not fit.
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

tl::expected<PluginNote, std::string> read_content(std::span<const char> content) {
  const auto damaged = [](const std::string& how) { return tl::unexpected("damaged note: " + how); };
  constexpr size_t kPrefix = offsetof(PluginNote, api_major);
  if (content.size() < kPrefix) return damaged("too short");
  if (!std::ranges::equal(content.first(PluginNote::kMagic.size()), PluginNote::kMagic)) {
    return damaged("wrong magic");
  }
  const uint32_t version = *read_at<uint32_t>(content, offsetof(PluginNote, note_version));
  if (version != PluginNote::kVersion) {
    return tl::unexpected(
        fmt::format("note version: built for {}, this is {}", version, uint32_t{PluginNote::kVersion}));
  }
  const auto note = read_at<PluginNote>(content, 0);
  if (!note || note->note_size != sizeof(PluginNote) || content.size() != sizeof(PluginNote)) {
    return damaged(fmt::format("{} bytes instead of {}", content.size(), sizeof(PluginNote)));
  }
  if (!is_text(note->id) || !is_text(note->version) || !is_text(note->abi.architecture) ||
      !is_text(note->abi.standard_library)) {
    return damaged("a text field is not text");
  }
  if (std::ranges::find(kPluginKinds, static_cast<PluginKind>(note->kind)) == kPluginKinds.end()) {
    return damaged(fmt::format("no plugin kind has the number {}", note->kind));
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
  if (file.empty()) return tl::unexpected(std::string("the file is empty"));
  const std::string_view start(file.data(), std::min<size_t>(file.size(), SELFMAG));
  if (start != std::string_view(ELFMAG, SELFMAG).substr(0, start.size()) || start.size() < SELFMAG) {
    return tl::unexpected(std::string("not an ELF file"));
  }
  if (file.size() > EI_CLASS && file[EI_CLASS] != ELFCLASS64) {
    return tl::unexpected(std::string("wrong ELF class: this needs a 64-bit library"));
  }
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header) return tl::unexpected(std::string("truncated: shorter than an ELF header"));
  if (std::string problem = check_header(file, *header); !problem.empty()) {
    return tl::unexpected(std::move(problem));
  }

  std::vector<std::span<const char>> contents;
  for (uint16_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = *read_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_NULL) continue;
    if (!inside(segment.p_offset, segment.p_filesz, file.size())) {
      return tl::unexpected(
          fmt::format("truncated: a segment of {} bytes at {} lies outside the file of {} bytes",
                      uint64_t{segment.p_filesz}, uint64_t{segment.p_offset}, file.size()));
    }
    if (segment.p_type == PT_NOTE) {
      collect_notes(file.subspan(segment.p_offset, segment.p_filesz), segment.p_align == 8 ? 8 : 4, contents);
    }
  }
  if (contents.empty()) return tl::unexpected(std::string("no Tunesmith note: not a Tunesmith plugin"));
  if (contents.size() > 1) return tl::unexpected(std::string("damaged note: more than one"));
  return read_content(contents.front());
}

const PluginNote& kernel_note() {
  static constexpr PluginNote note = make_plugin_note(PluginKind::Module, "kernel", "0");
  return note;
}

std::vector<std::string> note_differences(const PluginNote& plugin, const PluginNote& kernel) {
  std::vector<std::string> differences;
  const auto differ = [&](const char* field, const auto& theirs, const auto& ours) {
    if (theirs != ours)
      differences.push_back(fmt::format("{}: built for {}, this is {}", field, theirs, ours));
  };
  const auto on_off = [](uint32_t value) { return value != 0 ? "on" : "off"; };

  const bool exact = kernel.api_major == 0;
  const bool fits = plugin.api_major == kernel.api_major &&
                    (exact ? plugin.api_minor == kernel.api_minor : plugin.api_minor <= kernel.api_minor);
  if (!fits) {
    differ("API version", fmt::format("{}.{}", plugin.api_major, plugin.api_minor),
           fmt::format("{}.{}", kernel.api_major, kernel.api_minor));
  }
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
  return differences;
}

}  // namespace tunesmith

// Reads untrusted ELF files, before any of their code is loaded.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <elf.h>
#include <tl/expected.hpp>

namespace tunesmith {

inline bool inside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

/// Reads a T at `offset` by copying, since a file guarantees no alignment; nothing if it is out of bounds.
template <typename T>
std::optional<T> read_at(std::span<const char> bytes, uint64_t offset) {
  if (!inside(offset, sizeof(T), bytes.size())) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// A shared library for this machine with all segments inside the file.
struct ElfFile {
  std::span<const char> bytes;
  std::vector<Elf64_Phdr> segments;

  std::span<const char> content(const Elf64_Phdr& segment) const {
    return bytes.subspan(segment.p_offset, segment.p_filesz);
  }
};

/// Or the problem: not ELF, another class, byte order or architecture, no shared
/// library, truncated. Never reads outside `bytes`, which the result refers to.
tl::expected<ElfFile, std::string> parse_elf_file(std::span<const char> bytes);

/// Input of the dynamic linker: DT_NEEDED, and DT_RUNPATH or else DT_RPATH, split at colons.
struct ElfDependencies {
  std::vector<std::string> libraries;
  std::vector<std::string> search_path;
};

/// Or the damage of the dynamic section. Empty without such a section.
tl::expected<ElfDependencies, std::string> read_dependencies(const ElfFile& file);

}  // namespace tunesmith

#include "plugin/elf_file.h"

#include <algorithm>
#include <bit>

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

std::string check_header(std::span<const char> file, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return "built for a big-endian machine, found little-endian";
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

/// The string at `offset` of the table; nothing if it does not end inside.
std::optional<std::string> string_at(std::span<const char> table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const auto rest = table.subspan(offset);
  const auto end = std::ranges::find(rest, '\0');
  if (end == rest.end()) return std::nullopt;
  return std::string(rest.begin(), end);
}

std::vector<std::string> divided(const std::string& path) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

}  // namespace

tl::expected<ElfFile, std::string> parse_elf_file(std::span<const char> bytes) {
  if (bytes.empty()) return tl::unexpected(std::string("the file is empty"));
  const std::string_view start(bytes.data(), std::min<size_t>(bytes.size(), SELFMAG));
  if (start != std::string_view(ELFMAG, SELFMAG).substr(0, start.size()) || start.size() < SELFMAG) {
    return tl::unexpected(std::string("not an ELF file"));
  }
  if (bytes.size() > EI_CLASS && bytes[EI_CLASS] != ELFCLASS64) {
    return tl::unexpected(std::string("wrong ELF class: this needs a 64-bit library"));
  }
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header) return tl::unexpected(std::string("truncated: shorter than an ELF header"));
  if (std::string problem = check_header(bytes, *header); !problem.empty()) {
    return tl::unexpected(std::move(problem));
  }
  ElfFile file{bytes, {}};
  for (uint16_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = *read_at<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_NULL) continue;
    if (!inside(segment.p_offset, segment.p_filesz, bytes.size())) {
      return tl::unexpected(
          fmt::format("truncated: a segment of {} bytes at {} lies outside the file of {} bytes",
                      uint64_t{segment.p_filesz}, uint64_t{segment.p_offset}, bytes.size()));
    }
    file.segments.push_back(segment);
  }
  return file;
}

tl::expected<ElfDependencies, std::string> read_dependencies(const ElfFile& file) {
  const auto damaged = [](const char* how) { return tl::unexpected(std::string("damaged: ") + how); };
  const auto dynamic = std::ranges::find(file.segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == file.segments.end()) return ElfDependencies{};

  std::vector<uint64_t> needed;
  std::optional<uint64_t> runpath, rpath, table_address, table_size;
  const std::span<const char> entries = file.content(*dynamic);
  for (uint64_t offset = 0; const auto entry = read_at<Elf64_Dyn>(entries, offset);
       offset += sizeof(Elf64_Dyn)) {
    const uint64_t value = entry->d_un.d_val;
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) needed.push_back(value);
    if (entry->d_tag == DT_RUNPATH) runpath = value;
    if (entry->d_tag == DT_RPATH) rpath = value;
    if (entry->d_tag == DT_STRTAB) table_address = value;
    if (entry->d_tag == DT_STRSZ) table_size = value;
  }
  if (!runpath) runpath = rpath;
  if (needed.empty() && !runpath) return ElfDependencies{};
  if (!table_address || !table_size) return damaged("no table of strings");
  const auto loaded = std::ranges::find_if(file.segments, [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && *table_address >= segment.p_vaddr &&
           inside(*table_address - segment.p_vaddr, *table_size, segment.p_filesz);
  });
  if (loaded == file.segments.end()) return damaged("the table of strings lies outside the file");
  const std::span<const char> table =
      file.content(*loaded).subspan(*table_address - loaded->p_vaddr, *table_size);

  ElfDependencies result;
  for (const uint64_t offset : needed) {
    std::optional<std::string> name = string_at(table, offset);
    if (!name) return damaged("the name of a needed library lies outside the table of strings");
    result.libraries.push_back(std::move(*name));
  }
  if (runpath) {
    const std::optional<std::string> path = string_at(table, *runpath);
    if (!path) return damaged("the search path lies outside the table of strings");
    result.search_path = divided(*path);
  }
  return result;
}

}  // namespace tunesmith

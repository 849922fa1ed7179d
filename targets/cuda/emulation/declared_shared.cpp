#include "emulation/declared_shared.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

/// The parts of an object file by offset.
class ObjectFile {
 public:
  explicit ObjectFile(const std::filesystem::path& file) : name_(file.string()) {
    std::ifstream stream(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    if (!bytes_.starts_with(ELFMAG) || bytes_.size() <= EI_CLASS || bytes_[EI_CLASS] != ELFCLASS64) fail();
  }

  template <class Header>
  Header at(size_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Header)) fail();
    Header header;
    std::memcpy(&header, bytes_.data() + offset, sizeof header);
    return header;
  }
  std::string text(size_t offset) const {
    if (offset >= bytes_.size()) fail();
    return bytes_.substr(offset, bytes_.find('\0', offset) - offset);
  }

 private:
  [[noreturn]] void fail() const {
    throw EnvironmentError(fmt::format("{}: no object file of 64 bits", name_));
  }

  std::string name_, bytes_;
};

/// Is the variable with this symbol declared in one of these functions, which have C linkage?
bool is_of_one(const std::string& symbol, const std::vector<std::string>& kernels) {
  return std::ranges::any_of(kernels, [&](const std::string& kernel) {
    return symbol.starts_with(fmt::format("_ZZ{}{}E", kernel.size(), kernel));
  });
}

}  // namespace

size_t declared_shared_bytes(const std::filesystem::path& object, const std::vector<std::string>& kernels,
                             bool only_theirs) {
  const ObjectFile file(object);
  const auto header = file.at<Elf64_Ehdr>(0);
  const auto section = [&](size_t i) { return file.at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize); };
  size_t bytes = 0;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const size_t names = section(symbols.sh_link).sh_offset;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(symbols.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS &&
          (!only_theirs || is_of_one(file.text(names + symbol.st_name), kernels)))
        bytes += symbol.st_size;
    }
  }
  return bytes;
}

}  // namespace tunesmith::cuda

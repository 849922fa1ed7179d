#include "declared_shared.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

/// What lies at an offset of an object file.
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

/// Does a variable with this symbol belong to a function with C linkage, and to none of these?
bool is_of_another(const std::string& symbol, const std::vector<std::string>& kernels) {
  const std::string local = "_ZZ";
  const size_t digits = local.size(), name = symbol.find_first_not_of("0123456789", digits);
  if (!symbol.starts_with(local) || name == digits || name == std::string::npos) return false;
  const size_t length = std::stoul(symbol.substr(digits, std::min<size_t>(name - digits, 6)));
  // Behind a C++ function's name stand its parameters.
  if (name + length >= symbol.size() || symbol[name + length] != 'E') return false;
  return std::ranges::find(kernels, symbol.substr(name, length)) == kernels.end();
}

}  // namespace

size_t declared_shared_bytes(const std::filesystem::path& object, const std::vector<std::string>& kernels) {
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
          !is_of_another(file.text(names + symbol.st_name), kernels))
        bytes += symbol.st_size;
    }
  }
  return bytes;
}

}  // namespace tunesmith::cuda

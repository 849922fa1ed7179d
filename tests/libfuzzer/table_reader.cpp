// Any text is a recorded table, once it is compressed and its checksum is right, or is refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <zlib.h>

#include <tunesmith/evaluation/table.h>
#include <tunesmith/support/hash.h>

#include "read_or_refuse.h"
#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string content = std::string(reinterpret_cast<const char*>(data), size) + "\n";
  const std::string text = fmt::format("{}{{\"rows\":1,\"sha256\":\"{}\"}}\n", content, sha256_hex(content));
  const std::filesystem::path path = test::scratch_folder() / "table";
  gzFile file = gzopen(path.c_str(), "wb1");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  test::read_or_refuse([&] {
    const Table table = load_table(path);
    workload_of(table);
  });
  return 0;
}

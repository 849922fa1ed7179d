// A store imports any lines with correct checksums, can then be queried and exported, and survives changes of
// any of its bytes; or it refuses with a reason.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>

#include "read_or_refuse.h"
#include "scratch_file.h"
#include "tunesmith/schema/json_text.h"

using namespace tunesmith;

namespace {

std::string with_right_checksums(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    auto object = parse_object(line);
    if (object && object->contains("checksum")) {
      for (const char* kind : {"environment", "workload", "space", "run", "roof", "record"}) {
        if (object->contains(kind)) (*object)["checksum"] = json_checksum(canonical_text((*object)[kind]));
      }
      line = canonical_text(*object);
    }
    result += line + "\n";
  }
  return result;
}

void ask(const RecordStore& store) {
  store.list();
  store.roofs();
  for (const Environment& environment : store.environments()) {
    for (const TaskKey& task : store.tasks()) {
      store.workload(task.workload_hash);
      store.best({task, environment.machine()}, 4);
    }
  }
  std::ostringstream out;
  std::ignore = store.export_jsonl(out);
  std::ignore = store.check();
}

/// The bytes of a store with the example's lines.
std::string whole_store() {
  const std::filesystem::path path = test::scratch_folder() / "whole";
  {
    RecordStore store(path);
    std::ifstream lines(TUNESMITH_SOURCE_DIR "/tests/libfuzzer/corpus/store/lines");
    std::ignore = store.import_jsonl(lines, "lines");
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void read_lines(const std::string& text) {
  const std::filesystem::path path = test::scratch_folder() / "store";
  for (const char* of : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + of);
  RecordStore store(path);
  std::istringstream in(with_right_checksums(text));
  std::ignore = store.import_jsonl(in, "lines");
  ask(store);
}

/// In `places`, three bytes are a position and the fourth is its new byte.
void read_damaged(std::string store, const std::string& places) {
  for (size_t i = 0; i + 3 < places.size(); i += 4) {
    const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(places[i + at])); };
    store[(byte(0) * 65536 + byte(1) * 256 + byte(2)) % store.size()] = places[i + 3];
  }
  const std::filesystem::path path = test::scratch_file(store, "damaged");
  for (const auto mode : {RecordStore::Mode::Read, RecordStore::Mode::Rescue}) {
    try {
      ask(RecordStore(path, mode));
    } catch (const EnvironmentError&) {  // NOLINT(bugprone-empty-catch): a damaged file is one
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const std::string whole = whole_store();
  test::read_or_refuse([&] {
    if (text.starts_with('{')) {
      read_lines(text);
    } else {
      read_damaged(whole, text);
    }
  });
  return 0;
}

// Table files: gzipped JSON lines. The first line describes what was measured, where and
// how; each further line is a program; the last has the SHA-256 of all lines before.
#include <cmath>
#include <memory>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "tunesmith/evaluation/table.h"
#include "tunesmith/measure/timing.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
/// The limit of unpacked bytes, a thousand times a typical table: a small file can unpack to any size.
constexpr size_t kMaxUnpacked = size_t{1} << 29;
constexpr double kNanosecond = 1e-9;
constexpr double kMicrosecond = 1e-6;

// ---- Plugins and their options ----

json value_json(const RawScalar& value) {
  return value.quoted ? json{{"quoted", value.text}} : json(value.text);
}

RawScalar value_from(const json& in, const SourceLocation& location) {
  return in.is_object() ? RawScalar{in.at("quoted"), location, true} : RawScalar{in, location};
}

json use_json(const PluginUse& use) {
  json options = json::object();
  for (const RawOption& option : use.options) {
    json values = json::array();
    for (const RawScalar& value : option.values) values.push_back(value_json(value));
    options[option.name] = option.shape == RawOption::Shape::List ? values : values.at(0);
  }
  return {{"id", use.id}, {"options", options}};
}

PluginUse use_from(const json& in, const SourceLocation& location) {
  PluginUse use{in.at("id"), location, {}};
  for (const auto& [name, value] : in.at("options").items()) {
    RawOption option{name, location, RawOption::Shape::Scalar, {}, location};
    if (value.is_array()) {
      option.shape = RawOption::Shape::List;
      for (const json& item : value) option.values.push_back(value_from(item, location));
    } else {
      option.values.push_back(value_from(value, location));
    }
    use.options.push_back(std::move(option));
  }
  return use;
}

json uses_json(const std::vector<PluginUse>& uses) {
  json list = json::array();
  for (const PluginUse& use : uses) list.push_back(use_json(use));
  return list;
}

// ---- Lines ----

json header_json(const Table& table) {
  return {{"tunesmith_table", kVersion},
          {"workload", table.workload},
          {"definition", table.definition},
          {"workload_hash", hex64(table.workload_hash)},
          {"threads", table.threads},
          {"space",
           {{"name", table.space.name},
            {"extensions", uses_json(table.space.extensions)},
            {"modules", uses_json(table.space.modules)},
            {"max_sketches", table.space.max_sketches}}},
          {"rules", table.rules},
          {"identity", table.identity},
          {"target", table.target},
          {"device", table.device.all()},
          {"limits",
           {{"vector_bits", table.limits.vector_bits},
            {"vector_registers", table.limits.vector_registers},
            {"max_stack_bytes", table.limits.max_stack_bytes},
            {"max_expanded_stores", table.limits.max_expanded_stores},
            {"prepare", table.limits.prepare}}},
          {"environment", json::parse(table.environment.text())},
          {"command", table.command},
          {"recorded_ms", table.recorded_ms},
          {"complete", table.complete}};
}

uint64_t hash_from(const json& in) { return std::stoull(in.get<std::string>(), nullptr, 16); }

Table header_from(const json& in, const SourceLocation& location) {
  Table table;
  in.at("workload").get_to(table.workload);
  in.at("definition").get_to(table.definition);
  table.workload_hash = hash_from(in.at("workload_hash"));
  in.at("threads").get_to(table.threads);
  const json& space = in.at("space");
  space.at("name").get_to(table.space.name);
  table.space.location = location;
  for (const json& use : space.at("extensions")) table.space.extensions.push_back(use_from(use, location));
  for (const json& use : space.at("modules")) table.space.modules.push_back(use_from(use, location));
  space.at("max_sketches").get_to(table.space.max_sketches);
  in.at("rules").get_to(table.rules);
  in.at("identity").get_to(table.identity);
  in.at("target").get_to(table.target);
  for (const auto& [name, value] : in.at("device").items()) table.device.set(name, value.get<double>());
  const json& limits = in.at("limits");
  limits.at("vector_bits").get_to(table.limits.vector_bits);
  limits.at("vector_registers").get_to(table.limits.vector_registers);
  limits.at("max_stack_bytes").get_to(table.limits.max_stack_bytes);
  limits.at("max_expanded_stores").get_to(table.limits.max_expanded_stores);
  limits.at("prepare").get_to(table.limits.prepare);
  table.environment = Environment::parse(in.at("environment").dump());
  in.at("command").get_to(table.command);
  in.at("recorded_ms").get_to(table.recorded_ms);
  in.at("complete").get_to(table.complete);
  return table;
}

/// Rounds to units: times are no more precise, and further digits do not compress.
int64_t in_units(double seconds, double unit) { return std::max<int64_t>(1, std::llround(seconds / unit)); }

json row_json(const TableRow& row) {
  json out{
      {"hash", hex64(row.lowered_hash)}, {"trace", row.trace}, {"cost_us", in_units(row.cost, kMicrosecond)}};
  if (row.failure) {
    out["failure"] = {{"cause", failure_cause_name(row.failure->cause)}, {"message", row.failure->message}};
    return out;
  }
  json rounds = json::array();
  for (const std::vector<double>& round : row.rounds) {
    json samples = json::array();
    for (const double seconds : round) samples.push_back(in_units(seconds, kNanosecond));
    rounds.push_back(std::move(samples));
  }
  out["rounds_ns"] = std::move(rounds);
  return out;
}

TableRow row_from(const json& in) {
  TableRow row;
  row.lowered_hash = hash_from(in.at("hash"));
  in.at("trace").get_to(row.trace);
  row.cost = in.at("cost_us").get<double>() * kMicrosecond;
  if (const auto failure = in.find("failure"); failure != in.end()) {
    const auto cause = parse_failure_cause(failure->at("cause").get<std::string>());
    if (!cause) throw UserError("an unknown cause of failure");
    row.failure = CandidateFailure{*cause, failure->at("message")};
    return row;
  }
  for (const json& round : in.at("rounds_ns")) {
    std::vector<double>& samples = row.rounds.emplace_back();
    for (const json& sample : round) samples.push_back(sample.get<double>() * kNanosecond);
    if (samples.empty() || !std::ranges::all_of(samples, is_time)) throw UserError("a round without times");
  }
  if (row.rounds.empty()) throw UserError("neither times nor a failure");
  return row;
}

// ---- The compressed file ----

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using Gzip = std::unique_ptr<gzFile_s, CloseGzip>;

std::string unpack(const std::filesystem::path& file) {
  const Gzip in(gzopen(file.c_str(), "rb"));
  if (!in) throw UserError(SourceLocation{file.string()}, "there is no such file, or it cannot be read");
  if (gzdirect(in.get()) != 0)
    throw UserError(SourceLocation{file.string()}, "not a recorded table: not compressed");
  std::string text;
  std::string part(size_t{1} << 20, '\0');
  for (;;) {
    const int read = gzread(in.get(), part.data(), static_cast<unsigned>(part.size()));
    if (read < 0)
      throw UserError(SourceLocation{file.string()}, "the table is damaged: it cannot be unpacked");
    if (read == 0) break;
    if (text.size() > kMaxUnpacked)
      throw UserError(SourceLocation{file.string()},
                      fmt::format("larger than {} bytes unpacked", kMaxUnpacked));
    text.append(part, 0, static_cast<size_t>(read));
  }
  int status = Z_OK;
  gzerror(in.get(), &status);
  if (status != Z_OK)
    throw UserError(SourceLocation{file.string()}, "the table is damaged: its end is missing");
  return text;
}

/// A comment or a compiler's message may contain any byte.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// With gzip's best compression.
std::string packed(std::string text) {
  constexpr int kGzip = 16;  // added to the window bits: with gzip's header and checksum
  constexpr int kUsualMemory = 8;
  z_stream stream{};
  check_invariant(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kUsualMemory,
                               Z_DEFAULT_STRATEGY) == Z_OK,
                  "zlib has these settings");
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int ended = deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  check_invariant(ended == Z_STREAM_END, "deflateBound is enough");
  return bytes;
}

std::string text_of(const Table& table) {
  std::string text = line_of(header_json(table));
  for (const TableRow& row : table.rows) text += line_of(row_json(row));
  return text + json{{"rows", table.rows.size()}, {"sha256", sha256_hex(text)}}.dump() + "\n";
}

/// The text before the last line, after checking its checksum.
std::string_view checked(std::string_view text, const std::string& file) {
  const size_t last = text.size() < 2 ? std::string_view::npos : text.rfind('\n', text.size() - 2);
  const auto fail = [&](const char* why) {
    throw UserError(SourceLocation{file}, fmt::format("the table is damaged: {}", why));
  };
  if (last == std::string_view::npos) fail("it has no last line");
  const std::string_view content = text.substr(0, last + 1);
  const auto end = parse_object(text.substr(last + 1));
  if (!end || !end->contains("sha256")) fail("its last line is no checksum");
  if (end->at("sha256") != sha256_hex(content)) fail("its checksum is another one");
  return content;
}

}  // namespace

void save_table(const Table& table, const std::filesystem::path& file) {
  write_whole_file(file, packed(text_of(table)));
}

Table load_table(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string text = unpack(file);
  std::string_view rest = checked(text, name);
  Table table;
  std::unordered_set<uint64_t> hashes;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t length = rest.find('\n');
    const SourceLocation place{name, line};
    try {
      const auto read = parse_object(rest.substr(0, length));
      if (!read) throw UserError(fmt::format("invalid line of a table: it {}", read.error()));
      const json& in = *read;
      if (line == 1) {
        const int version = in.value("tunesmith_table", 0);
        if (version > kVersion) throw UserError("a table from a newer Tunesmith", "use that one");
        if (version < 1) throw UserError("not a recorded table");
        table = header_from(in, {name});
      } else {
        table.rows.push_back(row_from(in));
        if (!hashes.insert(table.rows.back().lowered_hash).second)
          throw UserError("a program for the second time");
      }
    } catch (const json::exception& error) {
      throw UserError(place, fmt::format("invalid line of a table: {}", error.what()));
    } catch (const std::logic_error& error) {
      throw UserError(place, fmt::format("invalid line of a table: {}", error.what()));
    } catch (const UserError& error) {
      throw UserError(place, error.what(), error.remedy());
    }
    rest.remove_prefix(length + 1);
  }
  return table;
}

}  // namespace tunesmith

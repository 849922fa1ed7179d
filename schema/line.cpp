#include "tunesmith/schema/line.h"

#include <algorithm>
#include <array>
#include <istream>
#include <limits>
#include <vector>

#include <fmt/ranges.h>

#include "tunesmith/schema/field.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/version.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

struct Kind {
  std::string_view name;
  int version;  // of the last schema change of this kind, written in its lines
};

constexpr std::array<Kind, 12> kKinds{{{"environment", 5},
                                       {"workload", 5},
                                       {"space", 5},
                                       {"run", 5},
                                       {"roof", 8},
                                       {"record", 5},
                                       {"candidate", 5},
                                       {"job", 6},
                                       {"turns", 8},
                                       {"times", 9},
                                       {"refusal", 8},
                                       {"worker", 8}}};
static_assert(std::ranges::max(kKinds, {}, &Kind::version).version <= kSchemaVersion);

std::string names_of_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string line_text(std::string_view kind, std::string_view content) {
  const auto* const known = std::ranges::find(kKinds, kind, &Kind::name);
  if (known == kKinds.end()) throw InternalError(fmt::format("no kind of line: '{}'", kind));
  return fmt::format(R"({{"checksum":"{}","{}":{},"version":{}}})", json_checksum(content), kind, content,
                     known->version);
}

Line parse_line_text(std::string_view text) {
  if (text.size() > kMaxLineBytes) throw UserError(fmt::format("larger than {} bytes", kMaxLineBytes));
  tl::expected<nlohmann::json, std::string> all = parse_object(text);
  if (!all) throw UserError(fmt::format("damaged: it {}", all.error()));
  std::string error;
  const Field line(*all, error);
  const auto version = static_cast<int>(line["version"].integer(1, std::numeric_limits<int>::max()));
  if (!error.empty()) throw UserError(fmt::format("no line of Tunesmith's: {}", error));
  if (version > kSchemaVersion) {
    throw UserError(fmt::format("written by a newer Tunesmith (version {} of the schema, this one reads {})",
                                version, kSchemaVersion));
  }
  const auto* const kind =
      std::ranges::find_if(kKinds, [&](const Kind& one) { return all->contains(one.name); });
  if (kind == kKinds.end())
    throw UserError(fmt::format("no line of Tunesmith's: it has none of the keys {}", names_of_kinds()));
  const std::string name(kind->name);
  nlohmann::json content = std::move((*all)[name]);
  const std::string sum = line["checksum"].text(kMaxName);
  if (error.empty() && sum != json_checksum(canonical_text(content)))
    throw UserError("damaged: the checksum does not fit the content");
  if (error.empty() && !content.is_object()) Field(content, error).wrong("is no object");
  if (!error.empty()) throw UserError(fmt::format("no line of Tunesmith's: {}", error));
  return {name, std::move(content), version};
}

bool read_line(std::istream& in, std::string& line) {
  line.clear();
  bool any = false;
  for (char byte = 0; in.get(byte);) {
    any = true;
    if (byte == '\n') return true;
    if (line.size() <= kMaxLineBytes) line.push_back(byte);
  }
  return any;
}

}  // namespace tunesmith

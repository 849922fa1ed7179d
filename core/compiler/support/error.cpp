#include "tunesmith/support/error.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tunesmith {

std::string SourceLocation::str() const {
  if (line <= 0) return file;
  if (column <= 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

namespace {
std::string compose(const SourceLocation& location, const std::string& message, const std::string& remedy) {
  std::string text = location.str();
  if (!text.empty()) text += ": ";
  text += message;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}
}  // namespace

Error::~Error() = default;
UserError::~UserError() = default;
EnvironmentError::~EnvironmentError() = default;
InternalError::~InternalError() = default;

UserError::UserError(const std::string& message, std::string remedy)
    : UserError(SourceLocation{}, message, std::move(remedy)) {}

UserError::UserError(SourceLocation location, const std::string& message, std::string remedy)
    : Error(compose(location, message, remedy)), location_(std::move(location)), remedy_(std::move(remedy)) {}

void check_invariant(bool condition, std::string_view what, const char* file, int line) {
  if (!condition) throw InternalError(fmt::format("{}:{}: broken invariant: {}", file, line, what));
}

/// The minimum number of letters of an abbreviated name.
constexpr size_t kMinPrefix = 2;

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  // Less than the name's length: changing every letter gives an unrelated name.
  size_t best_distance = std::min(std::max<size_t>(2, name.size() / 3) + 1, name.size());
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || name.size() < kMinPrefix) return best;
  for (const std::string& candidate : known) {
    if (!candidate.starts_with(name)) continue;
    if (!best.empty()) return "";
    best = candidate;
  }
  return best;
}

std::string suggest(std::string_view name, const std::vector<std::string>& known) {
  if (const std::string near = nearest_name(name, known); !near.empty()) {
    return fmt::format("did you mean '{}'?", near);
  }
  return known.empty() ? std::string{} : fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace tunesmith

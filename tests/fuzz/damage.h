// Texts that were right, with some mistakes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tunesmith/support/random.h>

namespace tunesmith::fuzz {

/// One to four changes: something taken out, one of `pieces` put in, a byte replaced, a part said again.
inline std::string damage(std::string text, std::span<const std::string_view> pieces, RandomStream& random) {
  const uint64_t edits = 1 + random.below(4);
  for (uint64_t i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = random.below(text.size());
    switch (random.below(4)) {
      case 0:
        text.erase(at, 1 + random.below(6));
        break;
      case 1:
        text.insert(at, pieces[random.below(pieces.size())]);
        break;
      case 2:
        text[at] = static_cast<char>(random.below(256));
        break;
      default:
        text.insert(at, text.substr(random.below(text.size()), random.below(20)));
        break;
    }
  }
  return text;
}

}  // namespace tunesmith::fuzz

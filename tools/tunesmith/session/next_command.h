// Commands that a person is told to type.
#pragma once

#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

/// One word for a shell: in single quotes where it would be read otherwise.
std::string shell_word(const std::string& text);

/// "tunesmith build gmm:n=512 --space cpu".
std::string spoken_command(const std::vector<std::string>& words);

/// `words` with the options that the next command must have, too, to find what this one has made: plugins,
/// spaces, `database` as --database gave it, and `threads` (0: all).
std::vector<std::string> with_same_place(std::vector<std::string> words, const Common& common,
                                         const std::string& database, int threads);

}  // namespace tunesmith::cli

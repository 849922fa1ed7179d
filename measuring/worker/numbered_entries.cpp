#include "worker/numbered_entries.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <dirent.h>

namespace tunesmith {

std::vector<int> numbered_entries(const char* folder) {
  std::vector<int> numbers;
  DIR* const open = opendir(folder);
  if (open == nullptr) return numbers;
  while (const dirent* entry = readdir(open)) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number != dirfd(open))
      numbers.push_back(number);
  }
  closedir(open);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace tunesmith

#include "report/page.h"

#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

#include "page_parts.h"

namespace tunesmith::report {
namespace {

/// Replaces each {{name}} in `text` once; inserted text is not scanned.
std::string fill(std::string_view text, const std::map<std::string, std::string, std::less<>>& parts) {
  std::string filled;
  for (size_t begin = 0;;) {
    const size_t open = text.find("{{", begin);
    filled += text.substr(begin, open - begin);
    if (open == std::string_view::npos) return filled;
    const size_t close = text.find("}}", open);
    const auto part = parts.find(text.substr(open + 2, close - open - 2));
    check_invariant(part != parts.end(), "the page's template names parts that there are");
    filled += part->second;
    begin = close + 2;
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t place = text.find(what); place != std::string::npos; place = text.find(what, place + by.size()))
    text.replace(place, what.size(), by);
  return text;
}

/// Escapes '<', so that no text in the data can end its HTML element.
std::string as_element(const nlohmann::json& data) {
  return replaced(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "<", "\\u003c");
}

std::string library_element() {
  std::string library;
  for (const std::string_view piece : kChartLibrary) library += piece;
  return "<script>\n/*\n" + replaced(kChartLicence, "*/", "* /") + "*/\n" +
         replaced(std::move(library), "</script", "<\\/script") + "\n</script>";
}

}  // namespace

bool draws_charts() { return !kChartLibrary.empty(); }

std::string page(const nlohmann::json& data, bool charts) {
  return fill(kTemplate, {{"style", kStyle},
                          {"script", kScript},
                          {"follow", data.contains("follows") ? kFollow : ""},
                          {"library", charts && draws_charts() ? library_element() : ""},
                          {"sources", data.contains("follows") ? "; connect-src 'self'" : ""},
                          {"data", as_element(data)}});
}

}  // namespace tunesmith::report

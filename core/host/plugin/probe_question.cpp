#include "plugin/probe_question.h"

#include <nlohmann/json.hpp>

namespace tunesmith {
namespace {

nlohmann::json to_json(const PluginInfo& info) {
  return {{"kind", static_cast<int>(info.kind)},
          {"id", info.id},
          {"version", info.version},
          {"manifest", info.manifest.string()},
          {"library", info.library.string()},
          {"sha256", info.sha256},
          {"libraries", info.libraries}};
}

PluginInfo plugin_of(const nlohmann::json& object) {
  PluginInfo info;
  info.kind = static_cast<PluginKind>(object.at("kind").get<int>());
  info.id = object.at("id").get<std::string>();
  info.version = object.at("version").get<std::string>();
  info.manifest = object.at("manifest").get<std::string>();
  info.library = object.at("library").get<std::string>();
  info.sha256 = object.at("sha256").get<std::string>();
  info.libraries = object.at("libraries").get<std::map<std::string, std::string>>();
  return info;
}

}  // namespace

std::string ProbeQuestion::text() const {
  nlohmann::json object{{"help", help}, {"plugins", nlohmann::json::array()}};
  for (const PluginInfo& info : plugins) object["plugins"].push_back(to_json(info));
  if (lock) {
    object["lock"] = nlohmann::json::array();
    for (const auto& [key, locked] : *lock)
      object["lock"].push_back({{"kind", static_cast<int>(key.first)},
                                {"id", key.second},
                                {"version", locked.version},
                                {"sha256", locked.sha256},
                                {"libraries", locked.libraries}});
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ProbeQuestion ProbeQuestion::parse(const std::string& text) {
  const nlohmann::json object = nlohmann::json::parse(text);
  ProbeQuestion question;
  question.help = object.at("help").get<bool>();
  for (const nlohmann::json& one : object.at("plugins")) question.plugins.push_back(plugin_of(one));
  if (!object.contains("lock")) return question;
  question.lock.emplace();
  for (const nlohmann::json& one : object.at("lock")) {
    const std::pair key(static_cast<PluginKind>(one.at("kind").get<int>()), one.at("id").get<std::string>());
    question.lock->emplace(
        key, LockedPlugin{one.at("version").get<std::string>(), one.at("sha256").get<std::string>(),
                          one.at("libraries").get<std::map<std::string, std::string>>()});
  }
  return question;
}

}  // namespace tunesmith

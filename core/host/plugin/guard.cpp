#include "tunesmith/plugin/guard.h"

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"

namespace tunesmith {

void rethrow_plugin_failure(PluginKind kind, std::string_view id, std::string_view call,
                            const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const UserError& error) {
    const std::string name = plugin_name(kind, id);
    std::string message = error.what();
    if (message.find(name) != std::string::npos) throw;
    if (const std::string place = error.location().str(); !place.empty()) message.erase(0, place.size() + 2);
    throw UserError(error.location(), fmt::format("{}: {}: {}", name, call, message));
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    throw PluginError(kind, std::string(id), error.what());
  } catch (const std::exception& error) {
    throw PluginError(kind, std::string(id), fmt::format("[P12] {} threw: {}", call, error.what()));
  } catch (...) {  // see guard_plugin
    throw PluginError(kind, std::string(id),
                      fmt::format("[P12] {} threw something that is no exception", call));
  }
}

}  // namespace tunesmith

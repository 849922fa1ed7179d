#include "tunesmith/space/module.h"

namespace tunesmith {

ModuleContext::~ModuleContext() = default;
TransformationModule::~TransformationModule() = default;

ModuleResult ModuleResult::applied(std::vector<Schedule> schedules, std::string reason) {
  ModuleResult result;
  result.status_ = Status::Applied;
  result.reason_ = std::move(reason);
  result.schedules_ = std::move(schedules);
  return result;
}

ModuleResult ModuleResult::applied(Schedule schedule) {
  std::vector<Schedule> one;
  one.push_back(std::move(schedule));
  return applied(std::move(one));
}

ModuleResult ModuleResult::not_applicable(std::string reason) {
  ModuleResult result;
  result.reason_ = std::move(reason);
  return result;
}

ModuleResult ModuleResult::broken(std::string reason) {
  ModuleResult result;
  result.status_ = Status::Broken;
  result.reason_ = std::move(reason);
  return result;
}

}  // namespace tunesmith

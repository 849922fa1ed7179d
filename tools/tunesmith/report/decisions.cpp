// The importance of decisions in the measurements of the runs.
#include <nlohmann/json.hpp>

#include <tunesmith/support/hash.h>

#include "report/importance.h"
#include "report/sections.h"

namespace tunesmith::report {

nlohmann::json decisions(const TaskRecords& task) {
  constexpr size_t kSketches = 4;
  constexpr size_t kDecisions = 16;
  std::vector<TimedTrace> programs;
  for (const Record& record : task.records) {
    if (record.kind != MeasurementKind::Search || !record.ok()) continue;
    if (std::optional<Trace> trace = trace_of(record))
      programs.push_back({std::move(*trace), record.seconds});
  }
  nlohmann::json sketches = nlohmann::json::array();
  for (const SketchEffects& effects : importance(programs)) {
    if (sketches.size() == kSketches) break;
    nlohmann::json decided = nlohmann::json::array();
    for (const DecisionEffect& effect : effects.decisions) {
      if (decided.size() == kDecisions) break;
      nlohmann::json values = nlohmann::json::array();
      for (const ValueEffect& value : effect.values)
        values.push_back({{"value", value.value}, {"programs", value.programs}, {"seconds", value.seconds}});
      decided.push_back({{"decision", effect.decision},
                         {"explained", effect.explained},
                         {"chance", effect.chance},
                         {"values", std::move(values)}});
    }
    sketches.push_back({{"sketch", hex64(effects.sketch)},
                        {"programs", effects.programs},
                        {"seconds", effects.seconds},
                        {"decisions", std::move(decided)}});
  }
  return {{"programs", programs.size()}, {"sketches", std::move(sketches)}};
}

}  // namespace tunesmith::report

// A task scheduler in plain C, without the wrapper: it takes the task that is not done and has the fewest
// trials.
#include <stddef.h>

#include "tunesmith/stable/c/plugin.h"

__attribute__((used, section(".note.tunesmith"), aligned(4))) static const struct tunesmith_elf_note note = {
    10,
    sizeof(struct tunesmith_note),
    TUNESMITH_NOTE_TYPE,
    "tunesmith",
    {TUNESMITH_NOTE_MAGIC,
     TUNESMITH_NOTE_VERSION,
     sizeof(struct tunesmith_note),
     TUNESMITH_NOTE_TIER_STABLE,
     TUNESMITH_PLUGIN_KIND_TASK_SCHEDULER,
     TUNESMITH_STABLE_MAJOR,
     TUNESMITH_STABLE_MINOR,
     {0},
     "plain_c",
     "0.1.0",
     {0}}};

static tunesmith_error* start(const tunesmith_host* host) {
  (void)host;
  return NULL;
}

static tunesmith_error* declare(tunesmith_option_list* list) {
  (void)list;
  return NULL;
}

static tunesmith_error* create(const tunesmith_options* options, void** object) {
  static int nothing;
  (void)options;
  *object = &nothing;
  return NULL;
}

static void destroy(void* object) { (void)object; }

static const tunesmith_task* task_of(const tunesmith_task_set* set, uint64_t position) {
  return (const tunesmith_task*)((const char*)set->tasks.data + position * set->tasks.stride);
}

static tunesmith_error* next(const void* object, const tunesmith_task_set* set, uint64_t* chosen) {
  const tunesmith_task* fewest = NULL;
  (void)object;
  for (uint64_t i = 0; i < set->tasks.count; ++i) {
    const tunesmith_task* task = task_of(set, i);
    if (task->done || (fewest != NULL && task->trials >= fewest->trials)) continue;
    fewest = task;
    *chosen = i;
  }
  return NULL;
}

static const tunesmith_task_scheduler_interface interface = {sizeof(interface), next};

extern const tunesmith_plugin tunesmith_stable_plugin;
const tunesmith_plugin tunesmith_stable_plugin = {sizeof(tunesmith_plugin),
                                                  TUNESMITH_PLUGIN_KIND_TASK_SCHEDULER,
                                                  0,
                                                  {"plain_c", 7},
                                                  {"0.1.0", 5},
                                                  {"the task with the fewest trials, in C", 37},
                                                  &interface,
                                                  start,
                                                  declare,
                                                  create,
                                                  destroy};

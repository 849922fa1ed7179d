// The ELF note by which a plugin says that it goes through the stable interface, and which version of it
// suffices: owner "tunesmith", type 1, in the section .note.tunesmith. The kernel reads it from the file
// before any of the plugin's code is loaded. Plugins in C++ need not write it: TUNESMITH_PLUGIN does.
#pragma once

#include <stdint.h>

#define TUNESMITH_NOTE_MAGIC "TUNESMITH-PLUGIN"
#define TUNESMITH_NOTE_TYPE 1
#define TUNESMITH_NOTE_VERSION 3
#define TUNESMITH_NOTE_TIER_STABLE 2

/// The content of the note: no pointers, the machine's byte order. Unused bytes of texts are zero.
struct tunesmith_note {
  char magic[16];         // without a terminating zero
  uint32_t note_version;  // TUNESMITH_NOTE_VERSION
  uint32_t note_size;     // of this struct
  uint32_t tier;          // TUNESMITH_NOTE_TIER_STABLE
  uint32_t kind;          // tunesmith_plugin_kind
  uint16_t major;         // of the interface; must be the kernel's
  uint16_t min_minor;     // the oldest that suffices
  char unused[24];        // zero
  char id[64];
  char version[32];    // of the plugin
  char reserved[100];  // zero
};

/// As it lies in the file: ELF's header of a note, the owner, the content.
struct tunesmith_elf_note {
  uint32_t owner_size;  // 10, with its terminating zero
  uint32_t content_size;
  uint32_t type;
  char owner[12];
  struct tunesmith_note content;
};

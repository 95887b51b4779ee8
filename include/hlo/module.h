// HloModule: computations, the entry, and everything the header line says.
//
// A module owns one arena in which all of it lives: freeing the module frees every instruction, shape, attribute
// and name. Modules are independent; one thread may work on one module.
#ifndef HLO_MODULE_H
#define HLO_MODULE_H

#include "hlo/computation.h"

// Uniquifier of names with separator `.` (printing chapter, §8.2).
typedef struct HloNames {
    HloMap stems;  // text -> used numbers and counter
} HloNames;

// Stack frames (grammar chapter, §2.3). Ids are positions from 1; parent 0 means none.
typedef struct HloFileLocation {
    int32_t file_name_id, function_name_id;
    int32_t line, end_line, column, end_column;
} HloFileLocation;
typedef struct HloStackFrame {
    int32_t file_location_id;
    int32_t parent_frame_id;
} HloStackFrame;
typedef struct HloFrames {
    const char **file_names;
    size_t file_name_count;
    const char **function_names;
    size_t function_name_count;
    HloFileLocation *locations;
    size_t location_count;
    HloStackFrame *frames;
    size_t frame_count;
} HloFrames;

typedef struct HloRecoveryRow {
    const char *old_name;
    HloDims old_index;
    const char *new_name;  // NULL: `{}`
    HloDims new_index;
    HloModule *module;  // NULL: none; also in the module's owned_modules
} HloRecoveryRow;

typedef struct HloDebugAttr {
    int log_mode;  // 0 unset, 1 default, 2 fusion_debugger
    int64_t callback_id, op_id;
    bool partitioned;
} HloDebugAttr;
typedef struct HloDebugRow {
    const char *name;
    const HloDebugAttr *attrs;
    size_t count;
} HloDebugRow;

struct HloModule {
    HloArena arena;  // owns everything
    HloShapes shapes;
    HloMap strings;  // interned text: all but the names of instructions, which are unique anyway
    const char *name;
    HloNames instruction_names, computation_names;

    HloComputation *first, *last;  // list order
    size_t count;
    uint32_t computation_id_limit;
    HloComputation *entry;

    // Header.
    bool is_scheduled;
    const HloShape **entry_params;  // layouts at the entry boundary; entry_param_count entries
    size_t entry_param_count;
    const HloShape *entry_result;   // NULL: no entry layout
    HloAliases input_output_alias;  // sorted by output index
    HloAliases buffer_donor;        // `parameter` and `input` used; sorted
    int hlo_version;                // of the language, as 202608, that the reader was told; 0: none
    bool alias_passthrough_params;
    HloDims spmd_to_parameters;  // 0/1; count 0 means {false}
    HloDims spmd_to_output;
    int64_t replica_count;  // 1 by default
    int64_t num_partitions;
    HloStringMap frontend_attributes;
    HloFrames frames;
    const HloRecoveryRow *recovery;
    size_t recovery_count;
    const HloDebugRow *debug_rows;
    size_t debug_row_count;
    HloStringView proto_rest;  // fields that only protocol buffers have, in binary form; text leaves them out
    HloVec owned_modules;      // HloModule *: modules inside this one, freed with it
    // By computation id: its place in the protocol buffer that the module was read from. NULL: read from text.
    const uint32_t *message_places;
    size_t message_place_count;
};

// A new empty module; the caller frees it with hlo_module_free. NULL when memory runs out.
HloModule *hlo_module_new(const char *name);
void hlo_module_free(HloModule *m);

#define HLO_EACH_COMP(comp, m) for (HloComputation *comp = (m)->first; comp; comp = comp->next)

// The one copy of a text in the module.
const char *hlo_intern(HloModule *m, const char *text, size_t size);
static inline const char *hlo_intern_z(HloModule *m, const char *text) {
    return hlo_intern(m, text, strlen(text));
}

// Appends a computation to the list: its name, then its instructions' names in list order, become unique.
HloComputation *hlo_module_add(HloModule *m, HloComputation *comp);
// Sets the entry; when the module has no entry layout yet it is taken from parameters and root.
void hlo_module_set_entry(HloModule *m, HloComputation *comp);
void hlo_module_reset_entry_layout(HloModule *m);
// Takes a computation without callers out of the list and drops its calls to others.
void hlo_module_remove(HloModule *m, HloComputation *comp);

// A unique name from `wanted` (sanitised; empty becomes `name`), in the module's arena.
const char *hlo_unique_name(HloModule *m, HloNames *names, const char *wanted);
// The same for a text in the module's arena, which is returned itself when it is free.
const char *hlo_unique_owned(HloModule *m, HloNames *names, const char *wanted);
// Registers the name an instruction gets by taking over another's; no uniqueness check.
void hlo_inst_set_name(HloInstruction *inst, const char *name);
// `x` -> `x.clone`, `x.clone` -> `x.clone2` … (printing chapter, §8.4).
const char *hlo_clone_name(HloArena *arena, const char *name, const char *suffix);
// The name with characters outside the allowed set replaced (§8.1).
const char *hlo_sanitized_name(HloArena *arena, const char *name);

// Computations with callees before callers, roots in list order.
typedef struct HloCompList {
    HloComputation **items;
    size_t count;
} HloCompList;
HloCompList hlo_module_post_order(const HloModule *m, HloArena *scratch);
// The order of the text (printing chapter, §3.3): the same, except that an instruction that calls A and B, where A
// calls B too, has A before B.
HloCompList hlo_module_print_order(const HloModule *m, HloArena *scratch);
// Callees first, without fusion computations (the order most passes walk).
HloCompList hlo_module_nonfusion_order(const HloModule *m, HloArena *scratch);
// List order.
HloCompList hlo_module_list(const HloModule *m, HloArena *scratch);

// The computations in which something has a side effect, callees included: one bit per computation id. Linear, where
// asking instruction by instruction would walk callees again and again.
HloBits hlo_module_find_effects(const HloModule *m, HloArena *scratch);

// Total instructions over all computations.
size_t hlo_module_instruction_count(const HloModule *m);

// Brings the sequences of a scheduled module in line with its instructions: removed ones go; a new one is placed right
// after the last of its operands and control predecessors (at the front when it has none); what one that stayed needs
// now moves before it. Computations without a sequence get their post-order. No effect on a module without schedule.
void hlo_module_update_schedule(HloModule *m, HloArena *scratch);
// Makes it a module without schedule.
void hlo_module_drop_schedule(HloModule *m);

// A deep copy with the same names. NULL when memory runs out.
HloModule *hlo_module_clone(const HloModule *m);

// Runs `body(data)` so that running out of arena memory in it becomes a RESOURCE_EXHAUSTED status; the arenas
// given (NULL-terminated) get the trap for the time of the call.
HLO_MUST_USE HloStatus hlo_guarded(HloArena *const *arenas, HloStatus (*body)(void *data), void *data);

#endif

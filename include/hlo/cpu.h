// The CPU target: pipeline, schedule, buffer assignment; and the door to code generation.
//
// Everything here works without LLVM. Code generation lives in a loadable part that hlo_llvm_open finds beside the
// program, so that a run that needs no machine code never pays for libLLVM.
#ifndef HLO_CPU_H
#define HLO_CPU_H

#include "hlo/dump.h"
#include "hlo/module.h"
#include "hlo/pass.h"
#include "hlo/status.h"

// ---- pipeline -------------------------------------------------------------------------------------------

typedef enum HloCpuPhase { HLO_CPU_BEFORE_SCHEDULE, HLO_CPU_AFTER_SCHEDULE, HLO_CPU_WHOLE } HloCpuPhase;

// The pipelines of a phase, which run one after the other (hlo_pipelines_run), in the reference's nesting and order.
// The options decide which parts they have, and the module (NULL: some module for one partition). Passes that do not
// exist here are absent elements.
HLO_MUST_USE HloStatus hlo_cpu_pipeline(HloArena *arena, HloCpuPhase phase, const HloDebugOptions *options,
                                        const HloModule *m, HloElement **out);
// Runs the pipelines of a phase over a module.
HLO_MUST_USE HloStatus hlo_cpu_run_passes(HloCpuPhase phase, const HloDebugOptions *options, HloModule *m,
                                          HloRunner *runner);
// Gives every non-fusion computation of the module a sequence and sets is_scheduled. A module that is scheduled
// stays as it is.
HLO_MUST_USE HloStatus hlo_cpu_schedule(HloModule *m);

// ---- buffers --------------------------------------------------------------------------------------------

typedef struct HloBufferAssignment HloBufferAssignment;

typedef struct HloAllocation {
    int64_t index;
    int64_t size_bytes;
    bool is_parameter;  // entry parameter `parameter_number` at `parameter_index`
    int64_t parameter_number;
    HloDims parameter_index;
    bool is_constant;
    bool is_thread_local;
    bool maybe_live_out;  // holds (a part of) the entry's result
    bool is_tuple;
    const HloInstruction *constant;  // is_constant: whose literal fills it
} HloAllocation;

// Where a value lies: inside one allocation.
typedef struct HloBufferSlice {
    int64_t allocation;
    int64_t offset_bytes;
    int64_t size_bytes;
} HloBufferSlice;

// Runs dataflow, aliasing and liveness over a scheduled module and assigns every value a place. The assignment
// borrows the module, which must not change while it lives; the caller frees it.
HLO_MUST_USE HloStatus hlo_assign_buffers(const HloModule *m, HloBufferAssignment **out);
void hlo_buffer_assignment_free(HloBufferAssignment *assignment);

// The allocations, by their number in the report. They belong to the assignment.
size_t hlo_allocation_count(const HloBufferAssignment *assignment);
const HloAllocation *hlo_allocation(const HloBufferAssignment *assignment, size_t k);
// The one place of an instruction's value at a shape index; false when it has none that is known before the
// run (several possible buffers, or a computation that is not assigned).
bool hlo_buffer_slice(const HloBufferAssignment *assignment, const HloInstruction *inst, HloDims index,
                      HloBufferSlice *out);

// The report `…-buffer-assignment.txt` (buffer assignment chapter) and its three companions `-values`,
// `-memory-usage-report` and `-live-range`.
void hlo_put_buffer_assignment(HloBuffer *out, const HloBufferAssignment *assignment);
void hlo_put_buffer_values(HloBuffer *out, const HloBufferAssignment *assignment);
void hlo_put_memory_usage_report(HloBuffer *out, const HloBufferAssignment *assignment);
void hlo_put_live_ranges(HloBuffer *out, const HloBufferAssignment *assignment);

// Appends the memory usage report as MemoryUsageReportProto. Where an allocation's values are defined stands there in
// the order of values; the reference has an order of its own.
HLO_MUST_USE HloStatus hlo_put_memory_usage_proto(HloBuffer *out, const HloBufferAssignment *assignment);
// Appends the assignment as field `buffer_assignment` of an HloProto, to stand behind the module's bytes that
// hlo_proto_write_module makes. Traces of the heap simulator and peaks are left out.
HLO_MUST_USE HloStatus hlo_put_buffer_assignment_proto(HloBuffer *out, const HloBufferAssignment *assignment);

// ---- the way there --------------------------------------------------------------------------------------

// What goes with a module on its way through the CPU target. Everything is borrowed.
typedef struct HloCpuRun {
    const HloDebugOptions *options;
    HloRunner *runner;
    HloDump *dump;     // NULL: no dumps
    bool skip_passes;  // the module goes straight to its schedule, as one that has a schedule does
} HloCpuRun;

// Passes and schedule; a module that has a schedule has been through the passes.
HLO_MUST_USE HloStatus hlo_cpu_optimize(const HloCpuRun *run, HloModule *m);
HLO_MUST_USE HloStatus hlo_cpu_finish_schedule(const HloCpuRun *run, HloModule *m);
// From a scheduled module to its buffers. Dumps `cpu_after_optimizations` with the four reports and, if the emitter
// `llvm` is asked for, `ir-no-opt.ll` and `ir-with-opt.ll`.
HLO_MUST_USE HloStatus hlo_cpu_place_buffers(const HloCpuRun *run, const HloModule *m, HloBufferAssignment **out);
// Dumps the machine code of a module, `obj-file.o`, when anything of it is dumped.
HLO_MUST_USE HloStatus hlo_cpu_dump_object(HloDump *dump, const HloModule *m, const HloBufferAssignment *assignment);

// ---- code -----------------------------------------------------------------------------------------------

typedef enum HloCodeStage { HLO_CODE_LLVM_BEFORE_OPT, HLO_CODE_LLVM, HLO_CODE_ASM, HLO_CODE_OBJECT } HloCodeStage;

typedef struct HloExecutable HloExecutable;

// What the loadable part offers; one function per line.
typedef struct HloLlvm {
    // Appends the text of a stage (an object file's bytes) for a scheduled module with its buffers.
    HloStatus (*emit)(const HloModule *m, const HloBufferAssignment *assignment, HloCodeStage stage, HloBuffer *out);
    // Machine code for the entry computation; the caller frees it, and keeps module and assignment alive until then.
    HloStatus (*compile)(const HloModule *m, const HloBufferAssignment *assignment, HloExecutable **out);
    // Runs it: one literal per entry parameter in; the result, newly made in `arena`, out.
    HloStatus (*execute)(HloExecutable *executable, const HloLiteral *const *arguments, size_t count, HloArena *arena,
                         HloLiteral **result);
    void (*executable_free)(HloExecutable *executable);
} HloLlvm;

// Opens the loadable part (once per process; later calls return the same table). NOT_FOUND with the path tried when
// it is not installed.
HLO_MUST_USE HloStatus hlo_llvm_open(const HloLlvm **out);

#endif

// The loadable part's table: emit text, compile, execute.

#include "lib/cpu/llvm/jit.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// ---- building a module ----------------------------------------------------------------------------------

typedef struct Build {
    Gen gen;
    HloArena arena;
    LLVMOrcThreadSafeContextRef context;
    LLVMTargetMachineRef machine;
} Build;

static LLVMAttributeRef enum_attribute(LLVMContextRef cx, const char *name) {
    return LLVMCreateEnumAttribute(cx, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
}

static bool has_feature(const char *features, const char *wanted) {
    return strstr(features, wanted) != NULL;
}

static void gen_init(Gen *g, Build *build, const HloModule *m, const HloBufferAssignment *buffers) {
    LLVMContextRef cx = LLVMOrcThreadSafeContextGetContext(build->context);
    g->arena = &build->arena;
    g->m = m;
    g->buffers = buffers;
    g->cx = cx;
    g->mod = LLVMModuleCreateWithNameInContext(m->name ? m->name : "module", cx);
    g->b = LLVMCreateBuilderInContext(cx);
    g->i1 = LLVMInt1TypeInContext(cx);
    g->i8 = LLVMInt8TypeInContext(cx);
    g->i32 = LLVMInt32TypeInContext(cx);
    g->i64 = LLVMInt64TypeInContext(cx);
    g->f32 = LLVMFloatTypeInContext(cx);
    g->f64 = LLVMDoubleTypeInContext(cx);
    g->ptr = LLVMPointerTypeInContext(cx, 0);
    g->none = LLVMVoidTypeInContext(cx);
    g->noalias = enum_attribute(cx, "noalias");
    g->nounwind = enum_attribute(cx, "nounwind");
    g->memory_none = enum_attribute(cx, "memory");  // value 0: touches nothing
    g->willreturn = enum_attribute(cx, "willreturn");
    char *features = LLVMGetTargetMachineFeatureString(build->machine);
    g->vector_bytes = has_feature(features, "+avx") ? 32 : 16;
    g->has_half = has_feature(features, "+f16c") || has_feature(features, "+fullfp16");
    LLVMDisposeMessage(features);
    char *triple = LLVMGetTargetMachineTriple(build->machine);
    LLVMSetTarget(g->mod, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(build->machine);
    LLVMSetModuleDataLayout(g->mod, layout);
    LLVMDisposeTargetData(layout);
}

static HloStatus fill_module(void *data) {
    Gen *g = &((Build *)data)->gen;
    emit_module(g);
    HloStatus status = g->failure;
    g->failure = hlo_ok();
    return status;
}

static void build_free(Build *build) {
    if (build->gen.b) LLVMDisposeBuilder(build->gen.b);
    if (build->gen.mod) LLVMDisposeModule(build->gen.mod);
    if (build->context) LLVMOrcDisposeThreadSafeContext(build->context);
    if (build->machine) LLVMDisposeTargetMachine(build->machine);
    hlo_status_free(build->gen.failure);
    hlo_arena_free(&build->arena);
}

// Verified IR for the module; the caller frees `build` in every case.
static HloStatus build_module(Build *build, const HloModule *m, const HloBufferAssignment *buffers) {
    if (!m->entry || !m->entry->root) return hlo_error(HLO_INVALID_ARGUMENT, "the module has no entry computation");
    HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    HLO_TRY(target_machine_new(&build->machine));
    build->context = LLVMOrcCreateNewThreadSafeContext();
    gen_init(&build->gen, build, m, buffers);
    HloArena *arenas[] = {&build->arena, NULL};
    HLO_TRY(hlo_guarded(arenas, fill_module, build));
    return module_verify(build->gen.mod);
}

// ---- emit -----------------------------------------------------------------------------------------------

static HloStatus put_stage(Build *build, HloCodeStage stage, HloBuffer *out) {
    if (stage != HLO_CODE_LLVM_BEFORE_OPT) HLO_TRY(module_optimize(build->gen.mod, build->machine));
    if (stage == HLO_CODE_ASM) return module_machine_code(build->gen.mod, build->machine, LLVMAssemblyFile, out);
    if (stage == HLO_CODE_OBJECT) return module_machine_code(build->gen.mod, build->machine, LLVMObjectFile, out);
    char *text = LLVMPrintModuleToString(build->gen.mod);
    hlo_put_string(out, text);
    LLVMDisposeMessage(text);
    return hlo_buffer_status(out);
}

static HloStatus emit(const HloModule *m, const HloBufferAssignment *buffers, HloCodeStage stage, HloBuffer *out) {
    Build build = {0};
    HloStatus status = build_module(&build, m, buffers);
    if (hlo_is_ok(status)) status = put_stage(&build, stage, out);
    build_free(&build);
    return status;
}

// ---- compile --------------------------------------------------------------------------------------------

typedef void EntryFunction(void **allocations, void *scratch);

struct HloExecutable {
    const HloModule *m;
    const HloBufferAssignment *buffers;
    LLVMOrcLLJITRef jit;
    EntryFunction *entry;
    void **allocations;  // one address each; NULL for thread-local ones
    void *scratch;
};

static void *aligned_zeros(int64_t size_bytes) {
    size_t size = ((size_t)size_bytes + ALIGN_BYTES) & ~(size_t)(ALIGN_BYTES - 1);
    void *memory = aligned_alloc(ALIGN_BYTES, size);
    if (memory) memset(memory, 0, size);
    return memory;
}

static void executable_free(HloExecutable *x) {
    if (!x) return;
    if (x->jit) {
        LLVMErrorRef error = LLVMOrcDisposeLLJIT(x->jit);
        if (error) LLVMConsumeError(error);
    }
    size_t count = x->allocations ? hlo_allocation_count(x->buffers) : 0;
    for (size_t k = 0; k < count; k++) free(x->allocations[k]);
    free(x->allocations);
    free(x->scratch);
    free(x);
}

static const HloLiteral *literal_at(const HloLiteral *literal, HloDims index) {
    for (size_t k = 0; k < index.count; k++) {
        bool inside = literal->elements && index.data[k] >= 0 && (size_t)index.data[k] < literal->shape->rank;
        if (!inside) return NULL;
        literal = literal->elements[index.data[k]];
    }
    return literal;
}

typedef struct Fill {
    HloExecutable *x;
    HloArena arena;
    const HloAllocation *allocation;
} Fill;

// Puts the leaves of a constant that lie in an allocation there.
static HloStatus fill_leaves(void *data) {
    Fill *f = data;
    const HloInstruction *inst = f->allocation->constant;
    Gen paths = {.arena = &f->arena};
    Leaves leaves = shape_leaves(&paths, inst->shape);
    char *memory = f->x->allocations[f->allocation->index];
    for (size_t k = 0; k < leaves.count; k++) {
        HloBufferSlice slice;
        const Leaf *leaf = &leaves.items[k];
        const HloLiteral *literal = literal_at(hlo_constant(inst), leaf->path);
        if (!literal || !hlo_buffer_slice(f->x->buffers, inst, leaf->path, &slice)) continue;
        if (slice.allocation != f->allocation->index) continue;
        int64_t size = hlo_shape_size_bytes(leaf->shape);
        if (slice.offset_bytes < 0 || size > f->allocation->size_bytes - slice.offset_bytes) {
            return hlo_error(HLO_INTERNAL, "the buffer assigned to %%%s is too small for it", inst->name);
        }
        HLO_TRY(hlo_literal_materialize(&f->arena, literal, &literal));
        literal_lay_out(literal, leaf->shape, memory + slice.offset_bytes);
    }
    return hlo_ok();
}

static HloStatus fill_constant(HloExecutable *x, const HloAllocation *allocation) {
    if (!allocation->constant || !hlo_constant(allocation->constant)) {
        return hlo_error(HLO_INTERNAL, "allocation %lld has no constant to fill it", (long long)allocation->index);
    }
    Fill fill = {.x = x, .allocation = allocation};
    HloStatus status = hlo_guarded((HloArena *const[]){&fill.arena, NULL}, fill_leaves, &fill);
    hlo_arena_free(&fill.arena);
    return status;
}

// Memory for everything; constants are filled once.
static HloStatus make_allocations(HloExecutable *x, size_t scratch_bytes) {
    size_t count = hlo_allocation_count(x->buffers);
    x->allocations = calloc(count + 1, sizeof *x->allocations);
    x->scratch = aligned_zeros((int64_t)scratch_bytes);
    if (!x->allocations || !x->scratch) return hlo_out_of_memory();
    for (size_t k = 0; k < count; k++) {
        const HloAllocation *allocation = hlo_allocation(x->buffers, k);
        if (allocation->is_thread_local) continue;
        if (allocation->index != (int64_t)k) return hlo_error(HLO_INTERNAL, "allocation %zu is numbered otherwise", k);
        if (allocation->size_bytes < 0) return hlo_error(HLO_INTERNAL, "allocation %zu has a negative size", k);
        x->allocations[k] = aligned_zeros(allocation->size_bytes);
        if (!x->allocations[k]) return hlo_out_of_memory();
        if (allocation->is_constant && !allocation->is_tuple) HLO_TRY(fill_constant(x, allocation));
    }
    return hlo_ok();
}

static HloStatus compile_build(Build *build, HloExecutable *x) {
    HLO_TRY(build_module(build, x->m, x->buffers));
    HLO_TRY(module_optimize(build->gen.mod, build->machine));
    uint64_t address = 0;
    LLVMModuleRef mod = build->gen.mod;
    build->gen.mod = NULL;  // the compiler owns it now
    LLVMDisposeBuilder(build->gen.b);
    build->gen.b = NULL;
    HLO_TRY(jit_new(build->context, mod, "hlo_entry", &x->jit, &address));
    x->entry = (EntryFunction *)(uintptr_t)address;
    return make_allocations(x, build->gen.scratch_bytes);
}

static HloStatus compile(const HloModule *m, const HloBufferAssignment *buffers, HloExecutable **out) {
    HloExecutable *x = calloc(1, sizeof *x);
    if (!x) return hlo_out_of_memory();
    x->m = m;
    x->buffers = buffers;
    Build build = {0};
    HloStatus status = compile_build(&build, x);
    build_free(&build);
    if (!hlo_is_ok(status)) {
        executable_free(x);
        return status;
    }
    *out = x;
    return hlo_ok();
}

// ---- execute --------------------------------------------------------------------------------------------

static HloStatus check_arguments(const HloExecutable *x, const HloLiteral *const *arguments, size_t count) {
    size_t expected = hlo_parameter_count(x->m->entry);
    if (expected != count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %zu.", expected,
                         expected == 1 ? "" : "s", count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *want = hlo_parameter(x->m->entry, k)->shape;
        if (hlo_shape_equal(want, arguments[k]->shape, HLO_IGNORE_LAYOUT)) continue;
        HloBuffer a = {0}, b = {0};
        hlo_put_shape(&a, want, false);
        hlo_put_shape(&b, arguments[k]->shape, false);
        HloStatus status =
            hlo_error(HLO_INVALID_ARGUMENT, "Shape mismatch at parameter %zu. Computation expected %s, but arg was %s.",
                      k, a.data ? a.data : "?", b.data ? b.data : "?");
        hlo_buffer_free(&a);
        hlo_buffer_free(&b);
        return status;
    }
    return hlo_ok();
}

static HloStatus put_arguments(HloExecutable *x, const HloLiteral *const *arguments, size_t argument_count) {
    size_t count = hlo_allocation_count(x->buffers);
    for (size_t k = 0; k < count; k++) {
        const HloAllocation *allocation = hlo_allocation(x->buffers, k);
        if (!allocation->is_parameter || allocation->is_tuple) continue;
        int64_t number = allocation->parameter_number;
        if (number < 0 || (size_t)number >= argument_count)
            return hlo_error(HLO_INTERNAL, "allocation %zu is no parameter", k);
        const HloInstruction *parameter = hlo_parameter(x->m->entry, (size_t)number);
        HloDims index = allocation->parameter_index;
        const HloShape *shape = hlo_shape_at(parameter->shape, index.data, index.count);
        const HloLiteral *literal = literal_at(arguments[number], index);
        if (!shape || !literal) return hlo_error(HLO_INTERNAL, "allocation %zu is no part of its parameter", k);
        if (!hlo_shape_is_array(shape)) continue;
        if (hlo_shape_size_bytes(shape) > allocation->size_bytes)
            return hlo_error(HLO_INTERNAL, "allocation %zu is too small", k);
        literal_lay_out(literal, shape, x->allocations[k]);
    }
    return hlo_ok();
}

typedef struct Fetch {
    HloExecutable *x;
    HloArena *arena;
    HloLiteral *result;
} Fetch;

// Reads every leaf of the result, walking the literal's tuples with a stack of paths.
static HloStatus fetch_result(void *data) {
    Fetch *f = data;
    const HloInstruction *root = f->x->m->entry->root;
    HLO_TRY(hlo_literal_new(f->arena, root->shape, &f->result));
    Gen paths = {.arena = f->arena};
    Leaves leaves = shape_leaves(&paths, root->shape);
    for (size_t k = 0; k < leaves.count; k++) {
        const Leaf *leaf = &leaves.items[k];
        HloBufferSlice slice;
        HloLiteral *literal = (HloLiteral *)literal_at(f->result, leaf->path);
        if (!literal || !hlo_buffer_slice(f->x->buffers, root, leaf->path, &slice)) {
            return hlo_error(HLO_INTERNAL, "a part of the result has no place");
        }
        if (literal->elem_count == 0) continue;
        literal_read_back(literal, leaf->shape, (const char *)f->x->allocations[slice.allocation] + slice.offset_bytes);
    }
    return hlo_ok();
}

// Subnormals count as zero while the program runs, as in the reference (code generation chapter, §1.5).
static void run_entry(HloExecutable *x) {
#if defined(__x86_64__)
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    x->entry(x->allocations, x->scratch);
    _mm_setcsr(before);
#else
    x->entry(x->allocations, x->scratch);
#endif
}

static HloStatus execute(HloExecutable *x, const HloLiteral *const *arguments, size_t count, HloArena *arena,
                         HloLiteral **result) {
    HLO_TRY(check_arguments(x, arguments, count));
    HLO_TRY(put_arguments(x, arguments, count));
    run_entry(x);
    Fetch fetch = {x, arena, NULL};
    HloArena *arenas[] = {arena, NULL};
    HLO_TRY(hlo_guarded(arenas, fetch_result, &fetch));
    *result = fetch.result;
    return hlo_ok();
}

__attribute__((visibility("default"))) const HloLlvm hlo_llvm = {
    .emit = emit,
    .compile = compile,
    .execute = execute,
    .executable_free = executable_free,
};

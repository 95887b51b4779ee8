// call-inliner: puts the body of a called computation in place of the call.
//
//   %f { %p = f32[4] parameter(0)
//        ROOT %neg = f32[4] negate(%p), metadata={op_name="neg"} }
//   ROOT %c = f32[4] call(%a), to_apply=%f, metadata={op_name="jit(g)/h"}
// becomes
//   ROOT %neg.1 = f32[4] negate(%a), metadata={op_name="jit(g)/h/neg"}
//
// Calls with a backend_config (the parallel calls of the CPU) and calls marked `inlineable="false"` stay. Ends with dce
// when something was inlined, which removes the computations that nobody calls any more.
//
// Needs: nothing.  Keeps: control edges, side effects, the schedule (the runner brings it up to date).

#include "inline_body.h"

// Longer op_names are left alone, as the simplifier chapter says (§4.1).
enum { LONGEST_OP_NAME = 1024 };

typedef struct Inliner {
    HloRewriter rw;
    size_t *call_sites;     // by computation id, before anything is inlined
    bool single_call_site;  // inline only computations that are called from one place
    bool joins_frames;
    const char *preserved_composites;
    HloInlineBudget budget;
    HloMap frame_index;  // (location, parent) -> frame id, filled when first needed
    size_t frame_capacity;
    HloMap joined;   // (outer frame, inner frame) -> frame id
    HloMap spliced;  // inlined call of a scheduled computation -> HloVec of clones in their order
} Inliner;

// ---- which calls ----------------------------------------------------------------------------------------

static bool attribute_is(const HloInstruction *inst, const char *key, const char *a, const char *b) {
    const char *value = hlo_frontend_attribute(inst, key);
    return value && (strcmp(value, a) == 0 || strcmp(value, b) == 0);
}

// Whether `name` is one of the comma-separated words of `list`.
static bool is_listed(const char *list, const char *name) {
    size_t size = strlen(name);
    for (const char *at = list; at && *at && size;) {
        const char *end = strchrnul(at, ',');
        if ((size_t)(end - at) == size && memcmp(at, name, size) == 0) return true;
        at = *end ? end + 1 : end;
    }
    return false;
}

static bool is_preserved_composite(const Inliner *in, const HloInstruction *call) {
    const char *name = hlo_frontend_attribute(call, "composite.name");
    return hlo_int(call, HLO_ATTR_IS_COMPOSITE) && name && is_listed(in->preserved_composites, name);
}

static bool is_inlined(const Inliner *in, const HloInstruction *call) {
    const HloComputation *callee = hlo_called(call, 0);
    if (hlo_operand_count(call) != hlo_parameter_count(callee)) return false;
    if (hlo_has(call, HLO_ATTR_BACKEND_CONFIG) || hlo_is_async_computation(call->comp)) return false;
    if (is_preserved_composite(in, call)) return false;
    if (attribute_is(call, "inlineable", "false", "xla_late")) return false;
    if (attribute_is(call, "inlineable", "true", "xla_early")) return true;
    return !in->single_call_site || in->call_sites[callee->id] == 1;
}

static void count_call_sites(Inliner *in, HloModule *m) {
    in->call_sites = HLO_NEW_ARRAY(in->rw.scratch, size_t, m->computation_id_limit);
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) in->call_sites[hlo_called(inst, k)->id]++;
        }
    }
}

// ---- stack frames ---------------------------------------------------------------------------------------

static const void *pair_key(int32_t a, int32_t b) {
    return (const void *)(uintptr_t)((uint64_t)(uint32_t)a << 32 | (uint32_t)b);
}

static void index_frames(Inliner *in, const HloFrames *frames) {
    for (size_t k = frames->frame_count; k-- > 0;) {
        HloStackFrame frame = frames->frames[k];
        const void *key = pair_key(frame.file_location_id, frame.parent_frame_id);
        *hlo_map_at(in->rw.scratch, &in->frame_index, key) = (void *)(uintptr_t)(k + 1);
    }
    in->frame_capacity = frames->frame_count;
}

static void append_frame(Inliner *in, HloFrames *frames, HloStackFrame frame) {
    if (frames->frame_count == in->frame_capacity) {
        in->frame_capacity = in->frame_capacity * 2 + 8;
        HloStackFrame *wider = HLO_NEW_ARRAY(&in->rw.m->arena, HloStackFrame, in->frame_capacity);
        memcpy(wider, frames->frames, frames->frame_count * sizeof *wider);
        frames->frames = wider;
    }
    frames->frames[frames->frame_count++] = frame;
}

// The frame with this location and parent; made when there is none.
static int32_t frame_at(Inliner *in, HloStackFrame frame) {
    HloFrames *frames = &in->rw.m->frames;
    if (!in->frame_index.count) index_frames(in, frames);
    const void *key = pair_key(frame.file_location_id, frame.parent_frame_id);
    void **slot = hlo_map_at(in->rw.scratch, &in->frame_index, key);
    if (!*slot) {
        append_frame(in, frames, frame);
        *slot = (void *)(uintptr_t)frames->frame_count;
    }
    return (int32_t)(uintptr_t)*slot;
}

static bool is_frame(const HloFrames *frames, int32_t id) {
    return id > 0 && (size_t)id <= frames->frame_count;
}

// The stack of `inner` continued by that of `outer`.
static int32_t join_frames(Inliner *in, int32_t outer, int32_t inner) {
    const HloFrames *frames = &in->rw.m->frames;
    if (!is_frame(frames, outer)) return inner;
    if (!is_frame(frames, inner)) return outer;
    void **known = hlo_map_at(in->rw.scratch, &in->joined, pair_key(outer, inner));
    if (*known) return (int32_t)(uintptr_t)*known;
    HloInts locations = {0};
    size_t most = frames->frame_count;  // a table that a file made may have a cycle
    for (int32_t id = inner; is_frame(frames, id) && locations.count < most;) {
        hlo_ints_push(in->rw.scratch, &locations, frames->frames[id - 1].file_location_id);
        id = frames->frames[id - 1].parent_frame_id;
    }
    int32_t joined = outer;
    while (locations.count) {
        int32_t location = (int32_t)locations.items[--locations.count];
        joined = frame_at(in, (HloStackFrame){location, joined});
    }
    *known = (void *)(uintptr_t)joined;
    return joined;
}

// ---- metadata -------------------------------------------------------------------------------------------

// Text without one slash at its end and, if asked, one at its start.
static HloStringView trim_slashes(const char *text, bool at_start) {
    HloStringView view = hlo_view(text ? text : "");
    if (at_start && view.size && view.data[0] == '/') view = (HloStringView){view.data + 1, view.size - 1};
    if (view.size && view.data[view.size - 1] == '/') view.size--;
    return view;
}

// The op_name with the call's in front, or NULL when it stays.
static const char *prefixed_name(Inliner *in, const char *op_name, const HloMetadata *call) {
    HloStringView prefix = trim_slashes(call->op_name, false), name = trim_slashes(op_name, true);
    if (!prefix.size || prefix.size + name.size >= LONGEST_OP_NAME) return NULL;
    if (name.size >= prefix.size && memcmp(name.data, prefix.data, prefix.size) == 0) return NULL;
    char text[LONGEST_OP_NAME + 1];
    size_t size = prefix.size;
    memcpy(text, prefix.data, prefix.size);
    if (name.size) {
        text[size++] = '/';
        memcpy(text + size, name.data, name.size);
        size += name.size;
    }
    return hlo_intern(in->rw.m, text, size);
}

static void place_under_call(Inliner *in, HloInstruction *inst, const HloMetadata *call) {
    HloModule *m = in->rw.m;
    const HloMetadata *old = hlo_data(inst, HLO_ATTR_METADATA);
    HloMetadata new = old ? *old : (HloMetadata){0};
    const char *name = prefixed_name(in, new.op_name, call);
    if (name) new.op_name = name;
    if (in->joins_frames) new.stack_frame_id = join_frames(in, call->stack_frame_id, new.stack_frame_id);
    if (!name && (!old || new.stack_frame_id == old->stack_frame_id)) return;
    hlo_set_data(m, inst, HLO_ATTR_METADATA, hlo_arena_copy(&m->arena, &new, sizeof new));
}

static bool is_control_flow(const HloInstruction *inst) {
    return inst->op == HLO_OP_WHILE || inst->op == HLO_OP_CONDITIONAL || inst->op == HLO_OP_ASYNC_START;
}

static void push_callees(Inliner *in, HloVec *work, HloMap *seen, const HloInstruction *inst) {
    for (size_t k = 0; is_control_flow(inst) && k < inst->called.count; k++) {
        void **slot = hlo_map_at(in->rw.scratch, seen, hlo_called(inst, k));
        if (*slot) continue;
        *slot = hlo_called(inst, k);
        hlo_vec_push(in->rw.scratch, work, hlo_called(inst, k));
    }
}

// The clones and what runs inside their loops and branches now belong to the call's place in the program.
static void place_all_under_call(Inliner *in, const HloVec *clones, const HloInstruction *call) {
    const HloMetadata *metadata = hlo_data(call, HLO_ATTR_METADATA);
    if (!metadata) return;
    HloVec work = {0};
    HloMap seen = {0};
    for (size_t k = 0; k < clones->count; k++) {
        place_under_call(in, clones->items[k], metadata);
        push_callees(in, &work, &seen, clones->items[k]);
    }
    while (work.count) {
        HloComputation *comp = hlo_vec_pop(&work);
        HLO_EACH_INST(inst, comp) {
            place_under_call(in, inst, metadata);
            push_callees(in, &work, &seen, inst);
        }
    }
}

// ---- origins --------------------------------------------------------------------------------------------

// The name of the first leaf, or NULL.
static const char *first_name(const HloOrigin *origin) {
    while (origin && origin->tuple) origin = origin->element_count ? origin->elements[0] : NULL;
    return origin && !origin->synthetic_call ? origin->name : NULL;
}

// Nested as deep as the parser lets tuples nest.
static const HloOrigin *prefixed_origin(HloModule *m, const HloOrigin *origin, const char *prefix) {
    HloOrigin *copy = hlo_arena_copy(&m->arena, origin, sizeof *origin);
    if (origin->name) copy->name = hlo_arena_printf(&m->arena, "%s/%s", prefix, origin->name);
    const HloOrigin **elements = HLO_NEW_ARRAY(&m->arena, const HloOrigin *, origin->element_count);
    for (size_t k = 0; k < origin->element_count; k++) {
        elements[k] = prefixed_origin(m, origin->elements[k], prefix);
    }
    copy->elements = elements;
    return copy;
}

// What a clone computes was the callee's value in this call: `x` becomes `call/x`, or is unknown when the call is.
static void place_origins(HloModule *m, const HloVec *clones, const HloInstruction *call) {
    const char *prefix = first_name(hlo_data(call, HLO_ATTR_ORIGIN));
    for (size_t k = 0; k < clones->count; k++) {
        HloInstruction *clone = clones->items[k];
        const HloOrigin *origin = hlo_data(clone, HLO_ATTR_ORIGIN);
        if (!origin) continue;
        if (prefix)
            hlo_set_data(m, clone, HLO_ATTR_ORIGIN, prefixed_origin(m, origin, prefix));
        else
            hlo_clear_attr(clone, HLO_ATTR_ORIGIN);
    }
}

// ---- frontend attributes --------------------------------------------------------------------------------

static bool is_composite_key(const char *key) {
    return strcmp(key, "composite.name") == 0 || strcmp(key, "composite.attributes") == 0 ||
           strcmp(key, "composite.version") == 0;
}

// What made the call a composite means nothing for the instruction that takes its place.
static void strip_composite(HloModule *m, HloInstruction *call) {
    const HloStringMap *map = hlo_data(call, HLO_ATTR_FRONTEND_ATTRIBUTES);
    if (!map || !hlo_int(call, HLO_ATTR_IS_COMPOSITE)) return;
    HloStringPair *kept = HLO_NEW_ARRAY(&m->arena, HloStringPair, map->count);
    HloStringMap *rest = HLO_NEW(&m->arena, HloStringMap);
    rest->pairs = kept;
    for (size_t k = 0; k < map->count; k++) {
        if (!is_composite_key(map->pairs[k].key)) kept[rest->count++] = map->pairs[k];
    }
    if (rest->count)
        hlo_set_data(m, call, HLO_ATTR_FRONTEND_ATTRIBUTES, rest);
    else
        hlo_clear_attr(call, HLO_ATTR_FRONTEND_ATTRIBUTES);
}

// The map with one more pair, at its sorted place.
static const HloStringMap *with_pair(HloModule *m, const HloStringMap *map, HloStringPair pair) {
    size_t count = map ? map->count : 0, at = 0;
    HloStringPair *pairs = HLO_NEW_ARRAY(&m->arena, HloStringPair, count + 1);
    while (at < count && strcmp(map->pairs[at].key, pair.key) < 0) at++;
    for (size_t k = 0; k < count; k++) pairs[k + (k >= at)] = map->pairs[k];
    pairs[at] = pair;
    HloStringMap *wider = HLO_NEW(&m->arena, HloStringMap);
    *wider = (HloStringMap){pairs, count + 1};
    return wider;
}

static bool is_fusible(const HloInstruction *inst) {
    switch ((int)inst->op) {
    case HLO_OP_DOMAIN:
    case HLO_OP_PARAMETER:
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_CALL: return false;
    case HLO_OP_RNG: return hlo_user_count(inst) <= 1;
    default: return !hlo_has_side_effect(inst);
    }
}

static void pass_on_attribute(HloModule *m, const HloInstruction *call, const char *key) {
    const char *value = hlo_frontend_attribute(call, key);
    if (!value) return;
    HLO_EACH_INST(inst, hlo_called(call, 0)) {
        if (!is_fusible(inst) || hlo_frontend_attribute(inst, key)) continue;
        const HloStringMap *map = hlo_data(inst, HLO_ATTR_FRONTEND_ATTRIBUTES);
        hlo_set_data(m, inst, HLO_ATTR_FRONTEND_ATTRIBUTES, with_pair(m, map, (HloStringPair){key, value}));
    }
}

// The marks go to the callee itself, before it is copied: as in the reference, later calls of it get them too.
static void pass_on_fusion_marks(HloModule *m, const HloInstruction *call) {
    bool must = hlo_frontend_attribute(call, "MUST_FUSE") != NULL;
    pass_on_attribute(m, call, must ? "MUST_FUSE" : "MAXIMAL_FUSE");
    pass_on_attribute(m, call, "mosaic_fusion_group");
}

// ---- inlining -------------------------------------------------------------------------------------------

// A clone waits for what the original waited for, and for what the call waited for.
static void add_control_edges(const HloInstruction *inst, HloInstruction *const *made, const HloInstruction *call) {
    for (size_t k = 0; k < hlo_control_preds(inst)->count; k++) {
        const HloInstruction *before = hlo_control_preds(inst)->items[k];
        hlo_add_control_edge(made[before->id], made[inst->id]);
    }
    for (size_t k = 0; k < hlo_control_preds(call)->count; k++) {
        hlo_add_control_edge(hlo_control_preds(call)->items[k], made[inst->id]);
    }
}

// Fills `made` (by id in the callee) and lists the clones in the order of making.
static HloVec clone_body(HloRewriter *rw, HloInstruction *call, HloInstruction **made) {
    HloInstList order = hlo_visitor_order(hlo_called(call, 0), rw->scratch);
    HloVec clones = hlo_inline_body(rw, call, order, made);
    for (size_t k = 0; k < order.count && hlo_is_ok(rw->failure); k++) {
        if (order.items[k]->op != HLO_OP_PARAMETER) add_control_edges(order.items[k], made, call);
    }
    return clones;
}

// Clones run where the call stood, in the order of the callee's schedule.
static void note_schedule(Inliner *in, const HloInstruction *call, HloInstruction *const *made) {
    const HloComputation *callee = hlo_called(call, 0);
    if (!call->comp->sequence || !callee->sequence) return;
    HloVec *order = HLO_NEW(in->rw.scratch, HloVec);
    for (size_t k = 0; k < callee->sequence_count; k++) {
        const HloInstruction *inst = callee->sequence[k];
        bool is_clone = inst->comp == callee && inst->op != HLO_OP_PARAMETER && made[inst->id];
        if (is_clone) hlo_vec_push(in->rw.scratch, order, made[inst->id]);
    }
    *hlo_map_at(in->rw.scratch, &in->spliced, call) = order;
}

static void splice_schedule(Inliner *in, HloComputation *comp) {
    if (!in->spliced.count) return;
    HloVec sequence = {0};
    for (size_t k = 0; k < comp->sequence_count; k++) {
        const HloVec *clones = hlo_map_find(&in->spliced, comp->sequence[k]);
        if (!clones) hlo_vec_push(&in->rw.m->arena, &sequence, comp->sequence[k]);
        for (size_t i = 0; clones && i < clones->count; i++) {
            hlo_vec_push(&in->rw.m->arena, &sequence, clones->items[i]);
        }
    }
    comp->sequence = (HloInstruction **)sequence.items;
    comp->sequence_count = sequence.count;
    in->spliced = (HloMap){0};
}

static HloStatus inline_call(Inliner *in, HloInstruction *call) {
    HloRewriter *rw = &in->rw;
    HloComputation *callee = hlo_called(call, 0);
    HLO_TRY(hlo_inline_spend(&in->budget, callee));
    hlo_rewriter_at(rw, call);
    rw->rule = "inline-call";
    strip_composite(rw->m, call);
    pass_on_fusion_marks(rw->m, call);
    HloInstruction **made = HLO_NEW_ARRAY(rw->scratch, HloInstruction *, callee->id_limit);
    HloVec clones = clone_body(rw, call, made);
    if (!hlo_is_ok(rw->failure)) return rw->failure;
    note_schedule(in, call, made);
    place_all_under_call(in, &clones, call);
    place_origins(rw->m, &clones, call);
    hlo_replace_with(rw, call, made[callee->root->id], "inline-call",
                     HLO_REPLACE_RELAY_CONTROL | HLO_REPLACE_KEEP_ORIGIN);
    return rw->failure;
}

static HloInstList execution_order(const HloComputation *comp, HloArena *scratch) {
    if (!comp->sequence) return hlo_post_order(comp, scratch);
    HloInstruction **items = hlo_arena_copy(scratch, comp->sequence, comp->sequence_count * sizeof *items);
    return (HloInstList){items, comp->sequence_count};
}

static HloStatus inline_calls_in(Inliner *in, HloComputation *comp) {
    HloInstList order = execution_order(comp, in->rw.scratch);
    for (size_t k = 0; k < order.count; k++) {
        HloInstruction *inst = order.items[k];
        if (inst->op != HLO_OP_CALL || hlo_rewriter_is_spent(&in->rw) || !is_inlined(in, inst)) continue;
        HLO_TRY(inline_call(in, inst));
    }
    splice_schedule(in, comp);
    return hlo_ok();
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    Inliner in = {.rw = hlo_rewriter(cx, m),
                  .single_call_site = hlo_option_bool(cx, "single-call-site"),
                  .joins_frames = hlo_option_bool(cx, "join-stack-frames"),
                  .preserved_composites = hlo_option_text(cx, "composites-to-preserve")};
    in.budget = hlo_inline_budget(m, "calls");
    count_call_sites(&in, m);
    HloCompList comps = hlo_module_post_order(m, cx->scratch);
    for (size_t k = 0; k < comps.count; k++) HLO_TRY(inline_calls_in(&in, comps.items[k]));
    if (in.rw.changed) HLO_TRY(hlo_pass_run_inside(cx, "dce", m, changed));
    return hlo_rewriter_finish(&in.rw, changed);
}

static const HloOptionSpec options[] = {
    {"single-call-site", HLO_OPTION_BOOL, "false", "inline only computations that are called from one place"},
    {"composites-to-preserve", HLO_OPTION_STRING, "", "names of composite calls to leave alone, separated by commas"},
    {"join-stack-frames", HLO_OPTION_BOOL, "false", "put the call's stack frames above those of what is inlined"},
};

const HloPass hlo_pass_call_inliner = {
    .name = "call-inliner",
    .summary = "puts the bodies of called computations in place of the calls",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};

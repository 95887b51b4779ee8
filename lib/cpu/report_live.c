// The report `-live-range.txt` (§6.3 of the buffer assignment chapter): who lives when, and a tree of where the peak
// of memory comes from.

#include "lib/cpu/assignment.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

// Computations with several callers split a size among them; a file could make that exponential, so after this
// many paths everything goes to the first caller.
enum { MAX_PATHS = 1 << 14 };

// A part of the program and what the values below it take.
typedef struct TreeNode {
    const char *name;
    int64_t total, own;  // bytes
    HloVec children;     // TreeNode *
    HloMap by_name;      // text -> TreeNode *
} TreeNode;

typedef struct Report {
    HloBuffer *out;
    const HloBufferAssignment *assignment;
    HloArena arena;
    TreeNode *root;
    size_t paths;
    int64_t grand_total, remaining;
} Report;

// ---- the peak -------------------------------------------------------------------------------------------

// Without the extra bytes of dynamic dimensions.
static int64_t plain_size_bytes(const HloShape *shape) {
    int64_t size = hlo_value_size_bytes(shape);
    bool has_extra = hlo_shape_is_array(shape) && hlo_shape_is_dynamic(shape);
    return has_extra && size != INT64_MAX ? size - 4 * (int64_t)shape->rank : size;
}

// The first time at which most is alive, where a value counts with the size of its whole instruction and still
// just after its end.
static int64_t find_peak(Report *report) {
    const HloDataflow *flow = report->assignment->flow;
    const HloLiveRanges *ranges = report->assignment->ranges;
    size_t times = ranges->sequence_count + 3;
    double *change = HLO_NEW_ARRAY(&report->arena, double, times);
    for (size_t v = 0; v < flow->value_limit; v++) {
        HloRange range = ranges->values[v];
        if (range.start < 0) continue;
        double size = (double)plain_size_bytes(flow->values[v].inst->shape);
        change[range.start] += size;
        change[range.end + 2] -= size;
    }
    int64_t peak = 0;
    double now = 0, most = 0;
    for (size_t t = 0; t < times; t++) {
        now += change[t];
        if (now <= most) continue;
        most = now;
        peak = (int64_t)t;
    }
    return peak;
}

typedef struct Live {
    const HloValue *value;
    int64_t size;
} Live;

static int compare_live(const void *a, const void *b) {
    const Live *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    int names = strcmp(x->value->inst->name, y->value->inst->name);
    if (names) return names;
    return (x->value->node > y->value->node) - (x->value->node < y->value->node);
}

static Live *find_live(Report *report, int64_t time, size_t *count) {
    const HloDataflow *flow = report->assignment->flow;
    Live *live = HLO_NEW_ARRAY(&report->arena, Live, flow->value_limit);
    *count = 0;
    for (size_t v = 0; v < flow->value_limit; v++) {
        HloRange range = report->assignment->ranges->values[v];
        if (range.start < 0 || range.start > time || range.end < time) continue;
        const HloValue *value = hlo_flow_value(flow, (int32_t)v);
        live[(*count)++] = (Live){value, plain_size_bytes(value->shape)};
    }
    if (*count) qsort(live, *count, sizeof *live, compare_live);
    return live;
}

// ---- building the tree ----------------------------------------------------------------------------------

// Names from the outermost part inwards.
typedef struct Path {
    const char *const *names;
    size_t count;
} Path;

static TreeNode *child_of(Report *report, TreeNode *node, const char *name) {
    void **slot = hlo_map_at_text(&report->arena, &node->by_name, name, strlen(name), NULL);
    if (!*slot) {
        TreeNode *child = HLO_NEW(&report->arena, TreeNode);
        child->name = name;
        *slot = child;
        hlo_vec_push(&report->arena, &node->children, child);
    }
    return *slot;
}

static void add_path(Report *report, const HloVec *inward, int64_t size) {
    TreeNode *node = report->root;
    node->total = add_bytes(node->total, size);
    for (size_t i = inward->count; i-- > 0;) {
        node = child_of(report, node, inward->items[i]);
        node->total = add_bytes(node->total, size);
    }
    node->own = add_bytes(node->own, size);
}

static const char *after_word(const char *text) {
    if (!isalpha((unsigned char)*text) && *text != '_') return NULL;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return text;
}

// The end of `['key']` if text starts with one.
static const char *after_key(const char *text) {
    if (strncmp(text, "['", 2) != 0) return NULL;
    const char *end = strchr(text + 2, '\'');
    return end && end > text + 2 && end[1] == ']' ? end + 2 : NULL;
}

// `var['a/b'].attr` names a nested argument: its parts are levels of their own.
static bool is_nested_name(const char *text) {
    text = after_word(text);
    if (!text || !after_key(text)) return false;
    for (const char *next; (next = after_key(text));) text = next;
    while (*text == '.') {
        text = after_word(text + 1);
        if (!text) return false;
    }
    return !*text;
}

// Pushes the levels of a name, innermost first.
static void push_name(Report *report, HloVec *inward, const char *name, const char *suffix) {
    if (!is_nested_name(name)) {
        hlo_vec_push(&report->arena, inward, hlo_arena_printf(&report->arena, "%s%s", name, suffix));
        return;
    }
    HloVec parts = {0};
    const char *separators = "[']./";
    while (*name) {
        size_t size = strcspn(name, separators);
        if (size) hlo_vec_push(&report->arena, &parts, hlo_arena_string(&report->arena, name, size));
        name += size;
        name += strspn(name, separators);
    }
    for (size_t i = parts.count; i-- > 0;) {
        const char *part = parts.items[i];
        if (i + 1 == parts.count) part = hlo_arena_printf(&report->arena, "%s%s", part, suffix);
        hlo_vec_push(&report->arena, inward, part);
    }
}

static const char *leaf_name(const HloInstruction *inst) {
    const HloMetadata *metadata = hlo_data(inst, HLO_ATTR_METADATA);
    return metadata && metadata->op_name && *metadata->op_name ? metadata->op_name : inst->name;
}

// A place that is still to be led out to the entry.
typedef struct Climb {
    const HloComputation *comp;
    HloVec inward;
    int64_t size;
} Climb;

static HloVec copy_path(Report *report, const HloVec *path) {
    HloVec copy = {0};
    for (size_t i = 0; i < path->count; i++) hlo_vec_push(&report->arena, &copy, path->items[i]);
    return copy;
}

static void push_climb(Report *report, HloVec *stack, const HloComputation *comp, HloVec inward, int64_t size) {
    Climb *climb = HLO_NEW(&report->arena, Climb);
    *climb = (Climb){comp, inward, size};
    hlo_vec_push(&report->arena, stack, climb);
}

static void climb_to_callers(Report *report, HloVec *stack, const Climb *climb) {
    const HloVec *callers = &climb->comp->callers;
    size_t count = report->paths > MAX_PATHS ? 1 : callers->count;
    int64_t share = climb->size / (int64_t)count, rest = climb->size % (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        const HloInstruction *caller = callers->items[i];
        HloVec inward = count == 1 ? climb->inward : copy_path(report, &climb->inward);
        push_name(report, &inward, leaf_name(caller), "");
        push_climb(report, stack, caller->comp, inward, share + ((int64_t)i < rest));
        report->paths += count > 1;
    }
}

static void add_value(Report *report, const Live *live) {
    const HloInstruction *inst = live->value->inst;
    HloBuffer suffix = {0};
    if (live->value->node) {
        HloNodes *nodes = &report->assignment->flow->nodes;
        HloDims index = hlo_node_index(nodes, &report->arena, inst->shape, live->value->node);
        hlo_put_int_list(&suffix, index.data, index.count);
    }
    HloVec inward = {0}, stack = {0};
    push_name(report, &inward, leaf_name(inst), suffix.data ? suffix.data : "");
    hlo_buffer_free(&suffix);
    push_climb(report, &stack, inst->comp, inward, live->size);
    while (stack.count) {
        Climb *climb = hlo_vec_pop(&stack);
        hlo_vec_push(&report->arena, &climb->inward, climb->comp->name);
        if (climb->comp->callers.count && climb->comp != report->assignment->m->entry) {
            climb_to_callers(report, &stack, climb);
        } else {
            add_path(report, &climb->inward, climb->size);
        }
    }
}

// ---- printing -------------------------------------------------------------------------------------------

// `12 345`: digits in groups of three.
static void put_grouped(HloBuffer *out, int64_t value) {
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)value);
    for (int i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0) hlo_put_char(out, ' ');
        hlo_put_char(out, digits[i]);
    }
}

static int compare_nodes(const void *a, const void *b) {
    const TreeNode *x = *(const TreeNode *const *)a, *y = *(const TreeNode *const *)b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Children in print order, those without bytes left out.
static void sort_children(TreeNode *node) {
    size_t kept = 0;
    for (size_t i = 0; i < node->children.count; i++) {
        TreeNode *child = node->children.items[i];
        if (child->total) node->children.items[kept++] = child;
    }
    node->children.count = kept;
    if (kept) qsort(node->children.items, kept, sizeof *node->children.items, compare_nodes);
}

static void put_node(Report *report, const TreeNode *node) {
    report->remaining = node->own > report->remaining ? 0 : report->remaining - node->own;
    hlo_putf(report->out, "%s (%.1f%%, total: ", node->name, 100.0 * (double)node->total / (double)report->grand_total);
    put_grouped(report->out, node->total);
    hlo_put_string(report->out, " bytes, current: ");
    put_grouped(report->out, node->own);
    hlo_put_string(report->out, " bytes, remaining: ");
    put_grouped(report->out, report->remaining);
    hlo_put_string(report->out, " bytes)\n");
}

// A node whose children are being printed, and whether it was the last child of its parent.
typedef struct Level {
    TreeNode *node;
    size_t next;
    bool is_last;
} Level;

static void put_prefix(HloBuffer *out, const HloVec *levels, bool is_last) {
    if (levels->count == 1) {
        hlo_put_string(out, "    ");
        return;
    }
    hlo_put_string(out, "      ");
    for (size_t i = 2; i < levels->count; i++) {
        const Level *level = levels->items[i];
        hlo_put_string(out, level->is_last ? "    " : "\u2502   ");
    }
    hlo_put_string(out, is_last ? "\u2514\u2500\u2500 " : "\u251c\u2500\u2500 ");
}

static void push_level(Report *report, HloVec *levels, TreeNode *node, bool is_last) {
    Level *level = HLO_NEW(&report->arena, Level);
    *level = (Level){node, 0, is_last};
    sort_children(node);
    hlo_vec_push(&report->arena, levels, level);
}

static void put_tree(Report *report) {
    report->grand_total = report->remaining = report->root->total;
    HloVec levels = {0};
    push_level(report, &levels, report->root, true);
    while (levels.count) {
        Level *level = levels.items[levels.count - 1];
        if (level->next == level->node->children.count) {
            levels.count--;
            continue;
        }
        TreeNode *child = level->node->children.items[level->next++];
        bool is_last = level->next == level->node->children.count;
        put_prefix(report->out, &levels, is_last);
        put_node(report, child);
        push_level(report, &levels, child, is_last);
    }
}

// ---- the whole ------------------------------------------------------------------------------------------

static void put_value_name(Report *report, const HloValue *value) {
    HloNodes *nodes = &report->assignment->flow->nodes;
    HloDims index = hlo_node_index(nodes, &report->arena, value->inst->shape, value->node);
    hlo_put_string(report->out, value->inst->name);
    hlo_put_int_list(report->out, index.data, index.count);
}

static void put_ranges(Report *report) {
    const HloLiveRanges *ranges = report->assignment->ranges;
    hlo_putf(report->out, "HloLiveRange (max %zu):\n  InstructionSequence:\n", ranges->sequence_count);
    for (size_t t = 0; t < ranges->sequence_count; t++) {
        hlo_putf(report->out, "    %zu:%s\n", t, ranges->sequence[t]->name);
    }
    hlo_put_string(report->out, "  BufferLiveRange:\n");
    for (size_t v = 0; v < report->assignment->flow->value_limit; v++) {
        HloRange range = ranges->values[v];
        if (range.start < 0) continue;
        hlo_put_string(report->out, "    ");
        put_value_name(report, hlo_flow_value(report->assignment->flow, (int32_t)v));
        hlo_putf(report->out, ":%lld-%lld\n", (long long)range.start, (long long)range.end);
    }
}

static void put_peak(Report *report) {
    int64_t peak = find_peak(report);
    size_t count;
    Live *live = find_live(report, peak, &count);
    hlo_putf(report->out, "  Live ranges at %lld (peak):\n", (long long)peak);
    int64_t cumulative = 0;
    for (size_t i = 0; i < count; i++) {
        cumulative = add_bytes(cumulative, live[i].size);
        hlo_put_string(report->out, "    ");
        put_value_name(report, live[i].value);
        hlo_putf(report->out, ": %lld bytes (cumulative: %lld bytes)\n", (long long)live[i].size,
                 (long long)cumulative);
        add_value(report, &live[i]);
    }
    hlo_put_string(report->out, "  Stack trace breakdown for peak usage: ");
    put_grouped(report->out, cumulative);
    hlo_put_string(report->out, " bytes\n");
    if (cumulative) put_tree(report);
}

static bool is_unbounded(const HloShape *shape, HloNodes *nodes) {
    uint32_t count = hlo_node_count(nodes, shape);
    for (uint32_t node = 0; node < count && hlo_shape_is_dynamic(shape); node++) {
        const HloShape *part = hlo_node_shape(nodes, shape, node);
        for (size_t d = 0; hlo_shape_is_array(part) && d < part->rank; d++) {
            if (part->dims[d] == HLO_UNBOUNDED) return true;
        }
    }
    return false;
}

static bool has_unbounded_value(const Report *report) {
    HloDataflow *flow = report->assignment->flow;
    for (size_t v = 0; v < flow->value_limit; v++) {
        if (report->assignment->ranges->values[v].start < 0) continue;
        if (is_unbounded(flow->values[v].inst->shape, &flow->nodes)) return true;
    }
    return false;
}

static HloStatus put_all(void *data) {
    Report *report = data;
    report->root = HLO_NEW(&report->arena, TreeNode);
    put_ranges(report);
    if (has_unbounded_value(report)) {
        hlo_put_string(report->out, "  Peak memory could not be determined due to unbounded dynamic shape.\n");
    } else {
        put_peak(report);
    }
    return hlo_ok();
}

void hlo_put_live_ranges(HloBuffer *out, const HloBufferAssignment *assignment) {
    Report report = {.out = out, .assignment = assignment};
    HloStatus status = hlo_guarded((HloArena *const[]){&report.arena, NULL}, put_all, &report);
    if (!hlo_is_ok(status)) out->failed = true;
    hlo_status_free(status);
    hlo_arena_free(&report.arena);
}

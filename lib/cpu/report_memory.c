// The report `-memory-usage-report.txt` (§6.4 of the buffer assignment chapter).

#include "lib/cpu/report_memory.h"

#include <stdlib.h>

typedef MemoryReport Report;

// Values of one allocation at one offset.
typedef struct Group {
    int64_t offset, size;
    int32_t last;  // largest value id
    const int32_t *values;
    size_t count;
} Group;

// ---- shape lists ----------------------------------------------------------------------------------------

typedef struct ShapeCount {
    const char *text;
    size_t count;
} ShapeCount;

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_counts(const void *a, const void *b) {
    const ShapeCount *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

// Equal texts together, the rare ones first.
static void put_shapes(Report *report, const Group *group) {
    const char **texts = HLO_NEW_ARRAY(&report->scratch, const char *, group->count);
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(report->assignment->flow, group->values[i]);
        texts[i] = hlo_shape_text(&report->scratch, value->shape, false);
    }
    qsort(texts, group->count, sizeof *texts, compare_texts);
    ShapeCount *counts = HLO_NEW_ARRAY(&report->scratch, ShapeCount, group->count);
    size_t distinct = 0;
    for (size_t i = 0; i < group->count; i++) {
        bool is_new = i == 0 || strcmp(texts[i], texts[i - 1]) != 0;
        if (is_new) counts[distinct++] = (ShapeCount){texts[i], 0};
        counts[distinct - 1].count++;
    }
    qsort(counts, distinct, sizeof *counts, compare_counts);
    for (size_t i = 0; i < distinct; i++) {
        if (i) hlo_put_string(report->out, ", ");
        if (counts[i].count > 1) hlo_putf(report->out, "%zu\xc3\x97", counts[i].count);
        hlo_put_string(report->out, counts[i].text);
    }
}

// ---- one allocation -------------------------------------------------------------------------------------

typedef struct OffsetKey {
    int64_t offset;
    int32_t value;
} OffsetKey;

static int compare_offsets(const void *a, const void *b) {
    const OffsetKey *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int compare_groups(const void *a, const void *b) {
    const Group *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static Group *group_by_offset(Report *report, const Block *block, size_t *count) {
    const HloBufferAssignment *assignment = report->assignment;
    OffsetKey *keys = HLO_NEW_ARRAY(&report->scratch, OffsetKey, block->count);
    int32_t *values = HLO_NEW_ARRAY(&report->scratch, int32_t, block->count);
    Group *groups = HLO_NEW_ARRAY(&report->scratch, Group, block->count);
    for (size_t i = 0; i < block->count; i++) {
        keys[i] = (OffsetKey){assignment->offset_of[block->values[i]], block->values[i]};
    }
    if (block->count) qsort(keys, block->count, sizeof *keys, compare_offsets);
    *count = 0;
    for (size_t i = 0; i < block->count; i++) {
        values[i] = keys[i].value;
        bool is_new = i == 0 || keys[i].offset != keys[i - 1].offset;
        if (is_new) groups[(*count)++] = (Group){.offset = keys[i].offset, .values = values + i};
        Group *group = &groups[*count - 1];
        group->count++;
        group->last = keys[i].value;
        int64_t size = assignment->size_of[keys[i].value];
        if (size > group->size) group->size = size;
    }
    if (*count) qsort(groups, *count, sizeof *groups, compare_groups);
    return groups;
}

static void put_padded_bytes(HloBuffer *out, int width, int64_t bytes) {
    HloBuffer text = {0};
    put_human_bytes(&text, bytes);
    hlo_putf(out, "%*s", width, text.data ? text.data : "");
    out->failed |= text.failed;
    hlo_buffer_free(&text);
}

static void put_row(Report *report, const Group *group, int64_t cumulative, int64_t total) {
    hlo_put_string(report->out, "  ");
    put_padded_bytes(report->out, 9, cumulative);
    // 0/0 is what the reference prints for an allocation of size 0.
    hlo_putf(report->out, "(%3.0f%%); ", 100.0 * (double)cumulative / (double)total);
    put_padded_bytes(report->out, 10, group->size);
    hlo_putf(report->out, "; %12lld; %16zu; ", (long long)group->offset, group->count);
    put_shapes(report, group);
    hlo_put_char(report->out, '\n');
}

void put_memory_table(Report *report, const Block *block) {
    size_t count;
    Group *groups = group_by_offset(report, block, &count);
    hlo_put_string(report->out, "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
                                "  ------------------------------------------------------------\n");
    int64_t total = 0, cumulative = 0;
    for (size_t i = 0; i < count; i++) total = add_bytes(total, groups[i].size);
    for (size_t i = 0; i < count; i++) {
        cumulative = add_bytes(cumulative, groups[i].size);
        put_row(report, &groups[i], cumulative, total);
        if (!is_rest_small(i, cumulative, total)) continue;
        hlo_putf(report->out, "  The rest %zu values are less than 5%% of the total size and not shown.\n",
                 count - i - 1);
        break;
    }
}

// ---- one memory space -----------------------------------------------------------------------------------

static void put_space_name(HloBuffer *out, int64_t color) {
    static const char *const names[] = {"default", "vmem", "smem", "hbm", "host", "cmem"};
    if (color >= 0 && (uint64_t)color < HLO_COUNT(names))
        hlo_put_string(out, names[color]);
    else
        hlo_putf(out, "color_%lld", (long long)color);
}

static int compare_blocks(const void *a, const void *b) {
    const Block *x = *(const Block *const *)a, *y = *(const Block *const *)b;
    if (x->color != y->color) return x->color < y->color ? -1 : 1;
    if (x->facts.size_bytes != y->facts.size_bytes) return x->facts.size_bytes > y->facts.size_bytes ? -1 : 1;
    return (x->facts.index > y->facts.index) - (x->facts.index < y->facts.index);
}

static void put_space(Report *report, const Block *const *blocks, size_t count) {
    int64_t total = 0, shown = 0;
    for (size_t i = 0; i < count; i++) total = add_bytes(total, blocks[i]->facts.size_bytes);
    hlo_put_string(report->out, "Memory Space: ");
    put_space_name(report->out, blocks[0]->color);
    hlo_putf(report->out, " (color=%lld)\nTotal bytes: %lld (", (long long)blocks[0]->color, (long long)total);
    put_human_bytes(report->out, total);
    hlo_put_string(report->out, ")\n");
    for (size_t i = 0; i < count; i++) {
        put_memory_table(report, blocks[i]);
        hlo_put_char(report->out, '\n');
        shown = add_bytes(shown, blocks[i]->facts.size_bytes);
        if (is_rest_small(i, shown, total)) break;
    }
    hlo_put_char(report->out, '\n');
}

void each_memory_space(Report *report, MemorySpaceVisitor visit) {
    const HloBufferAssignment *assignment = report->assignment;
    size_t count = assignment->blocks.count;
    const Block **blocks = HLO_NEW_ARRAY(&report->scratch, const Block *, count);
    for (size_t k = 0; k < count; k++) blocks[k] = block_at(assignment, k);
    if (count) qsort(blocks, count, sizeof *blocks, compare_blocks);
    for (size_t k = 0, end; k < count; k = end) {
        for (end = k + 1; end < count && blocks[end]->color == blocks[k]->color;) end++;
        visit(report, blocks + k, end - k);
    }
}

static HloStatus put_spaces(void *data) {
    each_memory_space(data, put_space);
    return hlo_ok();
}

void hlo_put_memory_usage_report(HloBuffer *out, const HloBufferAssignment *assignment) {
    Report report = {.out = out, .assignment = assignment};
    HloStatus status = hlo_guarded((HloArena *const[]){&report.scratch, NULL}, put_spaces, &report);
    if (!hlo_is_ok(status)) out->failed = true;
    hlo_status_free(status);
    hlo_arena_free(&report.scratch);
}

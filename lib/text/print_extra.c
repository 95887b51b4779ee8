// The attributes of an instruction by themselves, a line each, for pictures of graphs.

#include "lib/text/print.h"

// Turns the `, ` that an attribute begins with into a line break.
static void end_lines(HloBuffer *out, size_t start) {
    if (out->failed || out->size < start + 2) return;
    out->data[start] = '\n';
    memmove(out->data + start + 1, out->data + start + 2, out->size - start - 2);
    out->data[--out->size] = 0;
}

static bool is_callee(HloAttrId id) {
    HloAttrKind kind = hlo_attr_info(id)->kind;
    return kind == HLO_KIND_COMPUTATION || kind == HLO_KIND_COMPUTATIONS;
}

void hlo_print_attributes(const HloInstruction *inst, const HloPrintOptions *options, HloArena *scratch,
                          HloBuffer *out) {
    Printer p = {.out = out, .options = *options, .scratch = scratch};
    const HloOpInfo *row = hlo_op_info(inst->op);
    for (size_t k = 0; k < row->attr_count; k++) {
        size_t start = out->size;
        if (!is_callee(row->attrs[k].id)) hlo_put_own_attribute(&p, inst, row->attrs[k]);
        end_lines(out, start);
    }
    for (HloAttrId id = HLO_ATTR_SHARDING; id < HLO_ATTR_COUNT; id++) {
        size_t start = out->size;
        hlo_put_common_attributes(&p, inst, id, id + 1);
        end_lines(out, start);
    }
}

// The attributes of an instruction by themselves, a line each, for pictures of graphs.

#include "lib/text/print.h"

// Turns the `, ` that an attribute begins with into a line break.
static void end_lines(HloBuffer *out, size_t start) {
    if (out->failed || out->size < start + 2) return;
    out->data[start] = '\n';
    memmove(out->data + start + 1, out->data + start + 2, out->size - start - 2);
    out->data[--out->size] = 0;
}

// The numbers of dimensions that an operation has are one line of the reference's, as `lhs_contracting_dims={1},
// rhs_contracting_dims={0}`.
static bool is_dimension_numbers(HloAttrId id) {
    switch (id) {
    case HLO_ATTR_OFFSET_DIMS:
    case HLO_ATTR_COLLAPSED_SLICE_DIMS:
    case HLO_ATTR_START_INDEX_MAP:
    case HLO_ATTR_OPERAND_BATCHING_DIMS:
    case HLO_ATTR_START_INDICES_BATCHING_DIMS:
    case HLO_ATTR_INDEX_VECTOR_DIM:
    case HLO_ATTR_UPDATE_WINDOW_DIMS:
    case HLO_ATTR_INSERTED_WINDOW_DIMS:
    case HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS:
    case HLO_ATTR_INPUT_BATCHING_DIMS:
    case HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS:
    case HLO_ATTR_LHS_BATCH_DIMS:
    case HLO_ATTR_LHS_CONTRACTING_DIMS:
    case HLO_ATTR_RHS_BATCH_DIMS:
    case HLO_ATTR_RHS_CONTRACTING_DIMS: return true;
    default: return false;
    }
}

static bool is_callee(HloAttrId id) {
    HloAttrKind kind = hlo_attr_info(id)->kind;
    return kind == HLO_KIND_COMPUTATION || kind == HLO_KIND_COMPUTATIONS;
}

void hlo_print_attributes(const HloInstruction *inst, const HloPrintOptions *options, HloArena *scratch,
                          HloBuffer *out) {
    Printer p = {.out = out, .options = *options, .scratch = scratch};
    const HloOpInfo *row = hlo_op_info(inst->op);
    bool joins = false;
    for (size_t k = 0; k < row->attr_count; k++) {
        size_t start = out->size;
        HloAttrId id = row->attrs[k].id;
        if (!is_callee(id)) hlo_put_own_attribute(&p, inst, row->attrs[k]);
        if (out->size == start) continue;
        if (!joins || !is_dimension_numbers(id)) end_lines(out, start);
        joins = is_dimension_numbers(id);
    }
    for (HloAttrId id = HLO_ATTR_SHARDING; id < HLO_ATTR_COUNT; id++) {
        size_t start = out->size;
        hlo_put_common_attributes(&p, inst, id, id + 1);
        end_lines(out, start);
    }
}

// Cuts of what may be left out: annotations, orders, the rest of the header.

#include "lib/reduce/reduce.h"

static const HloAttrId annotations[] = {
    HLO_ATTR_METADATA,       HLO_ATTR_ORIGIN,   HLO_ATTR_STATISTICS,        HLO_ATTR_FRONTEND_ATTRIBUTES,
    HLO_ATTR_BACKEND_CONFIG, HLO_ATTR_SHARDING, HLO_ATTR_OPERAND_PRECISION, HLO_ATTR_RESULT_ACCURACY,
};

size_t hlo_reduce_count_annotations(const HloInstruction *inst) {
    size_t count = hlo_control_preds(inst)->count;
    for (size_t k = 0; k < HLO_COUNT(annotations); k++) count += hlo_has(inst, annotations[k]);
    return count;
}

static size_t has_annotations(const HloInstruction *inst) {
    for (size_t k = 0; k < HLO_COUNT(annotations); k++) {
        if (hlo_has(inst, annotations[k])) return HLO_COUNT(annotations);
    }
    return 0;
}

static void drop_annotation(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw;
    hlo_clear_attr(inst, annotations[way]);
}

static size_t has_order(const HloInstruction *inst) {
    return hlo_control_preds(inst)->count > 0;
}

static void drop_order(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw, (void)way;
    while (hlo_control_preds(inst)->count) hlo_remove_control_edge(hlo_control_preds(inst)->items[0], inst);
}

// The header, as a cut of the root.
static size_t has_header(const HloInstruction *inst) {
    const HloModule *m = inst->comp->m;
    return inst == m->entry->root && (m->input_output_alias.count || m->buffer_donor.count || m->frames.frame_count ||
                                      m->frontend_attributes.count || m->is_scheduled || m->debug_row_count ||
                                      m->recovery_count || m->spmd_to_output.count || m->spmd_to_parameters.count);
}

static void drop_header(HloRewriter *rw, HloInstruction *inst, size_t way) {
    HloModule *m = rw->m;
    (void)inst, (void)way;
    m->input_output_alias = m->buffer_donor = (HloAliases){0};
    m->frontend_attributes = (HloStringMap){0};
    m->spmd_to_output = m->spmd_to_parameters = (HloDims){0};
    m->frames = (HloFrames){0};
    m->recovery_count = m->debug_row_count = 0;
    hlo_module_drop_schedule(m);
}

CutTable hlo_cuts_of_attributes(void) {
    static const Cut cuts[] = {
        {"drop-annotation", "metadata, sharding, configuration and the like go", false, has_annotations,
         drop_annotation},
        {"drop-order", "control edges go", false, has_order, drop_order},
        {"drop-header", "aliases, schedule and tables of the module go", false, has_header, drop_header},
    };
    return (CutTable){cuts, HLO_COUNT(cuts)};
}

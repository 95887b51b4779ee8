// Verification of original values (verifier chapter §7.8): an origin has the tuple structure of its shape.

#include "verify_rules.h"

// Both sides are as deep as text can nest them.
static bool matches(const HloShape *shape, const HloOrigin *origin) {
    if (!origin) return true;
    if (hlo_shape_is_tuple(shape) != origin->tuple) return false;
    if (!origin->tuple) return true;
    if (origin->element_count != shape->rank) return false;
    for (size_t k = 0; k < shape->rank; k++) {
        if (!matches(shape->elements[k], origin->elements[k])) return false;
    }
    return true;
}

HloStatus hlo_verify_origin(const HloVerify *v, const HloInstruction *inst, const HloOrigin *origin) {
    if (origin->synthetic_call || matches(inst->shape, origin)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "original-value", "the origin has another structure than %s",
                           hlo_verify_text(v, inst->shape));
}

// Walks an array in the order of its layout.

#include "literal_order.h"

bool hlo_order_is_plain(const HloShape *shape) {
    for (size_t i = 0; shape->layout && i < shape->rank; i++) {
        if (shape->layout->minor_to_major[i] != (int64_t)(shape->rank - 1 - i)) return false;
    }
    return true;
}

typedef struct Walk {
    const HloShape *shape;
    int64_t *strides;   // in row-major order, by dimension
    int64_t *position;  // by dimension
    int64_t at;         // the row-major index
} Walk;

static Walk walk_start(HloArena *arena, const HloShape *shape) {
    Walk walk = {shape, HLO_NEW_ARRAY(arena, int64_t, shape->rank), HLO_NEW_ARRAY(arena, int64_t, shape->rank), 0};
    int64_t stride = 1;
    for (size_t d = shape->rank; d-- > 0;) {
        walk.strides[d] = stride;
        stride *= shape->dims[d];  // the element count fits, so this does
    }
    return walk;
}

static void walk_next(Walk *walk) {
    for (size_t i = 0; i < walk->shape->rank; i++) {
        int64_t d = walk->shape->layout->minor_to_major[i];
        walk->at += walk->strides[d];
        if (++walk->position[d] < walk->shape->dims[d]) return;
        walk->at -= walk->strides[d] * walk->shape->dims[d];
        walk->position[d] = 0;
    }
}

HloStatus hlo_literal_reorder(HloArena *arena, const HloLiteral *literal, bool back, HloLiteral **out) {
    HLO_TRY(hlo_literal_new(arena, literal->shape, out));
    if (literal->elem_count == 0) return hlo_ok();
    Walk walk = walk_start(arena, literal->shape);
    for (int64_t place = 0; place < literal->elem_count; place++, walk_next(&walk)) {
        if (back)
            hlo_literal_copy_element(*out, walk.at, literal, place);
        else
            hlo_literal_copy_element(*out, place, literal, walk.at);
    }
    return hlo_ok();
}

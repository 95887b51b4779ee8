// Strided copies: all that moves elements without changing them.
//
//   transpose f32[2,3] {1,0}   →   a box of 3 × 2, one side stepping by (1, 3), the other by (2, 1)

#include "lib/eval/eval.h"

void hlo_row_steps(const HloShape *shape, int64_t *steps) {
    int64_t step = 1;
    for (size_t d = shape->rank; d-- > 0;) {
        steps[d] = step;
        step *= shape->dims[d];
    }
}

// Leaves out dimensions of size 1 and joins a dimension with the next where both sides go on without a gap.
static void simplify(const HloBox *box, HloBox *out) {
    out->rank = 0;
    for (size_t d = 0; d < box->rank; d++) {
        if (box->size[d] == 1) continue;
        size_t last = out->rank - 1;
        bool joined = out->rank && out->from_step[last] == box->from_step[d] * box->size[d] &&
                      out->to_step[last] == box->to_step[d] * box->size[d];
        if (!joined) out->size[++last] = 1;
        out->rank = last + 1;
        out->size[last] *= box->size[d];
        out->from_step[last] = box->from_step[d];
        out->to_step[last] = box->to_step[d];
    }
}

#define COPY_ROW(type)              \
    for (int64_t i = 0; i < n; i++) \
    ((type *)(void *)to)[i * to_step] = ((const type *)(const void *)from)[i * from_step]

typedef struct Wide16 {
    uint64_t low, high;
} Wide16;

static void copy_row(int64_t n, const char *from, int64_t from_step, char *to, int64_t to_step, size_t bytes) {
    if (from_step == 1 && to_step == 1) {
        memmove(to, from, (size_t)n * bytes);
        return;
    }
    switch (bytes) {
    case 1: COPY_ROW(uint8_t); break;
    case 2: COPY_ROW(uint16_t); break;
    case 4: COPY_ROW(uint32_t); break;
    case 8: COPY_ROW(uint64_t); break;
    default: COPY_ROW(Wide16); break;
    }
}

void hlo_box_copy(const HloBox *given, const char *from, char *to, size_t bytes) {
    for (size_t d = 0; d < given->rank; d++) {
        if (given->size[d] <= 0) return;
    }
    HloBox box;
    simplify(given, &box);
    if (!box.rank) {
        memcpy(to, from, bytes);
        return;
    }
    int64_t index[HLO_EVAL_RANK] = {0}, unit = (int64_t)bytes;
    size_t inner = box.rank - 1;
    for (;;) {
        copy_row(box.size[inner], from, box.from_step[inner], to, box.to_step[inner], bytes);
        size_t d = inner;
        while (d-- > 0) {
            from += box.from_step[d] * unit;
            to += box.to_step[d] * unit;
            if (++index[d] < box.size[d]) break;
            from -= box.size[d] * box.from_step[d] * unit;
            to -= box.size[d] * box.to_step[d] * unit;
            index[d] = 0;
        }
        if (d == SIZE_MAX) return;
    }
}

void hlo_fill(char *to, int64_t count, const char *element, size_t bytes) {
    HloBox box = {1, {count}, {0}, {1}};
    hlo_box_copy(&box, element, to, bytes);
}

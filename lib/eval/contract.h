// What dot and its relatives share: the order of dimensions, and operands brought into rows.
#ifndef HLO_LIB_EVAL_CONTRACT_H
#define HLO_LIB_EVAL_CONTRACT_H

#include "lib/eval/eval.h"

// Dimensions of an operand, in the order in which it is laid out for multiplying.
typedef struct HloDimOrder {
    int64_t dims[HLO_EVAL_RANK];
    size_t count;
} HloDimOrder;

void hlo_order_put(HloDimOrder *order, HloDims dims);
// The dimensions in neither list, ascending.
void hlo_order_put_rest(HloDimOrder *order, size_t rank, HloDims a, HloDims b);
// Elements over the dimensions [from, to) of an order.
int64_t hlo_order_product(const HloShape *shape, const HloDimOrder *order, size_t from, size_t to);

// acc[i] += a * b[i]: the kernel of a computation type.
HloKernel hlo_multiply_add(HloWide wide);
// `from` converted to `type` and left in its computation type, row-major in the order given.
HLO_MUST_USE HloStatus hlo_arrange(HloMachine *vm, const HloDatum *from, HloType type, const HloDimOrder *order,
                                   HloDatum **out);

// A contraction as rows × columns in batches.
typedef struct HloDotSizes {
    int64_t batch, rows, columns, inner;
} HloDotSizes;

// The operands arranged as a[batch, rows, inner] and b[batch, inner, columns].
typedef struct HloDotPlan {
    HloDimOrder a, b;
    HloDotSizes sizes;
} HloDotPlan;

// `group` (may be empty) are dimensions of the right operand that stand before the batch: b[group, batch, inner,
// columns].
HloDotPlan hlo_plan_dot(const HloInstruction *inst, const HloShape *left, const HloShape *right, HloDims group);
// All rows, each summed from 0 in the order of `inner`.
void hlo_multiply_rows(HloDotSizes n, HloType type, const char *a, const char *b, char *out);

#endif

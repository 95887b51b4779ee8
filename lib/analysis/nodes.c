// Nodes of shapes: the parts of a tuple shape numbered in pre-order.

#include "hlo/dataflow.h"

typedef struct TupleNodes {
    uint32_t count;          // UINT32_MAX: more than fit
    const uint32_t *starts;  // node of each element
} TupleNodes;

static const TupleNodes *find(const HloNodes *nodes, const HloShape *shape) {
    return hlo_map_find(&nodes->tuples, shape);
}

static TupleNodes *count_elements(HloNodes *nodes, const HloShape *shape) {
    TupleNodes *result = HLO_NEW(nodes->arena, TupleNodes);
    uint32_t *starts = HLO_NEW_ARRAY(nodes->arena, uint32_t, shape->rank);
    uint64_t next = 1;
    for (size_t k = 0; k < shape->rank; k++) {
        starts[k] = (uint32_t)next;
        const HloShape *element = shape->elements[k];
        next += hlo_shape_is_tuple(element) ? find(nodes, element)->count : 1;
        if (next > UINT32_MAX) next = UINT32_MAX;
    }
    result->starts = starts;
    result->count = (uint32_t)next;
    return result;
}

// Shapes nest as deep as a file says, so the walk keeps its own stack: a tuple is counted once its elements are.
static const TupleNodes *tuple_nodes(HloNodes *nodes, const HloShape *shape) {
    const TupleNodes *known = find(nodes, shape);
    if (known) return known;
    HloVec stack = {0};
    hlo_vec_push(nodes->arena, &stack, shape);
    while (stack.count) {
        const HloShape *top = stack.items[stack.count - 1];
        size_t before = stack.count;
        for (size_t k = 0; k < top->rank; k++) {
            const HloShape *element = top->elements[k];
            if (!hlo_shape_is_tuple(element) || find(nodes, element)) continue;
            hlo_vec_push(nodes->arena, &stack, element);
        }
        if (stack.count != before) continue;
        stack.count--;
        if (!find(nodes, top)) *hlo_map_at(nodes->arena, &nodes->tuples, top) = count_elements(nodes, top);
    }
    return find(nodes, shape);
}

uint32_t hlo_node_count(HloNodes *nodes, const HloShape *shape) {
    return hlo_shape_is_tuple(shape) ? tuple_nodes(nodes, shape)->count : 1;
}

uint32_t hlo_node_of_element(HloNodes *nodes, const HloShape *shape, size_t k) {
    return tuple_nodes(nodes, shape)->starts[k];
}

// The element of a tuple whose nodes contain `node`.
static size_t element_holding(const TupleNodes *tuple, size_t rank, uint32_t node) {
    size_t low = 0, high = rank - 1;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (tuple->starts[middle] <= node)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

size_t hlo_node_element(HloNodes *nodes, const HloShape *shape, uint32_t node, uint32_t *rest) {
    const TupleNodes *tuple = tuple_nodes(nodes, shape);
    size_t k = element_holding(tuple, shape->rank, node);
    *rest = node - tuple->starts[k];
    return k;
}

const HloShape *hlo_node_shape(HloNodes *nodes, const HloShape *shape, uint32_t node) {
    while (node) shape = shape->elements[hlo_node_element(nodes, shape, node, &node)];
    return shape;
}

HloDims hlo_node_index(HloNodes *nodes, HloArena *arena, const HloShape *shape, uint32_t node) {
    HloInts path = {0};
    while (node) {
        size_t k = hlo_node_element(nodes, shape, node, &node);
        hlo_ints_push(arena, &path, (int64_t)k);
        shape = shape->elements[k];
    }
    return (HloDims){path.items, path.count};
}

uint32_t hlo_node_at(HloNodes *nodes, const HloShape *shape, HloDims index) {
    uint32_t node = 0;
    for (size_t d = 0; d < index.count; d++) {
        int64_t k = index.data[d];
        if (!hlo_shape_is_tuple(shape) || k < 0 || (uint64_t)k >= shape->rank) return UINT32_MAX;
        node += tuple_nodes(nodes, shape)->starts[k];
        shape = shape->elements[k];
    }
    return node;
}

static int64_t saturating_add(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t array_size_bytes(const HloShape *shape) {
    int64_t count;
    if (!hlo_shape_count_elements(shape, &count)) return INT64_MAX;
    int64_t element_bits = shape->layout ? shape->layout->element_bits : 0;
    int64_t bits = element_bits > 0 ? element_bits : (int64_t)(hlo_type_bits(shape->type) + 7) / 8 * 8;
    int64_t total;
    if (!hlo_i64_mul(count, bits, &total)) {
        return hlo_i64_mul(count, (bits + 7) / 8, &total) ? total : INT64_MAX;
    }
    return total / 8 + (total % 8 != 0);
}

int64_t hlo_value_size_bytes(const HloShape *shape) {
    switch (hlo_type_class(shape->type)) {
    case HLO_CLASS_TUPLE: return (int64_t)shape->rank * 8;
    case HLO_CLASS_TOKEN: return 0;
    case HLO_CLASS_OPAQUE: return 8;
    case HLO_CLASS_BUFFER: return hlo_shape_is_array(shape->elements[0]) ? array_size_bytes(shape->elements[0]) : 8;
    case HLO_CLASS_PRED:
    case HLO_CLASS_SIGNED:
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_FLOAT:
    case HLO_CLASS_COMPLEX: break;
    }
    int64_t size = array_size_bytes(shape);
    return hlo_shape_is_dynamic(shape) ? saturating_add(size, 4 * (int64_t)shape->rank) : size;
}

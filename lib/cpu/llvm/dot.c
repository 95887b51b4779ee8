// dot: products summed over contracting dimensions (interpreter chapter, §5.1).
//
// Both operands are brought into memory. Dimensions form four groups (batch, rows, columns, contracted), each with the
// strides of the arrays it occurs in, so that every layout and every dot_general is the same loop nest. Two ways:
//
//   plain   one result element at a time, the contraction innermost (LLVM vectorizes the sum when it is contiguous)
//   tiled   ROWS x COLUMNS·lanes results in vector registers; the column side is copied, tile by tile, to a panel in
//           scratch memory in accumulator type, unless it can be read where it is
//
// "Rows" is the left side, unless the left side has more free elements than the right: then the two change roles.

#include "lib/cpu/llvm/emit.h"

enum {
    TILE_ROWS = 6,  // with TILE_VECTORS: 12 accumulators, two column vectors and a row value fit 16 registers
    TILE_VECTORS = 2,
    DIRECT_ROWS = 16,  // with so few rows, packing columns costs more than it saves
};

// Dimensions of one kind. Strides in elements of the row operand, the column operand and the result.
typedef struct Group {
    size_t count;
    int64_t *sizes, *row, *column, *out;
    int64_t total;  // product of sizes
} Group;

typedef struct Dot {
    const HloInstruction *inst;
    Place *rows, *columns, *dest;
    Group batch, row, column, contract;
    HloType acc;         // type of the accumulators
    LLVMTypeRef llvm;    // its LLVM type
    int lanes;           // of a vector of accumulators
    int64_t elem_bytes;  // of an accumulator
} Dot;

// Offsets into the three arrays at the current place of the outer loops.
typedef struct Origin {
    LLVMValueRef row, column, out;
} Origin;

static Group group_new(Gen *g, size_t count) {
    Group group = {.count = count, .total = 1};
    group.sizes = HLO_NEW_ARRAY(g->arena, int64_t, count);
    group.row = HLO_NEW_ARRAY(g->arena, int64_t, count);
    group.column = HLO_NEW_ARRAY(g->arena, int64_t, count);
    group.out = HLO_NEW_ARRAY(g->arena, int64_t, count);
    return group;
}

// Σ digit_k · stride_k for the digits of `linear` in the group's sizes; one product when the strides are those of one
// long dimension.
static LLVMValueRef group_offset(Gen *g, const Group *group, const int64_t *strides, LLVMValueRef linear) {
    if (group->count == 0) return const_i64(g, 0);
    bool one = true;
    for (size_t k = 0; k + 1 < group->count; k++) one = one && strides[k] == strides[k + 1] * group->sizes[k + 1];
    if (one) return build_scale(g, linear, strides[group->count - 1]);
    LLVMValueRef sum = const_i64(g, 0);
    int64_t below = 1;
    for (size_t k = group->count; k-- > 0;) {
        LLVMValueRef digit = LLVMBuildUDiv(g->b, linear, const_i64(g, below), "");
        if (k) digit = LLVMBuildURem(g->b, digit, const_i64(g, group->sizes[k]), "");
        sum = build_add(g, sum, build_scale(g, digit, strides[k]));
        below *= group->sizes[k];
    }
    return sum;
}

// Σ at_k · stride_k over the loops of a nest.
static LLVMValueRef nest_offset(Gen *g, const Nest *nest, const int64_t *strides) {
    LLVMValueRef sum = const_i64(g, 0);
    for (size_t k = 0; k < nest->depth; k++) sum = build_add(g, sum, build_scale(g, nest_at(nest, k), strides[k]));
    return sum;
}

static Value load_as(Gen *g, const Dot *dot, const Place *place, LLVMValueRef position) {
    Value value = load_at(g, place->shape, place->base, position);
    HloType type = dot->inst->shape->type;
    value = convert(g, dot->inst, place->shape->type, type, value);
    return convert(g, dot->inst, type, dot->acc, value);
}

static void store_sum(Gen *g, const Dot *dot, LLVMValueRef position, Value sum) {
    HloType type = dot->inst->shape->type;
    store_at(g, dot->dest->shape, dot->dest->base, position, convert(g, dot->inst, dot->acc, type, sum));
}

// ---- plain ----------------------------------------------------------------------------------------------

static Value product_sum(Gen *g, const Dot *dot, Origin at) {
    Value zero = value_zero(g, dot->acc);
    LLVMValueRef carried[2] = {zero.v, zero.im};
    if (dot->contract.total == 0) return zero;
    Nest *nest = nest_open(g, dot->contract.sizes, dot->contract.count, carried, zero.im ? 2 : 1);
    Value a = load_as(g, dot, dot->rows, build_add(g, at.row, nest_offset(g, nest, dot->contract.row)));
    Value b = load_as(g, dot, dot->columns, build_add(g, at.column, nest_offset(g, nest, dot->contract.column)));
    g->reassoc = true;
    Value sum = add_values(g, dot->acc, (Value){carried[0], carried[1]}, multiply_values(g, dot->acc, a, b));
    g->reassoc = false;
    carried[0] = sum.v;
    carried[1] = sum.im;
    nest_close(g, nest, carried);
    return (Value){carried[0], sum.im ? carried[1] : NULL};
}

static void emit_plain(Gen *g, const Dot *dot, Origin at) {
    int64_t counts[2] = {dot->row.total, dot->column.total};
    Nest *nest = nest_open(g, counts, 2, NULL, 0);
    Origin here = {
        .row = build_add(g, at.row, group_offset(g, &dot->row, dot->row.row, nest_at(nest, 0))),
        .column = build_add(g, at.column, group_offset(g, &dot->column, dot->column.column, nest_at(nest, 1))),
        .out = build_add(g, at.out, group_offset(g, &dot->row, dot->row.out, nest_at(nest, 0))),
    };
    here.out = build_add(g, here.out, group_offset(g, &dot->column, dot->column.out, nest_at(nest, 1)));
    store_sum(g, dot, here.out, product_sum(g, dot, here));
    nest_close(g, nest, NULL);
}

// ---- tiled ----------------------------------------------------------------------------------------------

// A tile of columns: where its panel is and how much of it counts.
typedef struct Panel {
    LLVMValueRef base;   // in accumulator type
    LLVMValueRef first;  // number of its first column
    int64_t width;       // columns that exist
    int vectors;         // vectors that hold them
    bool direct;         // base is inside the column operand, with its strides
} Panel;

static LLVMTypeRef vector_type(const Dot *dot) {
    return LLVMVectorType(dot->llvm, (unsigned)dot->lanes);
}

static LLVMValueRef acc_address(Gen *g, const Dot *dot, LLVMValueRef base, LLVMValueRef at) {
    return LLVMBuildInBoundsGEP2(g->b, dot->llvm, base, &at, 1, "");
}

// Copies a tile of columns, converted, to the panel: contraction-major, zeros behind the last column.
static void pack_panel(Gen *g, const Dot *dot, Origin at, Panel *panel) {
    int64_t lanes = (int64_t)panel->vectors * dot->lanes;
    Nest *nest = nest_open(g, dot->contract.sizes, dot->contract.count, NULL, 0);
    LLVMValueRef row = const_i64(g, 0), from = build_add(g, at.column, nest_offset(g, nest, dot->contract.column));
    for (size_t k = 0; k < nest->depth; k++) {
        row = build_add(g, build_scale(g, row, dot->contract.sizes[k]), nest_at(nest, k));
    }
    row = build_scale(g, row, lanes);
    Nest *inner = nest_open(g, &panel->width, 1, NULL, 0);
    LLVMValueRef column = build_add(g, panel->first, nest_at(inner, 0));
    LLVMValueRef position = build_add(g, from, group_offset(g, &dot->column, dot->column.column, column));
    Value value = load_as(g, dot, dot->columns, position);
    LLVMBuildStore(g->b, value.v, acc_address(g, dot, panel->base, build_add(g, row, nest_at(inner, 0))));
    nest_close(g, inner, NULL);
    int64_t rest = lanes - panel->width;
    if (rest > 0) {
        Nest *fill = nest_open(g, &rest, 1, NULL, 0);
        LLVMValueRef behind = build_add(g, build_add(g, row, const_i64(g, panel->width)), nest_at(fill, 0));
        LLVMBuildStore(g->b, LLVMConstNull(dot->llvm), acc_address(g, dot, panel->base, behind));
        nest_close(g, fill, NULL);
    }
    nest_close(g, nest, NULL);
}

static LLVMValueRef splat(Gen *g, const Dot *dot, LLVMValueRef value) {
    LLVMTypeRef type = vector_type(dot);
    LLVMValueRef zero = LLVMConstInt(g->i32, 0, false), poison = LLVMGetPoison(type);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, poison, value, zero, "");
    LLVMValueRef mask = LLVMConstNull(LLVMVectorType(g->i32, (unsigned)dot->lanes));
    return LLVMBuildShuffleVector(g->b, one, poison, mask, "");
}

// Where the panel's vectors for the nest's contraction index start.
static LLVMValueRef panel_row(Gen *g, const Dot *dot, const Panel *panel, const Nest *nest) {
    if (panel->direct) return nest_offset(g, nest, dot->contract.column);
    LLVMValueRef row = const_i64(g, 0);
    for (size_t k = 0; k < nest->depth; k++) {
        row = build_add(g, build_scale(g, row, dot->contract.sizes[k]), nest_at(nest, k));
    }
    return build_scale(g, row, (int64_t)panel->vectors * dot->lanes);
}

// `rows` results rows against one panel; the sums go to `tile`, rows·vectors vectors.
static void multiply_tile(Gen *g, const Dot *dot, const Panel *panel, LLVMValueRef *row_at, int rows,
                          LLVMValueRef *sums) {
    int vectors = panel->vectors;
    for (int k = 0; k < rows * vectors; k++) sums[k] = LLVMConstNull(vector_type(dot));
    Nest *nest = nest_open(g, dot->contract.sizes, dot->contract.count, sums, (size_t)(rows * vectors));
    LLVMValueRef at = panel_row(g, dot, panel, nest), offset = nest_offset(g, nest, dot->contract.row);
    LLVMValueRef columns[TILE_VECTORS];
    for (int v = 0; v < vectors; v++) {
        LLVMValueRef position = build_add(g, at, const_i64(g, v * dot->lanes));
        columns[v] = LLVMBuildLoad2(g->b, vector_type(dot), acc_address(g, dot, panel->base, position), "");
        LLVMSetAlignment(columns[v], (unsigned)dot->elem_bytes);
    }
    for (int r = 0; r < rows; r++) {
        Value value = load_as(g, dot, dot->rows, build_add(g, row_at[r], offset));
        Value wide = {splat(g, dot, value.v), NULL};
        for (int v = 0; v < vectors; v++) {
            Value product = multiply_values(g, dot->acc, wide, (Value){columns[v], NULL});
            sums[r * vectors + v] = add_values(g, dot->acc, (Value){sums[r * vectors + v], NULL}, product).v;
        }
    }
    nest_close(g, nest, sums);
}

// Writes the sums of one row: whole vectors where the result is contiguous in accumulator type, elements elsewhere.
static void store_row(Gen *g, const Dot *dot, const Panel *panel, LLVMValueRef out, LLVMValueRef *sums,
                      bool contiguous) {
    for (int v = 0; v < panel->vectors; v++) {
        int64_t first = (int64_t)v * dot->lanes;
        if (contiguous && first + dot->lanes <= panel->width) {
            LLVMValueRef column = build_add(g, panel->first, const_i64(g, first));
            LLVMValueRef address = acc_address(g, dot, dot->dest->base, build_add(g, out, column));
            LLVMSetAlignment(LLVMBuildStore(g->b, sums[v], address), (unsigned)dot->elem_bytes);
            continue;
        }
        for (int64_t lane = 0; lane < dot->lanes && first + lane < panel->width; lane++) {
            LLVMValueRef column = build_add(g, panel->first, const_i64(g, first + lane));
            LLVMValueRef position = build_add(g, out, group_offset(g, &dot->column, dot->column.out, column));
            Value sum = {LLVMBuildExtractElement(g->b, sums[v], LLVMConstInt(g->i32, (unsigned)lane, false), ""), NULL};
            store_sum(g, dot, position, sum);
        }
    }
}

static bool is_contiguous(const Group *group, const int64_t *strides) {
    int64_t expected = 1;
    for (size_t k = group->count; k-- > 0;) {
        if (group->sizes[k] != 1 && strides[k] != expected) return false;
        expected *= group->sizes[k];
    }
    return true;
}

static bool stores_accumulators(const Dot *dot, const HloShape *shape) {
    return shape->type == dot->acc && hlo_type_bits(shape->type) == dot->elem_bytes * 8;
}

// `count` rows starting at number `first`.
static void emit_row_tile(Gen *g, const Dot *dot, Origin at, const Panel *panel, LLVMValueRef first, int count) {
    LLVMValueRef row_at[TILE_ROWS], sums[TILE_ROWS * TILE_VECTORS];
    for (int r = 0; r < count; r++) {
        LLVMValueRef row = build_add(g, first, const_i64(g, r));
        row_at[r] = build_add(g, at.row, group_offset(g, &dot->row, dot->row.row, row));
    }
    multiply_tile(g, dot, panel, row_at, count, sums);
    bool contiguous = is_contiguous(&dot->column, dot->column.out) && stores_accumulators(dot, dot->dest->shape);
    for (int r = 0; r < count; r++) {
        LLVMValueRef row = build_add(g, first, const_i64(g, r));
        LLVMValueRef out = build_add(g, at.out, group_offset(g, &dot->row, dot->row.out, row));
        store_row(g, dot, panel, out, sums + r * panel->vectors, contiguous);
    }
}

static void emit_column_tile(Gen *g, const Dot *dot, Origin at, Panel *panel, LLVMValueRef memory) {
    bool readable = is_contiguous(&dot->column, dot->column.column) && stores_accumulators(dot, dot->columns->shape);
    bool whole = panel->width == (int64_t)panel->vectors * dot->lanes;
    panel->direct = readable && whole && dot->row.total <= DIRECT_ROWS;
    panel->base = memory;
    if (panel->direct) {
        panel->base = acc_address(g, dot, dot->columns->base, build_add(g, at.column, panel->first));
    } else {
        pack_panel(g, dot, at, panel);
    }
    int64_t full = dot->row.total / TILE_ROWS, rest = dot->row.total % TILE_ROWS;
    if (full) {
        Nest *nest = nest_open(g, &full, 1, NULL, 0);
        emit_row_tile(g, dot, at, panel, build_scale(g, nest_at(nest, 0), TILE_ROWS), TILE_ROWS);
        nest_close(g, nest, NULL);
    }
    if (rest) emit_row_tile(g, dot, at, panel, const_i64(g, full * TILE_ROWS), (int)rest);
}

static void emit_tiled(Gen *g, const Dot *dot, Origin at, LLVMValueRef memory) {
    int64_t width = (int64_t)TILE_VECTORS * dot->lanes;
    int64_t full = dot->column.total / width, rest = dot->column.total % width;
    if (full) {
        Nest *nest = nest_open(g, &full, 1, NULL, 0);
        Panel panel = {.first = build_scale(g, nest_at(nest, 0), width), .width = width, .vectors = TILE_VECTORS};
        emit_column_tile(g, dot, at, &panel, memory);
        nest_close(g, nest, NULL);
    }
    if (rest) {
        int vectors = (int)((rest + dot->lanes - 1) / dot->lanes);
        Panel panel = {.first = const_i64(g, full * width), .width = rest, .vectors = vectors};
        emit_column_tile(g, dot, at, &panel, memory);
    }
}

// ---- dimension groups -----------------------------------------------------------------------------------

typedef struct Side {
    const HloShape *shape;
    int64_t *strides;
    HloDims batch, contract;
    size_t free_count;
    int64_t *free;  // dimension numbers, rising
} Side;

static bool is_free(const Side *side, int64_t d) {
    return !hlo_dims_has(side->batch, d) && !hlo_dims_has(side->contract, d);
}

static Side side_new(Gen *g, const HloInstruction *inst, const Place *place, bool left) {
    Side side = {.shape = place->shape, .strides = shape_strides(g, place->shape)};
    side.batch = hlo_dims(inst, left ? HLO_ATTR_LHS_BATCH_DIMS : HLO_ATTR_RHS_BATCH_DIMS);
    side.contract = hlo_dims(inst, left ? HLO_ATTR_LHS_CONTRACTING_DIMS : HLO_ATTR_RHS_CONTRACTING_DIMS);
    side.free = HLO_NEW_ARRAY(g->arena, int64_t, side.shape->rank);
    for (size_t d = 0; d < side.shape->rank; d++) {
        if (is_free(&side, (int64_t)d)) side.free[side.free_count++] = (int64_t)d;
    }
    return side;
}

static Group pair_group(Gen *g, const Side *row, const Side *column, HloDims a, HloDims b, const int64_t *out) {
    Group group = group_new(g, a.count);
    for (size_t k = 0; k < a.count; k++) {
        group.sizes[k] = row->shape->dims[a.data[k]];
        group.row[k] = row->strides[a.data[k]];
        group.column[k] = column->strides[b.data[k]];
        if (out) group.out[k] = out[k];
        group.total *= group.sizes[k];
    }
    return group;
}

static Group free_group(Gen *g, const Side *side, const int64_t *out) {
    Group group = group_new(g, side->free_count);
    for (size_t k = 0; k < side->free_count; k++) {
        int64_t d = side->free[k];
        group.sizes[k] = side->shape->dims[d];
        group.row[k] = group.column[k] = side->strides[d];
        group.out[k] = out[k];
        group.total *= group.sizes[k];
    }
    return group;
}

static bool dims_fit(const HloInstruction *inst) {
    const HloShape *l = hlo_operand(inst, 0)->shape, *r = hlo_operand(inst, 1)->shape;
    HloDims lists[4] = {hlo_dims(inst, HLO_ATTR_LHS_BATCH_DIMS), hlo_dims(inst, HLO_ATTR_RHS_BATCH_DIMS),
                        hlo_dims(inst, HLO_ATTR_LHS_CONTRACTING_DIMS), hlo_dims(inst, HLO_ATTR_RHS_CONTRACTING_DIMS)};
    for (size_t j = 0; j < 4; j += 2) {
        if (lists[j].count != lists[j + 1].count) return false;
        for (size_t k = 0; k < lists[j].count; k++) {
            int64_t a = lists[j].data[k], b = lists[j + 1].data[k];
            if (a < 0 || b < 0 || a >= (int64_t)l->rank || b >= (int64_t)r->rank || l->dims[a] != r->dims[b])
                return false;
        }
    }
    size_t free = l->rank + r->rank - 2 * lists[2].count - lists[0].count;
    return inst->shape->rank == free;
}

static HloType accumulator_type(HloType type) {
    if (hlo_type_is_float(type)) return type == HLO_F64 ? HLO_F64 : HLO_F32;
    if (hlo_type_is_integral(type) && hlo_type_bits(type) < 32) return HLO_S32;  // sums wrap alike
    return type;
}

static bool is_worth_tiling(const Dot *dot) {
    if (hlo_type_is_complex(dot->acc) || dot->acc == HLO_PRED || dot->contract.total == 0) return false;
    if (dot->column.total < dot->lanes / 2) return false;
    // A matrix times a vector along contiguous rows of the matrix is a row of plain sums.
    bool along = dot->contract.count == 1 && dot->contract.column[0] == 1;
    return dot->row.total > 2 || !along;
}

void emit_dot(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    if (hlo_operand_count(inst) != 2 || !dims_fit(inst)) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    Place *lhs = operand_place(g, scope, hlo_operand(inst, 0)), *rhs = operand_place(g, scope, hlo_operand(inst, 1));
    if (gen_failed(g)) return;
    Side l = side_new(g, inst, lhs, true), r = side_new(g, inst, rhs, false);
    int64_t *out = shape_strides(g, dest->shape), left = 1, right = 1;
    for (size_t k = 0; k < l.free_count; k++) left *= l.shape->dims[l.free[k]];
    for (size_t k = 0; k < r.free_count; k++) right *= r.shape->dims[r.free[k]];
    const int64_t *left_out = out + l.batch.count, *right_out = left_out + l.free_count;
    bool swapped = left > right;
    Side *row = swapped ? &r : &l, *column = swapped ? &l : &r;
    HloType acc = accumulator_type(inst->shape->type);
    Dot dot = {
        .inst = inst,
        .rows = swapped ? rhs : lhs,
        .columns = swapped ? lhs : rhs,
        .dest = dest,
        .batch = pair_group(g, row, column, row->batch, column->batch, out),
        .contract = pair_group(g, row, column, row->contract, column->contract, NULL),
        .row = free_group(g, row, swapped ? right_out : left_out),
        .column = free_group(g, column, swapped ? left_out : right_out),
        .acc = acc,
        .llvm = value_type(g, acc),
        .elem_bytes = hlo_type_bits(acc) / 8,
    };
    dot.lanes = g->vector_bytes / (int)dot.elem_bytes;
    bool tiled = is_worth_tiling(&dot);
    LLVMValueRef memory = NULL;
    int64_t panel_bytes;
    if (tiled && hlo_i64_mul(dot.contract.total, TILE_VECTORS * g->vector_bytes, &panel_bytes)) {
        memory = scratch_take(g, panel_bytes);
    }
    Nest *nest = nest_open(g, dot.batch.sizes, dot.batch.count, NULL, 0);
    Origin at = {nest_offset(g, nest, dot.batch.row), nest_offset(g, nest, dot.batch.column),
                 nest_offset(g, nest, dot.batch.out)};
    if (memory) {
        emit_tiled(g, &dot, at, memory);
    } else {
        emit_plain(g, &dot, at);
    }
    nest_close(g, nest, NULL);
}

// Windows, convolution dimension labels, padding, slices, sparsity (grammar chapter, §5.6 and §5.2).

#include "parse.h"

// Reads digits (with a sign) at *p; false when they do not fit.
static bool scan_int(const char **p, const char *end, int64_t *out) {
    bool negative = *p < end && **p == '-';
    if (negative) ++*p;
    int64_t value = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        if (!hlo_i64_mul(value, 10, &value) || __builtin_add_overflow(value, **p - '0', &value)) return false;
    }
    *out = negative ? -value : value;
    return true;
}

static bool too_large(HloReader *r, const HloToken *t) {
    return hlo_read_error(r, t->at, "number is too large");
}

// ---- windows --------------------------------------------------------------------------------------------

// dxd = int | int "x" int …
static bool read_dxd(HloReader *r, HloInts *out) {
    HloToken t = r->lex.token;
    out->count = 0;
    if (t.kind == HLO_TOK_INT) {
        hlo_ints_push(r->scratch, out, t.integer);
        hlo_skip(r);
        return true;
    }
    if (t.kind != HLO_TOK_DXD) return hlo_read_error(r, t.at, "expects token type kInt or kDxD");
    const char *p = t.text, *end = t.text + t.size;
    for (;; p++) {
        int64_t value;
        if (!scan_int(&p, end, &value)) return too_large(r, &t);
        hlo_ints_push(r->scratch, out, value);
        if (p == end) break;
    }
    hlo_skip(r);
    return true;
}

// Pairs and triples separated by `x`: lo_hi(_interior)? into *out, three numbers per item; the interior is 0
// when left out.
static bool scan_pads(HloReader *r, const HloToken *t, bool interior_allowed, HloInts *out) {
    const char *p = t->text, *end = t->text + t->size;
    out->count = 0;
    for (;; p++) {
        int64_t parts[3] = {0, 0, 0};
        size_t count = 0;
        for (;; p++) {
            if (count == 3 || !scan_int(&p, end, &parts[count++])) return too_large(r, t);
            if (p == end || *p != '_') break;
        }
        if (count == 3 && !interior_allowed)
            return hlo_read_error(r, t->at, "expects padding_low and padding_high separated by '_'");
        for (size_t i = 0; i < 3; i++) hlo_ints_push(r->scratch, out, parts[i]);
        if (p == end) return true;
    }
}

static bool read_window_pads(HloReader *r, HloInts *out) {
    HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_PAD) return hlo_read_error(r, t.at, "expects window pad pattern, e.g., '0_0x3_3'");
    if (!scan_pads(r, &t, false, out)) return false;
    hlo_skip(r);
    return true;
}

enum { SIZE, STRIDE, PAD, LHS_DILATE, RHS_DILATE, RHS_REVERSAL, WINDOW_FIELDS };
static const char *const window_fields[WINDOW_FIELDS] = {"size",       "stride",     "pad",
                                                         "lhs_dilate", "rhs_dilate", "rhs_reversal"};

static bool read_window_field(HloReader *r, HloInts fields[], bool seen[]) {
    HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_ATTR) return hlo_read_error(r, t.at, "expects sub-attributes in window");
    size_t field = 0;
    while (field < WINDOW_FIELDS && !hlo_at_attr(r, window_fields[field])) field++;
    if (field == WINDOW_FIELDS)
        return hlo_read_error(r, t.at, "unexpected attribute name: %.*s", (int)(t.size < 60 ? t.size : 60), t.text);
    if (seen[field]) return hlo_read_error(r, t.at, "sub-attribute '%s=' already exists", window_fields[field]);
    seen[field] = true;
    hlo_skip(r);
    return field == PAD ? read_window_pads(r, &fields[field]) : read_dxd(r, &fields[field]);
}

static bool check_window(HloReader *r, const char *at, const HloInts fields[], const bool seen[]) {
    for (size_t field = STRIDE; field < WINDOW_FIELDS; field++) {
        size_t count = field == PAD ? fields[field].count / 3 : fields[field].count;
        if (seen[field] && count != fields[SIZE].count)
            return hlo_read_error(r, at, "expects '%s=' has the same size as 'size='", window_fields[field]);
    }
    return true;
}

// window = "{" (field "=" value)* "}"     separated by blanks only
bool hlo_read_window(HloReader *r, const HloWindow **out) {
    HloInts fields[WINDOW_FIELDS] = {0};
    bool seen[WINDOW_FIELDS] = {false};
    const char *at = hlo_here(r);
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expected '{' to start window attribute")) return false;
    while (hlo_tok(r) != HLO_TOK_RBRACE) {
        if (!read_window_field(r, fields, seen)) return false;
    }
    hlo_skip(r);
    if (!check_window(r, at, fields, seen)) return false;
    size_t rank = fields[SIZE].count;
    HloWindowDim *dims = HLO_NEW_ARRAY(r->arena, HloWindowDim, rank);
    for (size_t d = 0; d < rank; d++) {
        dims[d].size = fields[SIZE].items[d];
        dims[d].stride = seen[STRIDE] ? fields[STRIDE].items[d] : 1;
        dims[d].pad_low = seen[PAD] ? fields[PAD].items[3 * d] : 0;
        dims[d].pad_high = seen[PAD] ? fields[PAD].items[3 * d + 1] : 0;
        dims[d].base_dilation = seen[LHS_DILATE] ? fields[LHS_DILATE].items[d] : 1;
        dims[d].window_dilation = seen[RHS_DILATE] ? fields[RHS_DILATE].items[d] : 1;
        dims[d].reversal = seen[RHS_REVERSAL] && fields[RHS_REVERSAL].items[d] == 1;
    }
    HloWindow *window = HLO_NEW(r->arena, HloWindow);
    *window = (HloWindow){dims, rank};
    *out = window;
    return true;
}

// padding = lo_hi(_interior)? ("x" …)*     or nothing for rank 0
bool hlo_read_padding(HloReader *r, const HloPadding **out) {
    HloToken t = r->lex.token;
    HloPadding *padding = HLO_NEW(r->arena, HloPadding);
    *out = padding;
    if (t.kind == HLO_TOK_COMMA || t.kind == HLO_TOK_NAME || t.kind == HLO_TOK_ROOT || t.kind == HLO_TOK_RBRACE)
        return true;
    if (t.kind != HLO_TOK_PAD) return hlo_read_error(r, t.at, "expects padding config, e.g., '0_0_0x3_3_1'");
    HloInts numbers = {0};
    if (!scan_pads(r, &t, true, &numbers)) return false;
    hlo_skip(r);
    size_t rank = numbers.count / 3;
    HloPaddingDim *dims = HLO_NEW_ARRAY(r->arena, HloPaddingDim, rank);
    for (size_t d = 0; d < rank; d++)
        dims[d] = (HloPaddingDim){numbers.items[3 * d], numbers.items[3 * d + 1], numbers.items[3 * d + 2]};
    *padding = (HloPadding){dims, rank};
    return true;
}

// ---- dimension labels -----------------------------------------------------------------------------------

// One of the three parts: two letters and the digits of the spatial dimensions.
typedef struct LabelPart {
    const char *text;
    size_t size;
    char first, second;  // b and f, or i and o
    const char *name;    // for messages
    int64_t first_at, second_at;
    int64_t *spatial;
    size_t spatial_count;
} LabelPart;

static bool unknown_label(HloReader *r, const LabelPart *part) {
    return hlo_read_error(r, hlo_here(r), "expects [0-%zu%c%c?] in %s dimension numbers",
                          part->spatial_count ? part->spatial_count - 1 : 0, part->first, part->second, part->name);
}

static bool repeated_label(HloReader *r, const LabelPart *part) {
    return hlo_read_error(r, hlo_here(r), "expects unique %s dimension numbers, but sees %.*s", part->name,
                          (int)part->size, part->text);
}

static bool read_label_part(HloReader *r, LabelPart *part) {
    bool seen_first = false, seen_second = false, seen[10] = {false};
    for (size_t i = 0; i < part->size; i++) part->spatial_count += part->text[i] >= '0' && part->text[i] <= '9';
    part->spatial = HLO_NEW_ARRAY(r->arena, int64_t, part->spatial_count);
    for (size_t i = 0; i < part->size; i++) {
        char c = part->text[i];
        if (c == '?') continue;
        bool *mark = c == part->first ? &seen_first : c == part->second ? &seen_second : NULL;
        size_t digit = (size_t)(c - '0');
        if (!mark) {
            if (c < '0' || c > '9' || digit >= part->spatial_count) return unknown_label(r, part);
            mark = &seen[digit];
            part->spatial[digit] = (int64_t)i;
        }
        if (*mark) return repeated_label(r, part);
        *mark = true;
        if (c == part->first) part->first_at = (int64_t)i;
        if (c == part->second) part->second_at = (int64_t)i;
    }
    return true;
}

// Unused positions at the end count for nothing.
static size_t label_rank(const LabelPart *part) {
    size_t rank = part->size;
    while (rank > part->spatial_count + 2 && part->text[rank - 1] == '?') rank--;
    return rank;
}

// labels = input "_" kernel "->" output
bool hlo_read_conv_dims(HloReader *r, const HloConvDims **out) {
    HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_DIM_LABELS)
        return hlo_read_error(r, t.at, "expects dim labels pattern, e.g., 'bf0_0io->0bf'");
    const char *end = t.text + t.size;
    const char *kernel_at = (const char *)memchr(t.text, '_', t.size) + 1;
    const char *arrow = memchr(kernel_at, '-', (size_t)(end - kernel_at));
    LabelPart input = {
        .text = t.text, .size = (size_t)(kernel_at - 1 - t.text), .first = 'b', .second = 'f', .name = "lhs"};
    LabelPart kernel = {
        .text = kernel_at, .size = (size_t)(arrow - kernel_at), .first = 'i', .second = 'o', .name = "rhs"};
    LabelPart output = {
        .text = arrow + 2, .size = (size_t)(end - arrow - 2), .first = 'b', .second = 'f', .name = "output"};
    if (!read_label_part(r, &input) || !read_label_part(r, &kernel) || !read_label_part(r, &output)) return false;
    if (input.spatial_count != kernel.spatial_count || input.spatial_count != output.spatial_count)
        return hlo_read_error(
            r, t.at,
            "input, kernel, and output must have same number of spatial dimensions, but got %zu, %zu, "
            "%zu, respectively.",
            input.spatial_count, kernel.spatial_count, output.spatial_count);
    HloConvDims *dims = HLO_NEW(r->arena, HloConvDims);
    *dims = (HloConvDims){
        .input_batch = input.first_at,
        .input_feature = input.second_at,
        .kernel_input_feature = kernel.first_at,
        .kernel_output_feature = kernel.second_at,
        .output_batch = output.first_at,
        .output_feature = output.second_at,
        .input_spatial = input.spatial,
        .kernel_spatial = kernel.spatial,
        .output_spatial = output.spatial,
        .spatial_count = input.spatial_count,
        .input_rank = label_rank(&input),
        .kernel_rank = label_rank(&kernel),
        .output_rank = label_rank(&output),
    };
    *out = dims;
    hlo_skip(r);
    return true;
}

// ---- slices ---------------------------------------------------------------------------------------------

// range = "[" int (":" int)* "]"     two or three numbers
static bool read_range(HloReader *r, void *data) {
    int64_t numbers[3] = {0, 0, 1};
    size_t count = 0;
    const char *at = hlo_here(r);
    if (!hlo_expect(r, HLO_TOK_LSQUARE, "expects a list starting with kLsquare")) return false;
    if (hlo_tok(r) != HLO_TOK_RSQUARE) {
        do {
            int64_t ignored;
            if (!hlo_read_int(r, count < 3 ? &numbers[count] : &ignored)) return false;
            count++;
        } while (hlo_accept(r, HLO_TOK_COLON));
    }
    if (!hlo_expect(r, HLO_TOK_RSQUARE, "expects a list to end with kRsquare")) return false;
    if (count != 2 && count != 3)
        return hlo_read_error(r, at, "expects [start:limit:step] or [start:limit], but sees %zu elements.", count);
    HloSliceDim *dim = hlo_items_push(r, data, sizeof *dim);
    *dim = (HloSliceDim){numbers[0], numbers[1], numbers[2]};
    return true;
}

// slice = "{" (range ("," range)*)? "}"
bool hlo_read_slice(HloReader *r, const HloSlice **out) {
    HloItems dims = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_range, &dims)) return false;
    HloSlice *slice = HLO_NEW(r->arena, HloSlice);
    *slice = (HloSlice){hlo_items_copy(r, &dims, sizeof(HloSliceDim)), dims.count};
    *out = slice;
    return true;
}

// ---- sparsity -------------------------------------------------------------------------------------------

// operand = "{" "sparsity=" NxM "dimension=" int "stride=" int "}"     in any order
static bool read_sparsity_operand(HloReader *r, HloSparsityOperand *out) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' in sparsity_config")) return false;
    out->present = true;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        if (hlo_at_attr(r, "sparsity")) {
            HloInts pair = {0};
            const char *at = hlo_here(r);
            hlo_skip(r);
            if (!read_dxd(r, &pair)) return false;
            if (pair.count != 2) return hlo_read_error(r, at, "expects sparsity as NxM");
            out->nonzeros = pair.items[0];
            out->block_size = pair.items[1];
        } else if (hlo_at_attr(r, "dimension")) {
            hlo_skip(r);
            if (!hlo_read_int(r, &out->dimension)) return false;
        } else if (hlo_at_attr(r, "stride")) {
            hlo_skip(r);
            if (!hlo_read_int(r, &out->stride)) return false;
        } else {
            return hlo_read_error(r, hlo_here(r), "expects sparsity=, dimension= or stride=");
        }
    }
    return true;
}

// config = "{" ("lhs=" operand)? ("rhs=" operand)? "}"
bool hlo_read_sparsity(HloReader *r, const HloSparsity **out) {
    HloSparsity *sparsity = HLO_NEW(r->arena, HloSparsity);
    *out = sparsity;
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' in sparsity_config")) return false;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        bool lhs = hlo_at_attr(r, "lhs");
        if (!lhs && !hlo_at_attr(r, "rhs")) return hlo_read_error(r, hlo_here(r), "expects lhs= or rhs=");
        hlo_skip(r);
        if (!read_sparsity_operand(r, lhs ? &sparsity->lhs : &sparsity->rhs)) return false;
    }
    return true;
}

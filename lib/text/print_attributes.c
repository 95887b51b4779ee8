// Attribute values as text: one writer per kind, chosen by the tables (printing chapter, §6).

#include "print.h"

enum { STATISTIC_DIGITS = 6 };

// ---- small values ---------------------------------------------------------------------------------------

// Keys as they stand in a line, `, dimensions=`.
static const HloStringView keys[HLO_ATTR_COUNT] = {
#define HLO_ATTR(name, spelling, kind, detail, standard, scope) \
    [HLO_ATTR_##name] = {", " spelling "=", sizeof(", " spelling "=") - 1},
#include "hlo/attributes.def"
};

void hlo_put_key(HloBuffer *out, HloAttrId id) {
    hlo_put(out, keys[id].data, keys[id].size);
}

static void put_bool(HloBuffer *out, bool value) {
    hlo_put_string(out, value ? "true" : "false");
}

static void put_quoted(HloBuffer *out, const char *text, size_t size) {
    hlo_put_char(out, '"');
    hlo_put_escaped(out, text, size);
    hlo_put_char(out, '"');
}

// Raw when it is a JSON dict, else quoted.
static void put_text(HloBuffer *out, const char *text) {
    if (hlo_is_json_dict(text))
        hlo_put_string(out, text);
    else
        put_quoted(out, text, strlen(text));
}

static void put_bools(HloBuffer *out, HloDims flags) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < flags.count; i++) {
        if (i) hlo_put_char(out, ',');
        put_bool(out, flags.data[i]);
    }
    hlo_put_char(out, '}');
}

static void put_word(HloBuffer *out, HloEnumTable table, int64_t number) {
    const char *word = hlo_enum_word(table, number);
    hlo_put_string(out, word ? word : "");
}

static void put_words(HloBuffer *out, HloEnumTable table, HloDims numbers) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < numbers.count; i++) {
        if (i) hlo_put_char(out, ',');
        put_word(out, table, numbers.data[i]);
    }
    hlo_put_char(out, '}');
}

static void put_int_lists(HloBuffer *out, const HloIntLists *lists) {
    hlo_put_char(out, '{');
    for (size_t i = 0; lists && i < lists->count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_dims(out, lists->lists[i]);
    }
    hlo_put_char(out, '}');
}

// ---- windows, slices, padding ---------------------------------------------------------------------------

static int64_t window_stride(const HloWindowDim *dim) {
    return dim->stride;
}
static int64_t window_base_dilation(const HloWindowDim *dim) {
    return dim->base_dilation;
}
static int64_t window_dilation(const HloWindowDim *dim) {
    return dim->window_dilation;
}

// ` key=2x2`, when some dimension differs from 1.
static void put_window_field(HloBuffer *out, const HloWindow *window, const char *key,
                             int64_t (*field)(const HloWindowDim *)) {
    bool plain = true;
    for (size_t d = 0; d < window->rank; d++) plain = plain && field(&window->dims[d]) == 1;
    if (plain) return;
    hlo_put_string(out, key);
    for (size_t d = 0; d < window->rank; d++) {
        if (d) hlo_put_char(out, 'x');
        hlo_put_int(out, field(&window->dims[d]));
    }
}

static void put_window_pad(HloBuffer *out, const HloWindow *window) {
    bool plain = true;
    for (size_t d = 0; d < window->rank; d++) plain = plain && !window->dims[d].pad_low && !window->dims[d].pad_high;
    if (plain) return;
    hlo_put_string(out, " pad=");
    for (size_t d = 0; d < window->rank; d++) {
        if (d) hlo_put_char(out, 'x');
        hlo_put_int(out, window->dims[d].pad_low);
        hlo_put_char(out, '_');
        hlo_put_int(out, window->dims[d].pad_high);
    }
}

static void put_window_reversal(HloBuffer *out, const HloWindow *window) {
    bool plain = true;
    for (size_t d = 0; d < window->rank; d++) plain = plain && !window->dims[d].reversal;
    if (plain) return;
    hlo_put_string(out, " rhs_reversal=");
    for (size_t d = 0; d < window->rank; d++) {
        if (d) hlo_put_char(out, 'x');
        hlo_put_char(out, window->dims[d].reversal ? '1' : '0');
    }
}

// `{size=3x3 stride=2x2 pad=0_1x0_1}`
void hlo_put_window(HloBuffer *out, const HloWindow *window) {
    hlo_put_char(out, '{');
    if (window && window->rank) {
        hlo_put_string(out, "size=");
        for (size_t d = 0; d < window->rank; d++) {
            if (d) hlo_put_char(out, 'x');
            hlo_put_int(out, window->dims[d].size);
        }
        put_window_field(out, window, " stride=", window_stride);
        put_window_pad(out, window);
        put_window_field(out, window, " lhs_dilate=", window_base_dilation);
        put_window_field(out, window, " rhs_dilate=", window_dilation);
        put_window_reversal(out, window);
    }
    hlo_put_char(out, '}');
}

// `LOW_HIGHxLOW_HIGH`; all dimensions say their interior padding when one has some.
static void put_padding(HloBuffer *out, const HloPadding *padding) {
    size_t rank = padding ? padding->rank : 0;
    bool interior = false;
    for (size_t d = 0; d < rank; d++) interior = interior || padding->dims[d].interior;
    for (size_t d = 0; d < rank; d++) {
        if (d) hlo_put_char(out, 'x');
        hlo_put_int(out, padding->dims[d].low);
        hlo_put_char(out, '_');
        hlo_put_int(out, padding->dims[d].high);
        if (!interior) continue;
        hlo_put_char(out, '_');
        hlo_put_int(out, padding->dims[d].interior);
    }
}

// `{[0:4], [1:9]}`; all dimensions say their stride when one is not 1.
static void put_slice(HloBuffer *out, const HloSlice *slice) {
    size_t rank = slice ? slice->rank : 0;
    bool strides = false;
    for (size_t d = 0; d < rank; d++) strides = strides || slice->dims[d].stride != 1;
    hlo_put_char(out, '{');
    for (size_t d = 0; d < rank; d++) {
        hlo_put_string(out, d ? ", [" : "[");
        hlo_put_int(out, slice->dims[d].start);
        hlo_put_char(out, ':');
        hlo_put_int(out, slice->dims[d].limit);
        if (strides) {
            hlo_put_char(out, ':');
            hlo_put_int(out, slice->dims[d].stride);
        }
        hlo_put_char(out, ']');
    }
    hlo_put_char(out, '}');
}

// ---- convolution ----------------------------------------------------------------------------------------

// One part of `b01f_01io->b01f`: the letter or digit of each position; positions without a role are `?`.
typedef struct Labels {
    int64_t first, second;  // positions of the two named dimensions
    char first_letter, second_letter;
    const int64_t *spatial;
    size_t spatial_count, rank;
} Labels;

static bool spatial_at(const Labels *labels, int64_t position, size_t *digit) {
    for (*digit = 0; *digit < labels->spatial_count; ++*digit) {
        if (labels->spatial[*digit] == position) return true;
    }
    return false;
}

static void put_labels(HloBuffer *out, const Labels *labels) {
    size_t rank = labels->rank ? labels->rank : labels->spatial_count + 2, digit;
    for (size_t i = 0; i < rank; i++) {
        int64_t position = (int64_t)i;
        if (spatial_at(labels, position, &digit))
            hlo_put_uint(out, digit);
        else if (labels->first == position)
            hlo_put_char(out, labels->first_letter);
        else if (labels->second == position)
            hlo_put_char(out, labels->second_letter);
        else
            hlo_put_char(out, '?');
    }
}

void hlo_put_conv_dims(HloBuffer *out, const HloConvDims *dims) {
    size_t n = dims->spatial_count;
    put_labels(out,
               &(Labels){dims->input_batch, dims->input_feature, 'b', 'f', dims->input_spatial, n, dims->input_rank});
    hlo_put_char(out, '_');
    put_labels(out, &(Labels){dims->kernel_input_feature, dims->kernel_output_feature, 'i', 'o', dims->kernel_spatial,
                              n, dims->kernel_rank});
    hlo_put(out, "->", 2);
    put_labels(
        out, &(Labels){dims->output_batch, dims->output_feature, 'b', 'f', dims->output_spatial, n, dims->output_rank});
}

static void put_sparsity_operand(HloBuffer *out, const char *key, const HloSparsityOperand *operand) {
    hlo_put_string(out, key);
    hlo_put_string(out, "={sparsity=");
    hlo_put_int(out, operand->nonzeros);
    hlo_put_char(out, 'x');
    hlo_put_int(out, operand->block_size);
    hlo_put_string(out, " dimension=");
    hlo_put_int(out, operand->dimension);
    hlo_put_string(out, " stride=");
    hlo_put_int(out, operand->stride);
    hlo_put_char(out, '}');
}

// `{lhs={sparsity=2x4 dimension=1 stride=1} rhs={…}}`
static void put_sparsity(HloBuffer *out, const HloSparsity *sparsity) {
    hlo_put_char(out, '{');
    if (sparsity->lhs.present) put_sparsity_operand(out, "lhs", &sparsity->lhs);
    if (sparsity->lhs.present && sparsity->rhs.present) hlo_put_char(out, ' ');
    if (sparsity->rhs.present) put_sparsity_operand(out, "rhs", &sparsity->rhs);
    hlo_put_char(out, '}');
}

// ---- aliases, shapes, literals --------------------------------------------------------------------------

void hlo_put_alias(HloBuffer *out, const HloAlias *alias, const char *kind) {
    hlo_put_dims(out, alias->output);
    hlo_put_string(out, ": (");
    hlo_put_int(out, alias->parameter);
    hlo_put(out, ", ", 2);
    hlo_put_dims(out, alias->input);
    hlo_put_string(out, kind);
    hlo_put_char(out, ')');
}

// `{{0}: (1, {}), {1}: (0, {0})}`, in stored order.
static void put_aliases(HloBuffer *out, const HloAliases *aliases) {
    hlo_put_char(out, '{');
    for (size_t i = 0; aliases && i < aliases->count; i++) {
        if (i) hlo_put(out, ", ", 2);
        hlo_put_alias(out, &aliases->items[i], "");
    }
    hlo_put_char(out, '}');
}

static void put_shapes(HloBuffer *out, const HloShapeList *list) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < list->count; i++) {
        if (i) hlo_put(out, ", ", 2);
        hlo_put_shape(out, list->shapes[i], true);
    }
    hlo_put_char(out, '}');
}

// A literal that carries its shapes: `s32[2]{0} {1, 2}`, `( s32[] 1, pred[] true )`. Tuple nesting is bounded by
// the reader.
static void put_typed_literal(HloBuffer *out, const HloLiteral *literal) {
    if (!hlo_shape_is_tuple(literal->shape)) {
        hlo_put_shape(out, literal->shape, true);
        hlo_put_char(out, ' ');
        hlo_put_literal(out, literal);
        return;
    }
    hlo_put(out, "( ", 2);
    for (size_t i = 0; i < literal->shape->rank; i++) {
        if (i) hlo_put(out, ", ", 2);
        put_typed_literal(out, literal->elements[i]);
    }
    hlo_put(out, " )", 2);
}

// ---- annotations ----------------------------------------------------------------------------------------

// `{k1="v1",k2={"a":1}}`
void hlo_put_string_map(HloBuffer *out, const HloStringMap *map) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < map->count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_string(out, map->pairs[i].key);
        hlo_put_char(out, '=');
        put_text(out, map->pairs[i].value);
    }
    hlo_put_char(out, '}');
}

static void put_statistics(HloBuffer *out, const HloStatistics *statistics) {
    hlo_put_string(out, "{visualizing_index=");
    hlo_put_int(out, statistics->visualizing_index);
    for (size_t i = 0; i < statistics->count; i++) {
        hlo_put_char(out, ',');
        hlo_put_string(out, statistics->items[i].name);
        hlo_put_char(out, '=');
        hlo_put_double(out, statistics->items[i].value, STATISTIC_DIGITS);
    }
    hlo_put_char(out, '}');
}

static void put_accuracy(HloBuffer *out, const HloAccuracy *accuracy) {
    if (!accuracy->is_tolerance) {
        hlo_put_string(out, accuracy->mode ? "{mode=highest}" : "{mode=default}");
        return;
    }
    hlo_put_string(out, "{tolerance={atol=");
    hlo_put_double(out, accuracy->atol, STATISTIC_DIGITS);
    hlo_put_string(out, ",rtol=");
    hlo_put_double(out, accuracy->rtol, STATISTIC_DIGITS);
    hlo_put_string(out, ",ulps=");
    hlo_put_int(out, accuracy->ulps);
    hlo_put(out, "}}", 2);
}

void hlo_put_origin_name(HloBuffer *out, const char *name, HloDims index) {
    hlo_put_char(out, '{');
    hlo_put_bare(out, name);
    if (index.count) {
        hlo_put_char(out, ' ');
        hlo_put_dims(out, index);
    }
    hlo_put_char(out, '}');
}

static void put_origin_leaf(HloBuffer *out, const HloOrigin *origin) {
    if (origin->name)
        hlo_put_origin_name(out, origin->name, origin->index);
    else
        hlo_put(out, "{}", 2);
}

// Nested as deep as a tuple shape can be, which the reader bounds.
static void put_origin(HloBuffer *out, const HloOrigin *origin) {
    if (origin->synthetic_call) {
        hlo_put_string(out, "[synthetic_call]");
        return;
    }
    if (!origin->tuple) {
        put_origin_leaf(out, origin);
        return;
    }
    hlo_put_char(out, '(');
    for (size_t i = 0; i < origin->element_count; i++) {
        if (i) hlo_put(out, ", ", 2);
        put_origin(out, origin->elements[i]);
    }
    hlo_put_char(out, ')');
}

static void put_domain(HloBuffer *out, const HloDomain *domain, HloShardingMetadata metadata) {
    hlo_put_string(out, "{kind=\"");
    hlo_put_string(out, domain->kind);
    hlo_put_string(out, "\", entry=");
    hlo_put_sharding(out, domain->entry, metadata);
    hlo_put_string(out, ", exit=");
    hlo_put_sharding(out, domain->exit, metadata);
    hlo_put_char(out, '}');
}

// ---- metadata -------------------------------------------------------------------------------------------

// The blank before every field but the first.
static void put_gap(HloBuffer *out, size_t start) {
    if (out->size != start) hlo_put_char(out, ' ');
}

static void put_text_field(HloBuffer *out, size_t start, const char *key, const char *text) {
    if (!text || !*text) return;
    put_gap(out, start);
    hlo_put_string(out, key);
    put_quoted(out, text, strlen(text));
}

static void put_int_field(HloBuffer *out, size_t start, const char *key, int64_t value) {
    if (!value) return;
    put_gap(out, start);
    hlo_put_string(out, key);
    hlo_put_int(out, value);
}

void hlo_put_metadata_fields(HloBuffer *out, const HloMetadata *md) {
    size_t start = out->size;
    put_text_field(out, start, "op_type=", md->op_type);
    put_text_field(out, start, "op_name=", md->op_name);
    put_text_field(out, start, "source_file=", md->source_file);
    put_int_field(out, start, "source_line=", md->source_line);
    put_int_field(out, start, "source_end_line=", md->source_end_line);
    put_int_field(out, start, "source_column=", md->source_column);
    put_int_field(out, start, "source_end_column=", md->source_end_column);
    if (md->profile_type.count) {
        put_gap(out, start);
        hlo_put_string(out, "profile_type=");
        hlo_put_dims(out, md->profile_type);
    }
    put_text_field(out, start, "deduplicated_name=", md->deduplicated_name);
    if (md->scheduling_name && *md->scheduling_name) {
        put_gap(out, start);
        hlo_put_string(out, "scheduling_name=");
        hlo_put_bare(out, md->scheduling_name);
    }
    put_int_field(out, start, "stack_frame_id=", md->stack_frame_id);
    if (md->payload_size) {
        put_gap(out, start);
        hlo_put_string(out, "metadata_payload=");
        put_quoted(out, md->metadata_payload, md->payload_size);
    }
}

// Source position from the frame that the id names; the id itself goes.
static HloMetadata with_frame_inlined(const HloModule *m, const HloMetadata *metadata) {
    HloMetadata md = *metadata;
    const HloFrames *frames = m ? &m->frames : NULL;
    md.stack_frame_id = 0;
    size_t id = (size_t)(metadata->stack_frame_id > 0 ? metadata->stack_frame_id : 0);
    if (!frames || !id || id > frames->frame_count) return md;
    size_t location_id = (size_t)frames->frames[id - 1].file_location_id;
    if (!location_id || location_id > frames->location_count) return md;
    const HloFileLocation *location = &frames->locations[location_id - 1];
    size_t file = (size_t)location->file_name_id;
    md.source_file = file && file <= frames->file_name_count ? frames->file_names[file - 1] : "";
    md.source_line = location->line;
    md.source_column = location->column;
    return md;
}

static void put_metadata(Printer *p, const HloMetadata *metadata) {
    HloBuffer *out = p->out;
    hlo_put_key(out, HLO_ATTR_METADATA);
    hlo_put_char(out, '{');
    if (p->options.metadata_only_op_name) {
        put_text_field(out, out->size, "op_name=", metadata->op_name);
    } else if (p->options.inline_stack_frames) {
        HloMetadata inlined = with_frame_inlined(p->m, metadata);
        hlo_put_metadata_fields(out, &inlined);
    } else {
        hlo_put_metadata_fields(out, metadata);
    }
    hlo_put_char(out, '}');
}

// ---- by kind --------------------------------------------------------------------------------------------

static HloDims dims_in(const HloAttr *attr) {
    return attr->data ? *(const HloDims *)attr->data : (HloDims){0};
}

static bool names_sub_axis(const HloGroups *groups) {
    for (size_t i = 0; groups->form == HLO_GROUPS_MESH && i < groups->axes.count; i++) {
        if (groups->axes.refs[i].size) return true;
    }
    return false;
}

static void put_groups(Printer *p, const HloGroups *groups) {
    if (!groups) {
        hlo_put(p->out, "{}", 2);
        return;
    }
    bool full = p->options.full_replica_groups || (p->options.groups_without_sub_axes && names_sub_axis(groups));
    hlo_put_groups(p->out, groups, full);
}

// Whether the text is for readers that know all of the language.
static bool is_newest(const Printer *p) {
    return p->m && p->m->hlo_version >= HLO_VERSION_2026_08;
}

static HloShardingMetadata sharding_metadata(const Printer *p) {
    if (!p->options.metadata) return HLO_SHARDING_BARE;
    return is_newest(p) ? HLO_SHARDING_SUMS : HLO_SHARDING_METADATA;
}

// Computations and instructions are edges, not values: the line and hlo_put_common_attributes print them.
static void put_value(Printer *p, const HloAttr *attr) {
    enum { FLOAT_DIGITS = 6 };
    const HloAttrInfo *info = hlo_attr_info(attr->id);
    HloBuffer *out = p->out;
    switch (info->kind) {
    case HLO_KIND_BOOL: put_bool(out, attr->i); return;
    case HLO_KIND_INT:
    case HLO_KIND_INT32: hlo_put_int(out, attr->i); return;
    case HLO_KIND_DIM: hlo_put_int_list(out, &attr->i, 1); return;
    case HLO_KIND_FLOAT: hlo_put_double(out, attr->f, FLOAT_DIGITS); return;
    case HLO_KIND_ENUM: put_word(out, (HloEnumTable)info->detail, attr->i); return;
    case HLO_KIND_STRING: put_quoted(out, attr->text, strlen(attr->text)); return;
    case HLO_KIND_TEXT: put_text(out, attr->text); return;
    case HLO_KIND_DIMS: hlo_put_dims(out, dims_in(attr)); return;
    case HLO_KIND_BOOLS: put_bools(out, dims_in(attr)); return;
    case HLO_KIND_PRECISIONS: put_words(out, (HloEnumTable)info->detail, dims_in(attr)); return;
    case HLO_KIND_INT_LISTS: put_int_lists(out, attr->data); return;
    case HLO_KIND_WINDOW: hlo_put_window(out, attr->data); return;
    case HLO_KIND_DIM_LABELS: hlo_put_conv_dims(out, attr->data); return;
    case HLO_KIND_PADDING: put_padding(out, attr->data); return;
    case HLO_KIND_SLICE: put_slice(out, attr->data); return;
    case HLO_KIND_GROUPS: put_groups(p, attr->data); return;
    case HLO_KIND_SHAPE: hlo_put_shape(out, attr->data, true); return;
    case HLO_KIND_SHAPES: put_shapes(out, attr->data); return;
    case HLO_KIND_LITERAL: put_typed_literal(out, attr->data); return;
    case HLO_KIND_SHARDING: hlo_put_sharding(out, attr->data, sharding_metadata(p)); return;
    case HLO_KIND_METADATA: hlo_put_metadata_fields(out, attr->data); return;
    case HLO_KIND_STRING_MAP: hlo_put_string_map(out, attr->data); return;
    case HLO_KIND_ORIGIN:
        hlo_put_char(out, '{');
        put_origin(out, attr->data);
        hlo_put_char(out, '}');
        return;
    case HLO_KIND_STATISTICS: put_statistics(out, attr->data); return;
    case HLO_KIND_ACCURACY: put_accuracy(out, attr->data); return;
    case HLO_KIND_ALIASES: put_aliases(out, attr->data); return;
    case HLO_KIND_DOMAIN: put_domain(out, attr->data, sharding_metadata(p)); return;
    case HLO_KIND_SPARSITY: put_sparsity(out, attr->data); return;
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: return;
    }
}

static bool all_zero(HloDims dims) {
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i]) return false;
    }
    return true;
}

// The comparison that the element type of operand 0 implies.
static int64_t default_compare_type(const HloInstruction *inst) {
    if (!hlo_operand_count(inst)) return HLO_COMPARE_TYPE_DEFAULT;
    switch (hlo_type_class(hlo_operand(inst, 0)->shape->type)) {
    case HLO_CLASS_FLOAT:
    case HLO_CLASS_COMPLEX: return HLO_COMPARE_TYPE_FLOAT;
    case HLO_CLASS_SIGNED: return HLO_COMPARE_TYPE_SIGNED;
    case HLO_CLASS_PRED:
    case HLO_CLASS_UNSIGNED: return HLO_COMPARE_TYPE_UNSIGNED;
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return HLO_COMPARE_TYPE_DEFAULT;
}

// A stored optional attribute that means the same as its absence, by what its kind can say.
static bool says_nothing(const HloInstruction *inst, const HloAttr *attr) {
    const HloAttrInfo *info = hlo_attr_info(attr->id);
    switch (info->kind) {
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM: return info->has_default && attr->i == info->standard;
    case HLO_KIND_ENUM:
        if (attr->id == HLO_ATTR_COMPARE_TYPE && attr->i == default_compare_type(inst)) return true;
        return info->has_default && attr->i == info->standard;
    case HLO_KIND_STRING:
        if (attr->id == HLO_ATTR_ASYNC_EXECUTION_THREAD && strcmp(attr->text, "main") == 0) return true;
        return !*attr->text;
    case HLO_KIND_TEXT: return !*attr->text;
    case HLO_KIND_DIMS: return !dims_in(attr).count;
    case HLO_KIND_PRECISIONS: return all_zero(dims_in(attr));
    case HLO_KIND_INT_LISTS: return !((const HloIntLists *)attr->data)->count;
    case HLO_KIND_WINDOW: return inst->op != HLO_OP_CUSTOM_CALL && !((const HloWindow *)attr->data)->rank;
    case HLO_KIND_ALIASES: return !((const HloAliases *)attr->data)->count;
    case HLO_KIND_SPARSITY: {
        const HloSparsity *sparsity = attr->data;
        return !sparsity->lhs.present && !sparsity->rhs.present;
    }
    case HLO_KIND_STRING_MAP: return !((const HloStringMap *)attr->data)->count;
    case HLO_KIND_STATISTICS: return !((const HloStatistics *)attr->data)->count;
    case HLO_KIND_ACCURACY: {
        const HloAccuracy *accuracy = attr->data;
        return !accuracy->is_tolerance && !accuracy->mode;
    }
    case HLO_KIND_METADATA: return hlo_metadata_is_empty(attr->data);
    case HLO_KIND_FLOAT:
    case HLO_KIND_BOOLS:
    case HLO_KIND_DIM_LABELS:
    case HLO_KIND_PADDING:
    case HLO_KIND_SLICE:
    case HLO_KIND_GROUPS:
    case HLO_KIND_SHAPE:
    case HLO_KIND_SHAPES:
    case HLO_KIND_LITERAL:
    case HLO_KIND_SHARDING:
    case HLO_KIND_ORIGIN:
    case HLO_KIND_DOMAIN:
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: break;
    }
    return false;
}

// ---- own attributes -------------------------------------------------------------------------------------

static bool is_switched_off(const HloPrintOptions *options, HloAttrId id) {
    switch (id) {
    case HLO_ATTR_IS_COMPOSITE: return false;  // belongs to the callee, not to the op-specific attributes
    case HLO_ATTR_INFEED_CONFIG:
    case HLO_ATTR_OUTFEED_CONFIG: return !options->extra_attributes || !options->infeed_outfeed_config;
    case HLO_ATTR_PARAMETER_REPLICATION: return !options->extra_attributes || !options->ids;
    default: return !options->extra_attributes;
    }
}

// What an attribute that is always printed says when nothing is stored: empty, zero, or its default. A map lists all
// dimensions of its result, an outfeed has the shape of its operand.
static void put_absent(Printer *p, const HloInstruction *inst, HloAttrId id) {
    const HloAttrInfo *info = hlo_attr_info(id);
    HloBuffer *out = p->out;
    if (id == HLO_ATTR_DIMENSIONS && inst->op == HLO_OP_MAP) {
        hlo_put_char(out, '{');
        for (size_t d = 0; d < inst->shape->rank; d++) {
            if (d) hlo_put_char(out, ',');
            hlo_put_uint(out, d);
        }
        hlo_put_char(out, '}');
    } else if (id == HLO_ATTR_OUTFEED_SHAPE && hlo_operand_count(inst)) {
        hlo_put_shape(out, hlo_operand(inst, 0)->shape, true);
    } else if (info->kind == HLO_KIND_STRING) {
        put_quoted(out, "", 0);
    } else if (info->kind <= HLO_KIND_ENUM) {
        put_value(p, &(HloAttr){.id = id, .i = info->has_default ? info->standard : 0});
    } else {
        hlo_put(out, "{}", 2);
    }
}

// Attributes that texts before 2026-08 have otherwise; false for all others.
static bool put_older_form(Printer *p, HloAttrId id, const HloAttr *attr) {
    switch ((int)id) {
    case HLO_ATTR_NUM_CARRIES: return true;  // follows from the shapes
    case HLO_ATTR_HAS_DYNAMIC_ROOT: return !attr;
    case HLO_ATTR_IS_ASSOCIATIVE:  // had two states
        if (attr) return false;
        hlo_put_key(p->out, id);
        put_bool(p->out, false);
        return true;
    }
    return false;
}

void hlo_put_own_attribute(Printer *p, const HloInstruction *inst, HloAttrUse use) {
    const HloAttrInfo *info = hlo_attr_info(use.id);
    if (use.rule == HLO_USE_INPUT_ONLY || info->scope != HLO_SCOPE_OWN || is_switched_off(&p->options, use.id)) return;
    const HloAttr *attr = hlo_attr_find(inst, use.id);
    if (!is_newest(p) && put_older_form(p, use.id, attr)) return;
    if (use.rule == HLO_USE_OPTIONAL && (!attr || says_nothing(inst, attr))) return;
    hlo_put_key(p->out, use.id);
    if (use.id == HLO_ATTR_CHANNEL_ID && !p->options.channel_ids)
        hlo_put_char(p->out, '_');
    else if (attr)
        put_value(p, attr);
    else
        put_absent(p, inst, use.id);
}

// ---- attributes at the end of the line ------------------------------------------------------------------

static void put_control_predecessors(Printer *p, const HloInstruction *inst) {
    if (!p->options.control_dependencies || !hlo_control_preds(inst)->count) return;
    hlo_put_key(p->out, HLO_ATTR_CONTROL_PREDECESSORS);
    hlo_put_char(p->out, '{');
    for (size_t i = 0; i < hlo_control_preds(inst)->count; i++) {
        if (i) hlo_put(p->out, ", ", 2);
        const HloInstruction *before = hlo_control_preds(inst)->items[i];
        hlo_put_name(p, before->name);  // never canonical
    }
    hlo_put_char(p->out, '}');
}

static bool is_shown(const HloPrintOptions *options, HloAttrId id) {
    switch (id) {
    case HLO_ATTR_FRONTEND_ATTRIBUTES: return options->frontend_attributes;
    case HLO_ATTR_ORIGIN: return options->original_value;
    case HLO_ATTR_METADATA: return options->metadata;
    case HLO_ATTR_BACKEND_CONFIG: return options->backend_config;
    default: return true;
    }
}

// Stored attributes are sorted by id, and ids of this group stand in print order.
void hlo_put_common_attributes(Printer *p, const HloInstruction *inst, HloAttrId from, HloAttrId to) {
    bool edges_due = from <= HLO_ATTR_CONTROL_PREDECESSORS && HLO_ATTR_CONTROL_PREDECESSORS < to;
    for (size_t i = 0; i < inst->attr_count; i++) {
        const HloAttr *attr = &inst->attrs[i];
        if (attr->id < from || attr->id >= to) continue;
        if (edges_due && attr->id > HLO_ATTR_CONTROL_PREDECESSORS) {
            put_control_predecessors(p, inst);
            edges_due = false;
        }
        if (!is_shown(&p->options, attr->id) || says_nothing(inst, attr)) continue;
        if (attr->id == HLO_ATTR_METADATA) {
            put_metadata(p, attr->data);
            continue;
        }
        hlo_put_key(p->out, attr->id);
        bool sort = attr->id == HLO_ATTR_BACKEND_CONFIG && p->options.sort_backend_config;
        if (!sort || !hlo_put_sorted_json(p->out, p->scratch, attr->text)) put_value(p, attr);
    }
    if (edges_due) put_control_predecessors(p, inst);
}

// Structs of attributes from messages: windows, metadata, origins and the like.

#include <stdlib.h>

#include "reader.h"

// ---- texts and lists -------------------------------------------------------------------------------------

const char *hlo_read_proto_text(HloProtoReader *r, const char *text) {
    return text && *text ? hlo_intern_z(r->m, text) : NULL;
}

HloStatus hlo_read_proto_bytes(HloProtoReader *r, ProtobufCBinaryData bytes, const char **out) {
    if (bytes.len && memchr(bytes.data, 0, bytes.len))
        return hlo_error(HLO_UNIMPLEMENTED, "bytes with a zero among them are not supported here");
    *out = hlo_intern(r->m, bytes.len ? (const char *)bytes.data : "", bytes.len);
    return hlo_ok();
}

HloDims hlo_read_narrow_dims(HloProtoReader *r, const int32_t *data, size_t count) {
    int64_t *dims = HLO_NEW_ARRAY(r->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) dims[i] = data[i];
    return (HloDims){dims, count};
}

// ---- windows, slices, padding ----------------------------------------------------------------------------

static const HloWindow *read_window(HloProtoReader *r, const Xla__Window *from) {
    HloWindowDim *dims = HLO_NEW_ARRAY(r->arena, HloWindowDim, from->n_dimensions);
    for (size_t d = 0; d < from->n_dimensions; d++) {
        const Xla__WindowDimension *dim = from->dimensions[d];
        dims[d] = (HloWindowDim){dim->size,          dim->stride,          dim->padding_low,         dim->padding_high,
                                 dim->base_dilation, dim->window_dilation, dim->window_reversal != 0};
    }
    HloWindow *window = HLO_NEW(r->arena, HloWindow);
    *window = (HloWindow){dims, from->n_dimensions};
    return window;
}

static const HloPadding *read_padding(HloProtoReader *r, const Xla__PaddingConfig *from) {
    HloPaddingDim *dims = HLO_NEW_ARRAY(r->arena, HloPaddingDim, from->n_dimensions);
    for (size_t d = 0; d < from->n_dimensions; d++) {
        const Xla__PaddingConfig__PaddingConfigDimension *dim = from->dimensions[d];
        dims[d] = (HloPaddingDim){dim->edge_padding_low, dim->edge_padding_high, dim->interior_padding};
    }
    HloPadding *padding = HLO_NEW(r->arena, HloPadding);
    *padding = (HloPadding){dims, from->n_dimensions};
    return padding;
}

const HloSlice *hlo_read_proto_slice(HloProtoReader *r, const Xla__HloInstructionProto *from) {
    HloSliceDim *dims = HLO_NEW_ARRAY(r->arena, HloSliceDim, from->n_slice_dimensions);
    for (size_t d = 0; d < from->n_slice_dimensions; d++) {
        const Xla__HloInstructionProto__SliceDimensions *dim = from->slice_dimensions[d];
        dims[d] = (HloSliceDim){dim->start, dim->limit, dim->stride};
    }
    HloSlice *slice = HLO_NEW(r->arena, HloSlice);
    *slice = (HloSlice){dims, from->n_slice_dimensions};
    return slice;
}

const HloAliases *hlo_read_proto_operand_aliases(HloProtoReader *r, const Xla__HloInstructionProto *from) {
    size_t count = from->n_output_operand_aliasing;
    if (count == 0) return NULL;
    HloAlias *items = HLO_NEW_ARRAY(r->arena, HloAlias, count);
    for (size_t i = 0; i < count; i++) {
        const Xla__OutputOperandAliasing *alias = from->output_operand_aliasing[i];
        items[i].output = hlo_read_proto_dims(r, alias->output_shape_index, alias->n_output_shape_index);
        items[i].parameter = alias->operand_index;
        items[i].input = hlo_read_proto_dims(r, alias->operand_shape_index, alias->n_operand_shape_index);
    }
    HloAliases *aliases = HLO_NEW(r->arena, HloAliases);
    *aliases = (HloAliases){items, count};
    return aliases;
}

// ---- convolutions ----------------------------------------------------------------------------------------

// One array's roles: two named dimensions and the spatial ones, all different and below the rank.
static HloStatus check_roles(HloProtoReader *r, size_t rank, int64_t first, int64_t second, HloDims spatial) {
    HloBits seen = hlo_bits_new(r->scratch, rank);
    for (size_t i = 0; i < spatial.count + 2; i++) {
        int64_t d = i == 0 ? first : i == 1 ? second : spatial.data[i - 2];
        if (d < 0 || (uint64_t)d >= rank || !hlo_bits_claim(seen, (size_t)d))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "dimension %lld is given twice or does not exist in an array of rank %zu", (long long)d,
                             rank);
    }
    return hlo_ok();
}

// The text form tells the ranks too; here they are those of the arrays, or what the roles need.
static size_t rank_for(const HloShape *shape, size_t least) {
    return shape && hlo_shape_is_array(shape) && shape->rank > least ? shape->rank : least;
}

static HloStatus read_conv_dims(HloProtoReader *r, const HloInstruction *inst,
                                const Xla__ConvolutionDimensionNumbers *from, const HloConvDims **out) {
    size_t count = from->n_input_spatial_dimensions, least = count + 2;
    if (from->n_kernel_spatial_dimensions != count || from->n_output_spatial_dimensions != count)
        return hlo_error(
            HLO_INVALID_ARGUMENT,
            "input, kernel, and output must have same number of spatial dimensions, but got %zu, %zu, %zu, "
            "respectively.",
            count, from->n_kernel_spatial_dimensions, from->n_output_spatial_dimensions);
    if (count > 10) return hlo_error(HLO_INVALID_ARGUMENT, "a convolution has at most 10 spatial dimensions");
    HloConvDims *dims = HLO_NEW(r->arena, HloConvDims);
    HloDims input = hlo_read_proto_dims(r, from->input_spatial_dimensions, count);
    HloDims kernel = hlo_read_proto_dims(r, from->kernel_spatial_dimensions, count);
    HloDims output = hlo_read_proto_dims(r, from->output_spatial_dimensions, count);
    size_t operands = hlo_operand_count(inst);
    *dims = (HloConvDims){
        .input_batch = from->input_batch_dimension,
        .input_feature = from->input_feature_dimension,
        .kernel_input_feature = from->kernel_input_feature_dimension,
        .kernel_output_feature = from->kernel_output_feature_dimension,
        .output_batch = from->output_batch_dimension,
        .output_feature = from->output_feature_dimension,
        .input_spatial = input.data,
        .kernel_spatial = kernel.data,
        .output_spatial = output.data,
        .spatial_count = count,
        .input_rank = rank_for(operands > 0 ? hlo_operand(inst, 0)->shape : NULL, least),
        .kernel_rank = rank_for(operands > 1 ? hlo_operand(inst, 1)->shape : NULL, least),
        .output_rank = rank_for(inst->shape, least),
    };
    *out = dims;
    HLO_TRY(
        hlo_error_context(check_roles(r, dims->input_rank, dims->input_batch, dims->input_feature, input), "input"));
    HLO_TRY(hlo_error_context(
        check_roles(r, dims->kernel_rank, dims->kernel_input_feature, dims->kernel_output_feature, kernel), "kernel"));
    return hlo_error_context(check_roles(r, dims->output_rank, dims->output_batch, dims->output_feature, output),
                             "output");
}

static HloSparsityOperand read_sparsity_operand(const Xla__SparsityConfig__TensorSparsityConfig *from) {
    if (!from) return (HloSparsityOperand){0};
    return (HloSparsityOperand){true, from->num_non_zero, from->block_size, from->dimension, from->stride};
}

static const HloSparsity *read_sparsity(HloProtoReader *r, const Xla__SparsityConfig *from) {
    if (!from->lhs && !from->rhs) return NULL;
    HloSparsity *sparsity = HLO_NEW(r->arena, HloSparsity);
    *sparsity = (HloSparsity){read_sparsity_operand(from->lhs), read_sparsity_operand(from->rhs)};
    return sparsity;
}

// ---- metadata --------------------------------------------------------------------------------------------

HloStatus hlo_read_proto_payload(HloProtoReader *r, const Xla__Payload *from, const char **out, size_t *size) {
    ProtobufCBinaryData bytes = {0};
    if (from->payload_source_case == XLA__PAYLOAD__PAYLOAD_SOURCE_VALUE) bytes = from->value;
    if (from->payload_source_case == XLA__PAYLOAD__PAYLOAD_SOURCE_ID) {
        if (from->id < 0 || (uint64_t)from->id >= r->proto->n_payloads)
            return hlo_error(HLO_INVALID_ARGUMENT, "Invalid payload id %lld with payloads size %zu",
                             (long long)from->id, r->proto->n_payloads);
        bytes = r->proto->payloads[from->id];
    }
    *out = bytes.len ? hlo_arena_string(r->arena, (const char *)bytes.data, bytes.len) : NULL;
    *size = bytes.len;
    return hlo_ok();
}

// Fields that text has no word for are kept in binary form.
static HloStatus keep_rest(HloProtoReader *r, const Xla__OpMetadata *from, HloMetadata *md) {
    Xla__OpMetadata rest = XLA__OP_METADATA__INIT;
    rest.size_of_generated_code_in_bytes = from->size_of_generated_code_in_bytes;
    rest.size_of_memory_working_set_in_bytes = from->size_of_memory_working_set_in_bytes;
    rest.profile_info = from->profile_info;
    size_t size = protobuf_c_message_get_packed_size(&rest.base);
    if (!size) return hlo_ok();
    uint8_t *bytes = hlo_arena_alloc(r->arena, size);
    protobuf_c_message_pack(&rest.base, bytes);
    md->proto_rest = (HloStringView){(const char *)bytes, size};
    return hlo_ok();
}

static bool is_empty(const HloMetadata *md) {
    static const HloMetadata none = {0};
    HloMetadata copy = *md;
    copy.profile_type.data = NULL;
    return memcmp(&copy, &none, sizeof none) == 0;
}

HloStatus hlo_read_proto_metadata(HloProtoReader *r, const Xla__OpMetadata *from, const HloMetadata **out) {
    HloMetadata md;
    memset(&md, 0, sizeof md);  // padding too: empty ones are told by their bytes
    md.op_type = hlo_read_proto_text(r, from->op_type);
    md.op_name = hlo_read_proto_text(r, from->op_name);
    md.source_file = hlo_read_proto_text(r, from->source_file);
    md.deduplicated_name = hlo_read_proto_text(r, from->deduplicated_name);
    md.scheduling_name = hlo_read_proto_text(r, from->scheduling_name);
    md.source_line = from->source_line;
    md.source_end_line = from->source_end_line;
    md.source_column = from->source_column;
    md.source_end_column = from->source_end_column;
    md.stack_frame_id = from->stack_frame_id;
    md.profile_type = hlo_read_narrow_dims(r, (const int32_t *)from->profile_type, from->n_profile_type);
    for (size_t i = 0; i < md.profile_type.count; i++) {
        if (md.profile_type.data[i] < 0 || md.profile_type.data[i] > 3)
            return hlo_error(HLO_INVALID_ARGUMENT, "metadata: unknown profile_type %lld",
                             (long long)md.profile_type.data[i]);
    }
    if (from->metadata_payload)
        HLO_TRY(
            hlo_error_context(hlo_read_proto_payload(r, from->metadata_payload, &md.metadata_payload, &md.payload_size),
                              "metadata_payload"));
    HLO_TRY(keep_rest(r, from, &md));
    *out = is_empty(&md) ? NULL : hlo_arena_copy(r->arena, &md, sizeof md);
    return hlo_ok();
}

static int compare_entries(const void *left, const void *right) {
    const Xla__FrontendAttributes__MapEntry *const *a = left, *const *b = right;
    return strcmp((*a)->key, (*b)->key);
}

HloStringMap hlo_read_proto_map(HloProtoReader *r, const Xla__FrontendAttributes *from) {
    size_t count = from ? from->n_map : 0, kept = 0;
    if (count == 0) return (HloStringMap){0};
    // The last of several values of a key counts: they are entered from the back, and the sort keeps one.
    HloMap seen = {0};
    Xla__FrontendAttributes__MapEntry **entries = HLO_NEW_ARRAY(r->scratch, Xla__FrontendAttributes__MapEntry *, count);
    for (size_t i = count; i-- > 0;) {
        void **mark = hlo_map_at_text(r->scratch, &seen, from->map[i]->key, strlen(from->map[i]->key), NULL);
        if (!*mark) entries[kept++] = *mark = from->map[i];
    }
    if (kept > 1) qsort(entries, kept, sizeof *entries, compare_entries);
    HloStringPair *pairs = HLO_NEW_ARRAY(r->arena, HloStringPair, kept);
    for (size_t i = 0; i < kept; i++)
        pairs[i] = (HloStringPair){hlo_intern_z(r->m, entries[i]->key), hlo_intern_z(r->m, entries[i]->value)};
    return (HloStringMap){pairs, kept};
}

static const HloStringMap *read_map(HloProtoReader *r, const Xla__FrontendAttributes *from) {
    HloStringMap *map = HLO_NEW(r->arena, HloStringMap);
    *map = hlo_read_proto_map(r, from);
    return map;
}

static const HloStatistics *read_statistics(HloProtoReader *r, const Xla__StatisticsViz *from) {
    if (!from->n_statistics) return NULL;
    HloStatistic *items = HLO_NEW_ARRAY(r->arena, HloStatistic, from->n_statistics);
    for (size_t i = 0; i < from->n_statistics; i++)
        items[i] = (HloStatistic){hlo_intern_z(r->m, from->statistics[i]->stat_name), from->statistics[i]->stat_val};
    HloStatistics *statistics = HLO_NEW(r->arena, HloStatistics);
    *statistics = (HloStatistics){from->stat_index_to_visualize, items, from->n_statistics};
    return statistics;
}

static HloStatus read_accuracy(HloProtoReader *r, const Xla__ResultAccuracy *from, const HloAccuracy **out) {
    HloAccuracy *accuracy = HLO_NEW(r->arena, HloAccuracy);
    *out = accuracy;
    if (from->specs_case == XLA__RESULT_ACCURACY__SPECS_TOLERANCE) {
        const Xla__ResultAccuracy__Tolerance *t = from->tolerance;
        *accuracy = (HloAccuracy){true, 0, t->atol, t->rtol, t->ulps};
        if (t->atol < 0 || t->rtol < 0 || t->ulps < 0) return hlo_error(HLO_INVALID_ARGUMENT, "Negative tolerance");
        return hlo_ok();
    }
    accuracy->mode = from->specs_case == XLA__RESULT_ACCURACY__SPECS_MODE ? (int)from->mode : 0;
    if (accuracy->mode != 0 && accuracy->mode != 1)
        return hlo_error(HLO_INVALID_ARGUMENT, "Unknown accuracy mode %d", accuracy->mode);
    return hlo_ok();
}

// ---- origins ---------------------------------------------------------------------------------------------

// A tree of the form of the instruction's shape; leaves that no element names are unknown.
static HloOrigin *new_origin(HloProtoReader *r, const HloShape *shape) {
    HloOrigin *node = HLO_NEW(r->arena, HloOrigin);
    if (!hlo_shape_is_tuple(shape)) return node;
    HloOrigin **elements = HLO_NEW_ARRAY(r->arena, HloOrigin *, shape->rank);
    for (size_t i = 0; i < shape->rank; i++) elements[i] = new_origin(r, shape->elements[i]);
    node->tuple = true;
    node->elements = (const HloOrigin *const *)elements;
    node->element_count = shape->rank;
    return node;
}

static HloOrigin *origin_at(HloOrigin *node, const int64_t *index, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (index[i] < 0 || (uint64_t)index[i] >= node->element_count) return NULL;
        node = (HloOrigin *)(uintptr_t)node->elements[index[i]];
    }
    return node;
}

static HloStatus read_origin(HloProtoReader *r, const HloInstruction *inst, const Xla__OriginalValueProto *from,
                             const HloOrigin **out) {
    if (from->is_synthetic_call) {
        HloOrigin *origin = HLO_NEW(r->arena, HloOrigin);
        origin->synthetic_call = true;
        *out = origin;
        return hlo_ok();
    }
    HloOrigin *root = new_origin(r, inst->shape);
    *out = root;
    for (size_t i = 0; i < from->n_elements; i++) {
        const Xla__OriginalValueElementProto *element = from->elements[i];
        HloOrigin *node = origin_at(root, element->shape_index, element->n_shape_index);
        if (!node) return hlo_error(HLO_INVALID_ARGUMENT, "elements[%zu]: the shape has no such index", i);
        const Xla__OriginalArrayProto *array = element->original_array;
        if (!array) continue;
        if (node->tuple) return hlo_error(HLO_INVALID_ARGUMENT, "elements[%zu]: an original_array for a tuple", i);
        node->name = hlo_intern_z(r->m, array->instruction_name);
        node->index = hlo_read_proto_dims(r, array->shape_index, array->n_shape_index);
    }
    return hlo_ok();
}

// ---- by kind ---------------------------------------------------------------------------------------------

HloStatus hlo_read_proto_struct(HloProtoReader *r, HloAttrKind kind, const HloInstruction *inst, const void *message,
                                const void **out) {
    *out = NULL;
    switch ((int)kind) {
    case HLO_KIND_WINDOW: *out = read_window(r, message); break;
    case HLO_KIND_PADDING: *out = read_padding(r, message); break;
    case HLO_KIND_SPARSITY: *out = read_sparsity(r, message); break;
    case HLO_KIND_STRING_MAP: *out = read_map(r, message); break;
    case HLO_KIND_STATISTICS: *out = read_statistics(r, message); break;
    case HLO_KIND_DIM_LABELS: return read_conv_dims(r, inst, message, (const HloConvDims **)out);
    case HLO_KIND_METADATA: return hlo_read_proto_metadata(r, message, (const HloMetadata **)out);
    case HLO_KIND_ACCURACY: return read_accuracy(r, message, (const HloAccuracy **)out);
    case HLO_KIND_ORIGIN: return read_origin(r, inst, message, (const HloOrigin **)out);
    default: break;
    }
    return hlo_ok();
}

// Structs of attributes as messages: windows, metadata, origins and the like.

#include "writer.h"

// ---- windows, slices, padding ----------------------------------------------------------------------------

void hlo_write_window(HloProtoWriter *w, const HloWindow *window, Xla__Window *out) {
    out->n_dimensions = window->rank;
    out->dimensions = HLO_NEW_LIST(w, Xla__WindowDimension, window->rank);
    for (size_t d = 0; d < window->rank; d++) {
        const HloWindowDim *from = &window->dims[d];
        Xla__WindowDimension *to = hlo_message_new(w->arena, &xla__window_dimension__descriptor);
        to->size = from->size;
        to->stride = from->stride;
        to->padding_low = from->pad_low;
        to->padding_high = from->pad_high;
        to->window_dilation = from->window_dilation;
        to->base_dilation = from->base_dilation;
        to->window_reversal = from->reversal;
        out->dimensions[d] = to;
    }
}

void hlo_write_conv_dims(const HloConvDims *dims, Xla__ConvolutionDimensionNumbers *out) {
    out->input_batch_dimension = dims->input_batch;
    out->input_feature_dimension = dims->input_feature;
    out->kernel_input_feature_dimension = dims->kernel_input_feature;
    out->kernel_output_feature_dimension = dims->kernel_output_feature;
    out->output_batch_dimension = dims->output_batch;
    out->output_feature_dimension = dims->output_feature;
    HLO_SET_DIMS(out, input_spatial_dimensions, ((HloDims){dims->input_spatial, dims->spatial_count}));
    HLO_SET_DIMS(out, kernel_spatial_dimensions, ((HloDims){dims->kernel_spatial, dims->spatial_count}));
    HLO_SET_DIMS(out, output_spatial_dimensions, ((HloDims){dims->output_spatial, dims->spatial_count}));
}

void hlo_write_padding(HloProtoWriter *w, const HloPadding *padding, Xla__PaddingConfig *out) {
    out->n_dimensions = padding->rank;
    out->dimensions = HLO_NEW_LIST(w, Xla__PaddingConfig__PaddingConfigDimension, padding->rank);
    for (size_t d = 0; d < padding->rank; d++) {
        Xla__PaddingConfig__PaddingConfigDimension *to =
            hlo_message_new(w->arena, &xla__padding_config__padding_config_dimension__descriptor);
        to->edge_padding_low = padding->dims[d].low;
        to->edge_padding_high = padding->dims[d].high;
        to->interior_padding = padding->dims[d].interior;
        out->dimensions[d] = to;
    }
}

void hlo_write_slice(HloProtoWriter *w, const HloSlice *slice, Xla__HloInstructionProto *out) {
    out->n_slice_dimensions = slice->rank;
    out->slice_dimensions = HLO_NEW_LIST(w, Xla__HloInstructionProto__SliceDimensions, slice->rank);
    for (size_t d = 0; d < slice->rank; d++) {
        Xla__HloInstructionProto__SliceDimensions *to =
            hlo_message_new(w->arena, &xla__hlo_instruction_proto__slice_dimensions__descriptor);
        to->start = slice->dims[d].start;
        to->limit = slice->dims[d].limit;
        to->stride = slice->dims[d].stride;
        out->slice_dimensions[d] = to;
    }
}

static Xla__SparsityConfig__TensorSparsityConfig *write_sparsity_operand(HloProtoWriter *w,
                                                                         const HloSparsityOperand *operand) {
    if (!operand->present) return NULL;
    Xla__SparsityConfig__TensorSparsityConfig *out =
        hlo_message_new(w->arena, &xla__sparsity_config__tensor_sparsity_config__descriptor);
    out->num_non_zero = operand->nonzeros;
    out->block_size = operand->block_size;
    out->dimension = operand->dimension;
    out->stride = operand->stride;
    return out;
}

void hlo_write_sparsity(HloProtoWriter *w, const HloSparsity *sparsity, Xla__SparsityConfig *out) {
    out->lhs = write_sparsity_operand(w, &sparsity->lhs);
    out->rhs = write_sparsity_operand(w, &sparsity->rhs);
}

void hlo_write_operand_aliases(HloProtoWriter *w, const HloAliases *aliases, Xla__HloInstructionProto *out) {
    out->n_output_operand_aliasing = aliases->count;
    out->output_operand_aliasing = HLO_NEW_LIST(w, Xla__OutputOperandAliasing, aliases->count);
    for (size_t i = 0; i < aliases->count; i++) {
        Xla__OutputOperandAliasing *to = hlo_message_new(w->arena, &xla__output_operand_aliasing__descriptor);
        HLO_SET_DIMS(to, output_shape_index, aliases->items[i].output);
        to->operand_index = aliases->items[i].parameter;
        HLO_SET_DIMS(to, operand_shape_index, aliases->items[i].input);
        out->output_operand_aliasing[i] = to;
    }
}

// ---- annotations -----------------------------------------------------------------------------------------

// Metadata payloads are shared by the whole module and named by number.
static Xla__Payload *write_payload(HloProtoWriter *w, const char *text, size_t size) {
    void **number = hlo_map_at_text(w->arena, &w->payloads, text, size, NULL);
    if (!*number) {
        ProtobufCBinaryData *data = HLO_NEW(w->arena, ProtobufCBinaryData);
        *data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)text};
        hlo_vec_push(w->arena, &w->payload_list, data);
        *number = (void *)(uintptr_t)w->payload_list.count;
    }
    Xla__Payload *out = hlo_message_new(w->arena, &xla__payload__descriptor);
    out->payload_source_case = XLA__PAYLOAD__PAYLOAD_SOURCE_ID;
    out->id = (int64_t)(uintptr_t)*number - 1;
    return out;
}

void hlo_write_metadata(HloProtoWriter *w, const HloMetadata *md, Xla__OpMetadata *out) {
    if (md->proto_rest.size) {
        // What the module does not model came in binary form and was checked when it was read.
        HloUnknown unknown = {0};
        size_t progress;
        void *rest = NULL;
        hlo_writer_fail(
            w, hlo_wire_read(w->arena, &xla__op_metadata__descriptor, md->proto_rest, &rest, &unknown, &progress));
        if (rest) *out = *(Xla__OpMetadata *)rest;
    }
    HLO_SET_TEXT(out, op_type, md->op_type);
    HLO_SET_TEXT(out, op_name, md->op_name);
    HLO_SET_TEXT(out, source_file, md->source_file);
    HLO_SET_TEXT(out, deduplicated_name, md->deduplicated_name);
    HLO_SET_TEXT(out, scheduling_name, md->scheduling_name);
    out->source_line = md->source_line;
    out->source_end_line = md->source_end_line;
    out->source_column = md->source_column;
    out->source_end_column = md->source_end_column;
    out->stack_frame_id = md->stack_frame_id;
    out->n_profile_type = md->profile_type.count;
    out->profile_type = (Xla__ProfileType *)hlo_narrow_dims(w->arena, md->profile_type);
    if (md->metadata_payload) out->metadata_payload = write_payload(w, md->metadata_payload, md->payload_size);
}

void hlo_write_string_map(HloProtoWriter *w, const HloStringMap *map, Xla__FrontendAttributes *out) {
    out->n_map = map->count;
    out->map = HLO_NEW_LIST(w, Xla__FrontendAttributes__MapEntry, map->count);
    for (size_t i = 0; i < map->count; i++) {
        Xla__FrontendAttributes__MapEntry *entry =
            hlo_message_new(w->arena, &xla__frontend_attributes__map_entry__descriptor);
        HLO_SET_TEXT(entry, key, map->pairs[i].key);
        HLO_SET_TEXT(entry, value, map->pairs[i].value);
        out->map[i] = entry;
    }
}

void hlo_write_statistics(HloProtoWriter *w, const HloStatistics *statistics, Xla__StatisticsViz *out) {
    out->stat_index_to_visualize = statistics->visualizing_index;
    out->n_statistics = statistics->count;
    out->statistics = HLO_NEW_LIST(w, Xla__Statistic, statistics->count);
    for (size_t i = 0; i < statistics->count; i++) {
        Xla__Statistic *to = hlo_message_new(w->arena, &xla__statistic__descriptor);
        HLO_SET_TEXT(to, stat_name, statistics->items[i].name);
        to->stat_val = statistics->items[i].value;
        out->statistics[i] = to;
    }
}

void hlo_write_accuracy(HloProtoWriter *w, const HloAccuracy *accuracy, Xla__ResultAccuracy *out) {
    if (!accuracy->is_tolerance) {
        out->specs_case = XLA__RESULT_ACCURACY__SPECS_MODE;
        out->mode = (Xla__ResultAccuracy__Mode)accuracy->mode;
        return;
    }
    out->specs_case = XLA__RESULT_ACCURACY__SPECS_TOLERANCE;
    out->tolerance = hlo_message_new(w->arena, &xla__result_accuracy__tolerance__descriptor);
    out->tolerance->atol = accuracy->atol;
    out->tolerance->rtol = accuracy->rtol;
    out->tolerance->ulps = accuracy->ulps;
}

Xla__OriginalArrayProto *hlo_write_original_array(HloProtoWriter *w, const char *name, HloDims index) {
    Xla__OriginalArrayProto *out = hlo_message_new(w->arena, &xla__original_array_proto__descriptor);
    HLO_SET_TEXT(out, instruction_name, name);
    HLO_SET_DIMS(out, shape_index, index);
    return out;
}

// ---- origins ---------------------------------------------------------------------------------------------

// A node of an origin and where it stands.
typedef struct Place {
    const HloOrigin *node;
    HloDims index;
} Place;

static HloDims index_below(HloArena *arena, HloDims index, size_t i) {
    int64_t *data = HLO_NEW_ARRAY(arena, int64_t, index.count + 1);
    if (index.count) memcpy(data, index.data, index.count * sizeof *data);
    data[index.count] = (int64_t)i;
    return (HloDims){data, index.count + 1};
}

static Xla__OriginalValueElementProto *write_origin_node(HloProtoWriter *w, const Place *place) {
    Xla__OriginalValueElementProto *out = hlo_message_new(w->arena, &xla__original_value_element_proto__descriptor);
    HLO_SET_DIMS(out, shape_index, place->index);
    if (place->node->name) out->original_array = hlo_write_original_array(w, place->node->name, place->node->index);
    return out;
}

// Every node has an element, tuples too, in pre-order.
void hlo_write_origin(HloProtoWriter *w, const HloOrigin *origin, Xla__OriginalValueProto *out) {
    // An index is written for each node, so deep origins would grow with the square of their depth.
    enum { DEEPEST = HLO_MESSAGE_DEPTH };
    HloVec elements = {0}, work = {0};
    out->is_synthetic_call = origin->synthetic_call;
    if (origin->synthetic_call) return;
    Place *first = HLO_NEW(w->arena, Place);
    first->node = origin;
    hlo_vec_push(w->arena, &work, first);
    while (work.count) {
        const Place *at = hlo_vec_pop(&work);
        if (at->index.count > DEEPEST) {
            hlo_writer_fail(w, hlo_error(HLO_RESOURCE_EXHAUSTED, "an origin is nested deeper than %d", DEEPEST));
            return;
        }
        hlo_vec_push(w->arena, &elements, write_origin_node(w, at));
        for (size_t i = at->node->element_count; i-- > 0;) {
            Place *below = HLO_NEW(w->arena, Place);
            *below = (Place){at->node->elements[i], index_below(w->arena, at->index, i)};
            hlo_vec_push(w->arena, &work, below);
        }
    }
    out->n_elements = elements.count;
    out->elements = (Xla__OriginalValueElementProto **)elements.items;
}

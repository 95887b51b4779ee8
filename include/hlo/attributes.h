// The values of attributes: one small struct per kind that is more than a number.
//
// All of them are immutable once stored and live in the module's arena. Equality, hashing and copying between
// modules go by kind (hlo_attr_equal, hlo_attr_hash, hlo_attr_import), so whoever adds a kind adds one case
// in each of: attribute values (lib/ir/attributes.c), reader (lib/text), writer (lib/text).
#ifndef HLO_ATTRIBUTES_H
#define HLO_ATTRIBUTES_H

#include "hlo/arena.h"
#include "hlo/literal.h"
#include "hlo/opcodes.h"
#include "hlo/shape.h"

// ---- lists ----------------------------------------------------------------------------------------------

typedef struct HloIntLists {
    const HloDims *lists;
    size_t count;
} HloIntLists;

typedef struct HloShapeList {
    const HloShape *const *shapes;
    size_t count;
} HloShapeList;

typedef struct HloStringPair {
    const char *key;
    const char *value;
} HloStringPair;

// Sorted by key, keys unique.
typedef struct HloStringMap {
    const HloStringPair *pairs;
    size_t count;
} HloStringMap;

// ---- windows, slices, padding ---------------------------------------------------------------------------

typedef struct HloWindowDim {
    int64_t size;
    int64_t stride;
    int64_t pad_low, pad_high;  // in elements, may be negative
    int64_t base_dilation;      // lhs_dilate
    int64_t window_dilation;    // rhs_dilate
    bool reversal;
} HloWindowDim;

typedef struct HloWindow {
    const HloWindowDim *dims;
    size_t rank;
} HloWindow;

typedef struct HloSliceDim {
    int64_t start, limit;  // in elements, limit exclusive
    int64_t stride;
} HloSliceDim;

typedef struct HloSlice {
    const HloSliceDim *dims;
    size_t rank;
} HloSlice;

typedef struct HloPaddingDim {
    int64_t low, high;  // edge padding in elements, may be negative
    int64_t interior;   // >= 0
} HloPaddingDim;

typedef struct HloPadding {
    const HloPaddingDim *dims;
    size_t rank;
} HloPadding;

// Which dimension of each array plays which role in a convolution.
typedef struct HloConvDims {
    int64_t input_batch, input_feature;
    int64_t kernel_input_feature, kernel_output_feature;
    int64_t output_batch, output_feature;
    const int64_t *input_spatial, *kernel_spatial, *output_spatial;  // spatial_count entries each
    size_t spatial_count;
    // Ranks as written; positions that no role names print `?`.
    size_t input_rank, kernel_rank, output_rank;
} HloConvDims;

typedef struct HloSparsityOperand {
    bool present;
    int64_t nonzeros, block_size;  // sparsity=NxM
    int64_t dimension, stride;
} HloSparsityOperand;

typedef struct HloSparsity {
    HloSparsityOperand lhs, rhs;
} HloSparsity;

// ---- aliases --------------------------------------------------------------------------------------------

// Output index -> (parameter or operand number, index in it).
typedef struct HloAlias {
    HloDims output;
    int64_t parameter;
    HloDims input;
    bool must;  // module header only: must-alias instead of may-alias
} HloAlias;

typedef struct HloAliases {
    const HloAlias *items;
    size_t count;
} HloAliases;

// ---- devices --------------------------------------------------------------------------------------------

// Device order without a list: iota over the product of `reshape`, reshaped to it, transposed by `perm`, read
// row-major. perm.count is 0 for the identity.
typedef struct HloIota {
    HloDims reshape;
    HloDims perm;
} HloIota;

typedef struct HloMeshAxis {
    const char *name;
    int64_t size;
} HloMeshAxis;

typedef struct HloMesh {
    const HloMeshAxis *axes;
    size_t axis_count;
    HloDims device_ids;  // explicit order; count 0: none
    HloIota iota;        // device_ids=([…]T(…)); reshape.count 0: none
    bool maximal;        // maximal_mesh[device_id=N]; device_ids holds N
} HloMesh;

// One axis, or the part of it with `size` after `pre` (0, 0: the whole axis).
typedef struct HloAxisRef {
    int64_t axis;  // index into the mesh's axes
    int64_t pre, size;
} HloAxisRef;

typedef struct HloAxisList {
    const HloAxisRef *refs;
    size_t count;
} HloAxisList;

typedef enum HloGroupsForm {
    HLO_GROUPS_LIST,  // {{0,1},{2,3}}
    HLO_GROUPS_IOTA,  // [2,4]<=[8]
    HLO_GROUPS_MESH,  // mesh['x'=2] {'x'}
} HloGroupsForm;

typedef struct HloGroups {
    HloGroupsForm form;
    HloIntLists lists;     // LIST
    int64_t groups, size;  // IOTA: [groups,size]
    HloIota iota;          // IOTA
    const HloMesh *mesh;   // MESH
    HloAxisList axes;      // MESH
} HloGroups;

// The groups as lists of device numbers, in `arena`; false when there are too many of them (more than a million).
bool hlo_groups_expand(HloArena *arena, const HloGroups *groups, HloIntLists *out);

typedef enum HloShardingKind {
    HLO_SHARDING_REPLICATED,
    HLO_SHARDING_MAXIMAL,
    HLO_SHARDING_MANUAL,
    HLO_SHARDING_UNKNOWN,
    HLO_SHARDING_UNREDUCED,
    HLO_SHARDING_TILED,
    HLO_SHARDING_TUPLE,
    HLO_SHARDING_NAMED,
} HloShardingKind;

typedef enum HloSubgroup {  // in the order in which normal forms list them
    HLO_SUBGROUP_MAXIMAL,
    HLO_SUBGROUP_MANUAL,
    HLO_SUBGROUP_UNREDUCED,
    HLO_SUBGROUP_REPLICATED,
} HloSubgroup;

typedef enum HloShardGroup { HLO_SHARD_GROUP_NONE, HLO_SHARD_AS, HLO_SHARD_LIKE } HloShardGroup;
typedef enum HloReduction { HLO_REDUCTION_SUM, HLO_REDUCTION_MAX, HLO_REDUCTION_MIN } HloReduction;

typedef struct HloMetadata HloMetadata;

// One dimension of a named sharding.
typedef struct HloNamedDim {
    HloAxisList axes;
    bool open;  // ends in `?`
} HloNamedDim;

typedef struct HloSharding HloSharding;
struct HloSharding {
    HloShardingKind kind;
    // TILED: tile.count dimensions, of which the last subgroup_count are subgroups.
    HloDims tile;
    HloDims devices;  // explicit list, or MAXIMAL's one device; count 0 with TILED: iota
    HloIota iota;
    const HloSubgroup *subgroups;
    size_t subgroup_count;
    bool last_tile_dim_replicate;  // the one subgroup is REPLICATED and is written in the short form
    HloReduction reduction;
    HloShardGroup group;
    int64_t group_id;
    const HloMetadata *const *metadata;
    size_t metadata_count;
    const HloSharding *const *elements;  // TUPLE: one per leaf
    size_t element_count;
    // NAMED
    const HloMesh *mesh;
    const HloNamedDim *named_dims;
    size_t named_dim_count;
    HloAxisList replicated_axes, unreduced_axes, manual_axes;
    bool named_replicated, named_manual, named_unreduced;  // `{mesh, replicated}` and so on
};

// `domain={kind="sharding", entry=…, exit=…}`; entry is the user's side.
typedef struct HloDomain {
    const char *kind;
    const HloSharding *entry, *exit;
} HloDomain;

// ---- annotations ----------------------------------------------------------------------------------------

// Where an instruction came from. Empty text and 0 mean absent.
struct HloMetadata {
    const char *op_type, *op_name, *source_file;
    int32_t source_line, source_end_line, source_column, source_end_column;
    HloDims profile_type;
    const char *deduplicated_name, *scheduling_name;
    int32_t stack_frame_id;  // into the module's frames, 1-based
    const char *metadata_payload;
    size_t payload_size;
    HloStringView proto_rest;  // fields that only protocol buffers have, in binary form; text leaves them out
};

// The value an instruction had before optimization: a leaf or a tuple of them.
typedef struct HloOrigin HloOrigin;
struct HloOrigin {
    bool tuple, synthetic_call;
    const char *name;  // leaf; NULL: unknown `{}`
    HloDims index;     // leaf
    const HloOrigin *const *elements;
    size_t element_count;
};

typedef struct HloStatistic {
    const char *name;
    double value;
} HloStatistic;

typedef struct HloStatistics {
    int64_t visualizing_index;
    const HloStatistic *items;
    size_t count;
} HloStatistics;

typedef struct HloAccuracy {
    bool is_tolerance;
    int mode;  // 0 default, 1 highest
    double atol, rtol;
    int64_t ulps;
} HloAccuracy;

// ---- the stored form ------------------------------------------------------------------------------------

// One attribute of one instruction. Which member is live follows from the kind of `id`.
typedef struct HloAttr {
    HloAttrId id;
    union {
        int64_t i;
        double f;
        const char *text;
        const void *data;  // the struct named at the kind in opcodes.h
    };
} HloAttr;

// The same id and the same value: texts, lists and structs are compared by content. Equal attributes hash alike.
bool hlo_attr_equal(HloAttr a, HloAttr b);
uint64_t hlo_attr_hash(HloAttr attr);
// True when its text form says nothing: what else it may hold (lines without a file) is not shown alone.
bool hlo_metadata_is_empty(const HloMetadata *md);
// Either may be NULL. Metadata of shardings is no part of them.
bool hlo_sharding_equal(const HloSharding *a, const HloSharding *b);
// The same numbers in the same order.
bool hlo_dims_equal(HloDims a, HloDims b);
// The same numbers in memory of the arena.
HloDims hlo_dims_copy(HloArena *arena, HloDims dims);
// The position of `value`, or -1.
int64_t hlo_dims_find(HloDims dims, int64_t value);
static inline bool hlo_dims_has(HloDims dims, int64_t value) {
    return hlo_dims_find(dims, value) >= 0;
}

// A deep copy whose strings, shapes and structs belong to the given module.
typedef struct HloModule HloModule;
HloAttr hlo_attr_import(HloModule *m, HloAttr attr);

#endif

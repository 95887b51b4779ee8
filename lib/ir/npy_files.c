// Values of any shape in folders of .npy files.

#include "hlo/npy.h"

#include <errno.h>
#include <sys/stat.h>

#include "hlo/file.h"

HloVec hlo_literal_leaves(HloArena *arena, HloLiteral *value) {
    HloVec leaves = {0}, stack = {0};
    hlo_vec_push(arena, &stack, value);
    while (stack.count) {
        HloLiteral *literal = hlo_vec_pop(&stack);
        if (hlo_shape_is_array(literal->shape)) hlo_vec_push(arena, &leaves, literal);
        if (!hlo_shape_is_tuple(literal->shape)) continue;
        for (size_t k = literal->shape->rank; k-- > 0;) hlo_vec_push(arena, &stack, literal->elements[k]);
    }
    return leaves;
}

HloStatus hlo_npy_read(HloArena *arena, const char *path, const HloShape *shape, HloLiteral **out) {
    HloBuffer data = {0};
    HloStatus status = hlo_file_read(path, &data);
    HloStringView view = {data.data ? data.data : "", data.size};
    if (hlo_is_ok(status)) status = hlo_error_context(hlo_npy_parse(arena, shape, view, out), "%s", path);
    hlo_buffer_free(&data);
    return status;
}

HloStatus hlo_npy_read_folder(HloArena *arena, const char *dir, HloLiteral *value, size_t *next) {
    HloVec leaves = hlo_literal_leaves(arena, value);
    for (size_t k = 0; k < leaves.count; k++, ++*next) {
        HloLiteral *leaf = leaves.items[k], *read;
        HLO_TRY(hlo_npy_read(arena, hlo_arena_printf(arena, "%s/%zu.npy", dir, *next), leaf->shape, &read));
        *leaf = *read;
    }
    return hlo_ok();
}

HloStatus hlo_npy_write_folder(HloArena *scratch, const char *dir, HloLiteral *value, size_t *next) {
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) return hlo_error_errno("cannot create %s", dir);
    HloVec leaves = hlo_literal_leaves(scratch, value);
    for (size_t k = 0; k < leaves.count; k++) {
        HloBuffer data = {0};
        HloStatus status = hlo_npy_print(leaves.items[k], &data);
        const char *path = hlo_arena_printf(scratch, "%s/%zu.npy", dir, *next);
        if (hlo_is_ok(status)) status = hlo_file_write(path, (HloStringView){data.data, data.size});
        hlo_buffer_free(&data);
        HLO_TRY(status);
        ++*next;
    }
    return hlo_ok();
}

// Arrays in .npy files, versions 1 and 2 of the format.
//
// Types that numpy lacks are stored by their bits: bf16 as uint16, every f8 type as uint8, and s1 … s4, u1 … u4 and
// the other floats below a byte as one byte per value.
#ifndef HLO_NPY_H
#define HLO_NPY_H

#include "hlo/buffer.h"
#include "hlo/containers.h"
#include "hlo/literal.h"
#include "hlo/status.h"

// Reads an array of the given shape (dimensions and element type must agree; column-major files are accepted).
// INVALID_ARGUMENT says what does not fit.
HLO_MUST_USE HloStatus hlo_npy_parse(HloArena *arena, const HloShape *shape, HloStringView data, HloLiteral **out);

// Appends an array literal as a version 1 file, row-major.
HLO_MUST_USE HloStatus hlo_npy_print(const HloLiteral *literal, HloBuffer *out);

// ---- files ----------------------------------------------------------------------------------------------

// Reads one file; messages start with its path.
HLO_MUST_USE HloStatus hlo_npy_read(HloArena *arena, const char *path, const HloShape *shape, HloLiteral **out);

// A value of any shape as files DIR/N.npy, one per array leaf in order. Reading fills the leaves of `value` from
// number *next on and moves it behind the last; writing likewise, and it makes the folder when there is none.
HLO_MUST_USE HloStatus hlo_npy_read_folder(HloArena *arena, const char *dir, HloLiteral *value, size_t *next);
HLO_MUST_USE HloStatus hlo_npy_write_folder(HloArena *scratch, const char *dir, HloLiteral *value, size_t *next);

// The array leaves of a value in order, as HloLiteral *.
HloVec hlo_literal_leaves(HloArena *arena, HloLiteral *value);

#endif

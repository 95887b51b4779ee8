// Elements of a literal in the order of its layout, as protocol buffers hold them, and in row-major order, as we do.
#ifndef HLO_IR_LITERAL_ORDER_H
#define HLO_IR_LITERAL_ORDER_H

#include "hlo/literal.h"

// Whether both orders are the same; a shape without layout has the default one.
bool hlo_order_is_plain(const HloShape *shape);

// A copy of an array literal whose element p is the one at place p of the layout; `back`: the other way round.
HLO_MUST_USE HloStatus hlo_literal_reorder(HloArena *arena, const HloLiteral *literal, bool back, HloLiteral **out);

#endif

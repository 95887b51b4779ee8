// Literals as they stand behind an unoptimized snapshot: in memory form, not as messages (protobuf chapter, §10).
#ifndef HLO_PROTO_NATIVE_LITERAL_H
#define HLO_PROTO_NATIVE_LITERAL_H

#include "reader.h"

// One literal for each descriptor, back to back; the bytes must end with the last.
HLO_MUST_USE HloStatus hlo_read_native_literals(HloProtoReader *r, const Xla__HloInputs *inputs, HloStringView bytes,
                                                const HloLiteral *const **out);

#endif

// Any bytes as a protocol buffer, binary or text: what can be read can be checked and printed, and what is written from
// it reads back as the same module.
//
//     bytes -> module -> first -> protocol buffer -> module -> second

#include "fuzz.h"
#include "hlo/proto.h"

static HloBuffer print(const HloModule *m) {
    HloPrintOptions options = hlo_print_default();
    options.large_constants = has_small_constants(m);
    HloBuffer out = {0};
    hlo_print_module(m, &options, &out);
    return out;
}

static void check_round_trip(const HloModule *m, HloProtoForm form) {
    HloBuffer bytes = {0}, first = print(m);
    char message[2000];
    HloModule *again = NULL;
    HloCode code = take_code(hlo_proto_write_module(m, form, &bytes), message, sizeof message);
    if (code != HLO_OK) {
        // A module alone may be nested one level deeper than one inside an HloProto.
        MUST(strstr(message, "nested"), "%s\n", message);
    } else {
        HloStringView view = {bytes.data, bytes.size};
        code = take_code(hlo_proto_read_module(view, form, NULL, &again, NULL), message, sizeof message);
        MUST(code == HLO_OK, "%s\n---- text\n%s", message, first.data);
        HloBuffer second = print(again);
        // The text form has one word for all that are not numbers.
        bool may_differ = form == HLO_PROTO_TEXT && strstr(first.data, "nan");
        MUST(may_differ || strcmp(first.data, second.data) == 0, "---- first\n%s---- second\n%s", first.data, second.data);
        hlo_buffer_free(&second);
        hlo_module_free(again);
    }
    hlo_buffer_free(&bytes);
    hlo_buffer_free(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double start = processor_seconds();
    static const HloProtoForm forms[] = {HLO_PROTO_BINARY, HLO_PROTO_TEXT};
    for (size_t i = 0; i < HLO_COUNT(forms); i++) {
        HloModule *m = NULL;
        HloSnapshot snapshot;
        HloBuffer notes = {0};
        HloProtoRead options = {.notes = &notes};
        HloStringView bytes = {(const char *)data, size};
        if (take_code(hlo_proto_read_module(bytes, forms[i], &options, &m, &snapshot), NULL, 0) == HLO_OK) {
            take_code(hlo_verify_module(m, &(HloVerifyOptions){.layout_sensitive = true}), NULL, 0);
            check_round_trip(m, HLO_PROTO_BINARY);
            check_round_trip(m, HLO_PROTO_TEXT);
            hlo_module_free(m);
        }
        hlo_buffer_free(&notes);
    }
    MUST(processor_seconds() - start < INPUT_SECONDS);
    return 0;
}

// Executions with their values (dump chapter, §8.1).

#include "lib/dump/dump.h"

#include "hlo/proto.h"

bool hlo_dump_wants_snapshots(const HloDump *dump) {
    return hlo_dump_wants(dump) && dump->options->xla_dump_hlo_snapshots;
}

// As in the reference a signed 32-bit number that depends on the module's text; which one, only it knows.
static HloStatus run_number(const HloDump *dump, const HloModule *m, int32_t *out) {
    HloBuffer text = {0};
    hlo_print_module(m, &dump->print, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) *out = (int32_t)hlo_hash_bytes(text.data, text.size, 0);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus write_snapshot(HloDump *dump, int32_t number, HloStringView bytes) {
    HloBuffer suffix = {0};
    hlo_putf(&suffix, "snapshot.%d.pb", (int)number);
    HloStatus status = hlo_buffer_status(&suffix);
    if (hlo_is_ok(status)) status = hlo_dump_bytes(dump, suffix.data, bytes);
    hlo_buffer_free(&suffix);
    return status;
}

HloStatus hlo_dump_snapshot(HloDump *dump, const HloModule *m, const HloLiteral *const *arguments, size_t count,
                            const HloLiteral *result) {
    if (!hlo_dump_wants_snapshots(dump)) return hlo_ok();
    int32_t number = 0;
    HLO_TRY(run_number(dump, m, &number));
    HloBuffer bytes = {0};
    HloStatus status = hlo_proto_write_snapshot(m, arguments, count, result, &bytes);
    if (hlo_is_ok(status)) status = write_snapshot(dump, number, (HloStringView){bytes.data, bytes.size});
    hlo_buffer_free(&bytes);
    return status;
}

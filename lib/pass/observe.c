// Making and freeing observers.

#include <stdlib.h>

#include "lib/pass/observe.h"

HloStatus hlo_observer_new(size_t size, HloPassObserver **out) {
    HloPassObserver *observer = calloc(1, sizeof *observer);
    void *data = calloc(1, size);
    if (!observer || !data) {
        free(observer);
        free(data);
        return hlo_out_of_memory();
    }
    observer->data = data;
    *out = observer;
    return hlo_ok();
}

void hlo_observer_free(HloPassObserver *observer) {
    if (!observer) return;
    if (observer->free) observer->free(observer->data);
    free(observer->data);
    free(observer);
}

HloStatus hlo_observer_guarded(HloArena *arena, HloStatus (*body)(void *data), void *data) {
    return hlo_guarded((HloArena *const[]){arena, NULL}, body, data);
}

HloStatus hlo_observer_hash(const HloModule *m, bool with_names, uint64_t *out) {
    HloBuffer text = {0};
    HloPrintOptions print = with_names ? hlo_print_dump() : hlo_print_canonical();
    print.large_constants = true;
    hlo_print_module(m, &print, &text);
    HloStatus status = hlo_buffer_status(&text);
    *out = hlo_hash_bytes(text.data, text.size, 0);
    hlo_buffer_free(&text);
    return status;
}

static void write_to_stream(void *data, const char *text, size_t size) {
    fwrite(text, 1, size, data);
    fflush(data);
}

static void append(void *data, const char *text, size_t size) {
    hlo_put(data, text, size);
}

HloSink hlo_stream_sink(FILE *stream) {
    return (HloSink){write_to_stream, stream};
}

HloSink hlo_buffer_sink(HloBuffer *out) {
    return (HloSink){append, out};
}

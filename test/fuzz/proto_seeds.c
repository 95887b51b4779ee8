// Writes modules as seeds for the target `proto`: FILE.pb, and FILE.pbtxt for every fourth, beside each HLO text. Texts
// that cannot be read are skipped.
#include "hlo/file.h"
#include "hlo/load.h"

static HloStatus write_seed(const HloModule *m, HloProtoForm form, const char *path, const char *extension) {
    HloArena arena = {0};
    HloBuffer bytes = {0};
    HloStatus status = hlo_proto_write_module(m, form, &bytes);
    if (hlo_is_ok(status))
        status =
            hlo_file_write(hlo_arena_printf(&arena, "%s%s", path, extension), (HloStringView){bytes.data, bytes.size});
    hlo_buffer_free(&bytes);
    hlo_arena_free(&arena);
    return status;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        HloModuleList modules = {0};
        HloStatus status = hlo_modules_load(argv[i], &(HloLoadOptions){.format = "hlo"}, &modules);
        if (hlo_is_ok(status)) status = write_seed(modules.items[0], HLO_PROTO_BINARY, argv[i], ".pb");
        if (hlo_is_ok(status) && i % 4 == 0) status = write_seed(modules.items[0], HLO_PROTO_TEXT, argv[i], ".pbtxt");
        hlo_status_free(status);
        hlo_module_list_free(&modules);
    }
    return 0;
}

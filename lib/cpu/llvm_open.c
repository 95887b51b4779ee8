// The door to code generation: finds and opens the loadable part.
//
// It is hlo_llvm.so in the folder lib/ beside the folder of the running program, in a build tree as in an installation,
// and exports one symbol, `const HloLlvm hlo_llvm`. It stays open until the process ends.

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hlo/cpu.h"

static HloStatus find_part(char *path, size_t room) {
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0) return hlo_error_errno("cannot find the running program");
    program[size] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
    }
    int written = snprintf(path, room, "%s/lib/hlo_llvm.so", program);
    if (written < 0 || (size_t)written >= room) return hlo_error(HLO_NOT_FOUND, "the path of hlo_llvm.so is too long");
    return hlo_ok();
}

HloStatus hlo_llvm_open(const HloLlvm **out) {
    char path[PATH_MAX];
    HLO_TRY(find_part(path, sizeof path));
    if (access(path, R_OK) != 0) return hlo_error(HLO_NOT_FOUND, "code generation is not installed: no file %s", path);
    void *part = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!part) return hlo_error(HLO_UNAVAILABLE, "code generation cannot be opened: %s", dlerror());
    const HloLlvm *table = dlsym(part, "hlo_llvm");
    if (!table) return hlo_error(HLO_UNAVAILABLE, "%s does not offer code generation: %s", path, dlerror());
    *out = table;
    return hlo_ok();
}

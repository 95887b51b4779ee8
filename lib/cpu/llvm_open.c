// The door to code generation: finds and opens the loadable part.
//
// It is hlo_llvm.so in the folder lib/ (or lib/hlo/) beside the folder of the running program, in a build tree as in an
// installation, or the file that the environment variable HLO_LLVM_PLUGIN names. It exports one symbol, `const HloLlvm
// hlo_llvm`, and stays open until the process ends.

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hlo/cpu.h"

// The folder above the program's.
static HloStatus find_home(char *home, size_t room) {
    ssize_t size = readlink("/proc/self/exe", home, room - 1);
    if (size < 0) return hlo_error_errno("cannot find the running program");
    home[size] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(home, '/');
        if (slash) *slash = 0;
    }
    return hlo_ok();
}

static HloStatus find_part(char *path, size_t room) {
    static const char *const places[] = {"lib/hlo_llvm.so", "lib/hlo/hlo_llvm.so"};
    const char *wanted = getenv("HLO_LLVM_PLUGIN");
    char home[PATH_MAX];
    int written = 0;
    if (wanted && *wanted) {
        written = snprintf(path, room, "%s", wanted);
    } else {
        HLO_TRY(find_home(home, sizeof home));
        for (size_t k = 0; k < HLO_COUNT(places); k++) {
            written = snprintf(path, room, "%s/%s", home, places[k]);
            if (access(path, R_OK) == 0) break;
        }
    }
    if (written < 0 || (size_t)written >= room) return hlo_error(HLO_NOT_FOUND, "the path of hlo_llvm.so is too long");
    return hlo_ok();
}

HloStatus hlo_llvm_open(const HloLlvm **out) {
    char path[PATH_MAX + 32];
    HLO_TRY(find_part(path, sizeof path));
    if (access(path, R_OK) != 0) return hlo_error(HLO_NOT_FOUND, "code generation is not installed: no file %s", path);
    void *part = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!part) return hlo_error(HLO_UNAVAILABLE, "code generation cannot be opened: %s", dlerror());
    const HloLlvm *table = dlsym(part, "hlo_llvm");
    if (!table) return hlo_error(HLO_UNAVAILABLE, "%s does not offer code generation: %s", path, dlerror());
    *out = table;
    return hlo_ok();
}

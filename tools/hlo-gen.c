// hlo-gen: prints a random module that every program here can work with.
//
//   hlo-gen --seed=7 --size=200 | hlo-opt --format=hlo --passes=algsimp,dce --check-numerics -

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/file.h"
#include "hlo/generate.h"
#include "hlo/flags.h"
#include "hlo/print_flags.h"

typedef struct Options {
    int64_t seed, size;
    HloVec opcodes;  // const char *
    const char *output, *help;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help }

static const HloFlag flags[] = {
    FLAG("seed", INT, seed, "module", "N", NULL, "equal seeds give equal modules (default 1)"),
    FLAG("size", INT, size, "module", "N", NULL, "about how many instructions it has (default 100)"),
    FLAG("opcodes", LIST, opcodes, "module", "A,B", NULL,
         "make nothing else, besides parameters, constants, tuples and what these operations need around them"),
    FLAG("o", TEXT, output, "output", "FILE", NULL, "write the text there instead of to standard output"),
    FLAG("help", TEXT, help, "help", "TOPIC", "", "explain a topic's flags, or those of all topics"),
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloPrintFlags print_flags;
    HloBuffer out;
} Run;

static HloStatus put_help(Run *run, const HloFlagSet *sets, size_t count) {
    const char *topic = *run->options.help ? run->options.help : "all";
    hlo_put_string(&run->out, "usage: hlo-gen [--seed=N] [--size=N] [--opcodes=A,B] [-o FILE]\n\n"
                              "Makes a random module: well typed, and such that the interpreter can compute it.\n\n");
    if (hlo_flags_help(sets, count, topic, &run->out)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "no help topic '%s'", topic);
}

static HloStatus read_opcodes(Run *run, bool *wanted) {
    for (size_t k = 0; k < run->options.opcodes.count; k++) {
        const char *name = run->options.opcodes.items[k];
        HloOpcode op;
        if (!hlo_op_find(name, strlen(name), &op)) {
            const char *near = hlo_op_suggest(name, strlen(name));
            return hlo_error(HLO_INVALID_ARGUMENT, "unknown opcode '%s'%s%s%s", name, near ? "; did you mean '" : "",
                             near ? near : "", near ? "'?" : "");
        }
        wanted[op] = true;
    }
    return hlo_ok();
}

static HloStatus run_all(void *data) {
    Run *run = data;
    Options *o = &run->options;
    HloVec extra = {0};
    bool wanted[HLO_OP_COUNT] = {false};
    *o = (Options){.seed = 1, .size = 100};
    HloFlagSet sets[] = {{.flags = flags, .count = HLO_COUNT(flags), .options = o}, hlo_print_flags(&run->print_flags)};
    HLO_TRY(hlo_flags_parse(&run->arena, sets, HLO_COUNT(sets), run->argc, run->argv, &extra));
    if (o->help) return put_help(run, sets, HLO_COUNT(sets));
    if (extra.count) return hlo_error(HLO_INVALID_ARGUMENT, "no file is read, found '%s'", (char *)extra.items[0]);
    if (o->size < 1)
        return hlo_error(HLO_INVALID_ARGUMENT, "a module has a positive size, found %lld", (long long)o->size);
    HLO_TRY(read_opcodes(run, wanted));
    HloPrintOptions print = hlo_print_dump();
    print.large_constants = true;  // the text is to be read again
    HLO_TRY(hlo_print_flags_apply(&run->print_flags, &print));
    HloModule *m;
    HLO_TRY(
        hlo_generate(&(HloGenerateOptions){(uint64_t)o->seed, (size_t)o->size, o->opcodes.count ? wanted : NULL}, &m));
    hlo_print_module(m, &print, &run->out);
    hlo_module_free(m);
    return hlo_ok();
}

static HloStatus write_out(Run *run) {
    HLO_TRY(hlo_guarded((HloArena *const[]){&run->arena, NULL}, run_all, run));
    HLO_TRY(hlo_buffer_status(&run->out));
    const char *path = run->options.output && !run->options.help ? run->options.output : "-";
    return hlo_file_write(path, (HloStringView){run->out.data, run->out.size});
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = write_out(&run);
    int code = hlo_is_ok(status) ? 0 : 1;
    if (code) fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}

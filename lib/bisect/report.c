// What bisection over passes found, for people and as a file that shows it.

#include <inttypes.h>

#include "hlo/bisect.h"
#include "hlo/shell.h"

static const char *const sentences[] = {
    [HLO_BISECT_BEFORE] = "not found: %s before the first pass\n",
    [HLO_BISECT_NEVER] = "not found: no pass makes it true that %s\n",
};

// The reproducer, run up to `limit` rewrites; 0: all of them.
static void put_command(HloBuffer *out, const HloBisectResult *r, uint64_t limit, const char *file) {
    hlo_put_string(out, "hlo-opt --passes=");
    hlo_put_shell_word(out, r->element);
    if (limit) hlo_putf(out, " --rewrite-limit=%" PRIu64, limit);
    hlo_put_char(out, ' ');
    hlo_put_shell_word(out, file);
    hlo_put_char(out, '\n');
}

static void put_reproducer_commands(HloBuffer *out, const HloBisectResult *r, const char *start, const char *file) {
    hlo_putf(out, "%swrong: ", start);
    put_command(out, r, r->rewrite, file);
    hlo_putf(out, "%sright: ", start);
    if (r->rewrite > 1) {
        put_command(out, r, r->rewrite - 1, file);
        return;
    }
    hlo_put_string(out, "hlo-opt ");
    hlo_put_shell_word(out, file);
    hlo_put_char(out, '\n');
}

// Only commands that were tried and show it.
static void put_commands(HloBuffer *out, const HloBisectResult *r, const char *start,
                         const HloBisectCommands *commands) {
    if (!r->is_reproduced)
        hlo_putf(out, "%snote: read back from its text, the module before the pass does not show it\n", start);
    else if (commands->reproducer)
        put_reproducer_commands(out, r, start, commands->reproducer);
    if (commands->source && r->is_shown_from_start)
        hlo_putf(out, "%sfrom the start: %s --rewrite-limit=%" PRIu64 "\n", start, commands->source, r->total);
}

static void put_rewrite(HloBuffer *out, const HloBisectResult *r) {
    hlo_putf(out, "rewrite %" PRIu64 " of %" PRIu64 ": %s", r->rewrite, r->rewrites, r->rule);
    if (r->old_inst) hlo_putf(out, "  %%%s", r->old_inst);
    if (r->old_inst && r->comp) hlo_putf(out, " in %%%s", r->comp);
    if (!r->new_inst)
        hlo_put_string(out, " is removed");
    else if (!r->old_inst || strcmp(r->old_inst, r->new_inst) != 0)
        hlo_putf(out, " becomes %%%s", r->new_inst);
    hlo_put_char(out, '\n');
}

static void put_found(HloBuffer *out, const HloBisectResult *r) {
    hlo_putf(out, "found: %s from pass run %" PRIu64 " on\npass: %s in pipeline %s\n", r->predicate, r->run, r->element,
             r->pipeline);
    if (r->outcome == HLO_BISECT_REWRITE) put_rewrite(out, r);
    if (r->note) hlo_putf(out, "note: %s\n", r->note);
    if (r->diff) hlo_put_string(out, r->diff);
}

static bool is_found(const HloBisectResult *r) {
    return r->outcome == HLO_BISECT_REWRITE || r->outcome == HLO_BISECT_PASS;
}

void hlo_put_bisect_report(HloBuffer *out, const HloBisectResult *r, const HloBisectCommands *commands) {
    if (!is_found(r)) {
        hlo_putf(out, sentences[r->outcome], r->predicate);
        return;
    }
    put_found(out, r);
    put_commands(out, r, "", commands);
}

void hlo_put_bisect_reproducer(HloBuffer *out, const HloBisectResult *r, const HloBisectCommands *commands) {
    if (!is_found(r)) return;
    hlo_putf(out, "// %s\n", r->predicate);
    if (r->rule) hlo_putf(out, "// by %s\n", r->rule);
    put_commands(out, r, "// ", commands);
    hlo_put_string(out, r->before);
}

// Predicates and pipelines from flags.

#include "hlo/predicate_flags.h"

#include "hlo/listing.h"

#define FLAG(name, kind, field, topic, value, help) \
    { name, HLO_FLAG_##kind, offsetof(HloPredicateFlags, field), topic, value, NULL, help }

HloFlagSet hlo_predicate_flags(HloPredicateFlags *flags) {
    static const HloFlag rows[] = {
        FLAG("appears", TEXT, appears, "predicates", "REGEX", "a line of the module's text matches"),
        FLAG("vanishes", TEXT, vanishes, "predicates", "REGEX", "no line of the module's text matches"),
        FLAG("command", TEXT, command, "predicates", "COMMAND",
             "a shell command fails on the module; %s in it is a file with its text"),
        FLAG("invalid", BOOL, invalid, "predicates", NULL, "the verifier refuses the module"),
        FLAG("numerics", BOOL, numerics, "predicates", NULL,
             "the interpreter computes another result from the same made-up arguments"),
        FLAG("abs_error_bound", FLOAT, abs, "predicates", "X",
             "with --numerics: absolute error that is no difference (default: by type)"),
        FLAG("rel_error_bound", FLOAT, rel, "predicates", "X",
             "with --numerics: relative error that is no difference (default: by type, half of the bits)"),
        FLAG("passes", TEXT, passes, "search", "PIPELINE", "run these passes, as hlo-opt takes them"),
        FLAG("platform", TEXT, platform, "search", "NAME", "run the passes of a platform: cpu"),
    };
    return (HloFlagSet){.flags = rows, .count = HLO_COUNT(rows), .options = flags};
}

int hlo_predicate_flags_count(const HloPredicateFlags *flags) {
    return !!flags->appears + !!flags->vanishes + !!flags->command + flags->invalid + flags->numerics;
}

HloStatus hlo_predicate_flags_make(const HloPredicateFlags *flags, HloPredicate **out) {
    if (flags->appears) return hlo_predicate_appears(flags->appears, out);
    if (flags->vanishes) return hlo_predicate_vanishes(flags->vanishes, out);
    if (flags->command) return hlo_predicate_command(flags->command, out);
    if (flags->numerics) {
        return hlo_predicate_numerics(&(HloNumericsOptions){.bounds = {flags->abs, flags->rel}}, out);
    }
    return hlo_predicate_invalid(out);
}

static HloStatus list_of_passes(HloArena *arena, const char *passes, HloElement **out) {
    HloElement *pipeline, *list = HLO_NEW(arena, HloElement);
    HLO_TRY(hlo_pipeline_parse(arena, "transforms_pipeline", hlo_view(passes), &pipeline));
    list->kind = HLO_ELEMENT_PIPELINE;
    list->elements = hlo_arena_copy(arena, &pipeline, sizeof pipeline);
    list->element_count = 1;
    *out = list;
    return hlo_ok();
}

HloStatus hlo_predicate_flags_list(HloArena *arena, const HloPredicateFlags *flags, const HloDebugOptions *debug,
                                   const HloModule *m, HloElement **out) {
    HloPlatform platform;
    if (flags->passes) return list_of_passes(arena, flags->passes, out);
    HLO_TRY(hlo_platform_find(flags->platform, &platform));
    if (m->is_scheduled) {
        return hlo_error(HLO_FAILED_PRECONDITION,
                         "the module has a schedule: it has been through the platform's passes");
    }
    if (platform == HLO_PLATFORM_CPU) return hlo_cpu_pipeline(arena, HLO_CPU_BEFORE_SCHEDULE, debug, m, out);
    return hlo_error(HLO_UNIMPLEMENTED, "platform '%s' has no pipeline; --passes names passes", flags->platform);
}

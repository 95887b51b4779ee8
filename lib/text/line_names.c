// Names in printed lines: `%x`, `%y` and `%sum` of
//
//   %s = f32[] reduce(%x, %y), dimensions={0}, to_apply=%sum, metadata={op_name="%z"}

#include "hlo/line_names.h"

#include "hlo/opcodes.h"

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

static const char *past_quotes(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\') at++;
    }
    return at < end ? at + 1 : end;
}

bool hlo_line_names_next(HloLineNames *scan) {
    const char *word = scan->at;
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (c == '"') {
            word = scan->at = past_quotes(scan->at, scan->end);
            continue;
        }
        if (c == '=' && scan->at > word) scan->key = (HloStringView){word, (size_t)(scan->at - word)};
        scan->at++;
        if (c == '%') {
            const char *start = scan->at;
            while (scan->at < scan->end && is_name_char(*scan->at)) scan->at++;
            scan->name = (HloStringView){start, (size_t)(scan->at - start)};
            return true;
        }
        if (!is_name_char(c)) word = scan->at;
    }
    return false;
}

bool hlo_line_names_callee(const HloLineNames *scan) {
    for (int id = 0; id < HLO_ATTR_COUNT; id++) {
        const HloAttrInfo *info = hlo_attr_info((HloAttrId)id);
        if (info->kind != HLO_KIND_COMPUTATION && info->kind != HLO_KIND_COMPUTATIONS) continue;
        if (hlo_view_is(scan->key, info->name)) return true;
    }
    return false;
}

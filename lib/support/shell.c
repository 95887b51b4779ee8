// Quoting for the shell: 'it'\''s'.

#include "hlo/shell.h"

static bool is_plain(const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,=";
    return *text && !text[strspn(text, plain)];
}

void hlo_put_shell_word(HloBuffer *out, const char *text) {
    if (is_plain(text)) {
        hlo_put_string(out, text);
        return;
    }
    hlo_put_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            hlo_put_string(out, "'\\''");
        else
            hlo_put_char(out, *text);
    }
    hlo_put_char(out, '\'');
}

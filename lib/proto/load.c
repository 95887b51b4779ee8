// From a path to modules: format, log prefixes, splitting, parsing.

#include "hlo/load.h"

#include <stdlib.h>

#include "hlo/encode.h"
#include "hlo/file.h"

#define FLAG(flag, type, field, word, text)                                                                 \
    {                                                                                                       \
        .name = flag, .kind = HLO_FLAG_##type, .offset = offsetof(HloLoadOptions, field), .topic = "files", \
        .value = word, .help = text                                                                         \
    }

static const HloFlag flags[] = {
    FLAG("hlo-version", TEXT, hlo_version, "VERSION",
         "read and print the language as it was: 2026-02 or 2026-08; default: 2026-02, and of 2026-08 what dumps have"),
    FLAG("max-errors", INT, max_errors, "N", "end reading after N errors in a text (default 20, at most 1000)"),
    FLAG("renumber-frames", BOOL, renumber_frames, NULL,
         "keep only the stack frames that instructions name, numbered by first use"),
};

HloFlagSet hlo_load_flags(HloLoadOptions *options) {
    return (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
}

static const char separator[] = "// -----";
static const char stray[] = "// ---";

typedef enum Format { FORMAT_TEXT, FORMAT_PROTO, FORMAT_PROTO_TEXT } Format;

typedef struct FormatName {
    const char *name;
    Format format;
} FormatName;

static const FormatName formats[] = {{"hlo", FORMAT_TEXT},
                                     {"txt", FORMAT_TEXT},
                                     {"pb", FORMAT_PROTO},
                                     {"pbtxt", FORMAT_PROTO_TEXT},
                                     {"textproto", FORMAT_PROTO_TEXT}};

enum { MOST_EXTENSION_BYTES = 16 };

// `pb` of `x.pb.gz`; "gz" when there is none.
static const char *inner_extension(const char *path, char *buffer) {
    const char *end = hlo_file_extension(path) - 1, *start = end;
    while (start > path && start[-1] != '.' && start[-1] != '/') start--;
    size_t size = (size_t)(end - start);
    if (start == path || start[-1] != '.' || size >= MOST_EXTENSION_BYTES) return "gz";
    memcpy(buffer, start, size);
    return buffer;
}

static HloStatus find_format(const char *path, const char *format, Format *out) {
    static const char *const later[] = {"riegeli", "stablehlo", "mhlo"};
    bool by_extension = !format || !*format;
    char inner[MOST_EXTENSION_BYTES] = "";
    if (by_extension) format = hlo_file_extension(path);
    if (by_extension && strcmp(format, "gz") == 0) format = inner_extension(path, inner);
    for (size_t i = 0; i < HLO_COUNT(formats); i++) {
        if (strcmp(format, formats[i].name)) continue;
        *out = formats[i].format;
        return hlo_ok();
    }
    for (size_t i = 0; i < HLO_COUNT(later); i++) {
        if (strcmp(format, later[i]) == 0) {
            return hlo_error(HLO_UNIMPLEMENTED, "'%s': format '%s' cannot be read yet, only hlo, txt, pb and pbtxt",
                             path, format);
        }
    }
    return hlo_error(HLO_INVALID_ARGUMENT,
                     by_extension
                         ? "'%s' has the extension '%s', which tells no format; say --format=hlo, pb or pbtxt"
                         : "'%s': unknown format '%s'; expected hlo, txt, stablehlo, mhlo, pb, pbtxt or riegeli",
                     path, format);
}

static HloStringView until(HloStringView text, const char *end) {
    return (HloStringView){text.data, (size_t)(end - text.data)};
}

static const char *find(HloStringView text, const char *what) {
    return text.size ? memmem(text.data, text.size, what, strlen(what)) : NULL;
}

// Takes the text before the next separator off `rest`; false when nothing is left.
static bool next_chunk(HloStringView *rest, bool split, HloStringView *chunk) {
    if (!rest->data) return false;
    const char *at = split ? find(*rest, separator) : NULL;
    *chunk = at ? until(*rest, at) : *rest;
    size_t taken = chunk->size + (at ? strlen(separator) : 0);
    *rest = at ? (HloStringView){rest->data + taken, rest->size - taken} : (HloStringView){NULL, 0};
    return true;
}

static HloStatus check_separators(HloStringView chunk, bool split) {
    if (!find(chunk, stray)) return hlo_ok();
    if (split) {
        return hlo_error(HLO_INTERNAL, "Unexpected separator found, expected exactly '%s', found '%s'", separator,
                         stray);
    }
    return hlo_error(HLO_INTERNAL, "'%s' separator found in input, but --split-input-file not specified", stray);
}

static HloStatus append(HloModuleList *list, HloModule *m) {
    HloModule **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) {
        hlo_module_free(m);
        return hlo_out_of_memory();
    }
    list->items = items;
    list->items[list->count++] = m;
    return hlo_ok();
}

static size_t count_lines(HloStringView text) {
    size_t lines = 0;
    for (size_t i = 0; i < text.size; i++) lines += text.data[i] == '\n';
    return lines;
}

static HloStatus parse_chunk(const char *path, HloStringView chunk, size_t lines_before, const HloLoadOptions *load,
                             HloModuleList *list) {
    int version;
    HLO_TRY(hlo_version_parse(load->hlo_version, &version));
    HloParseOptions options = {.file_name = strcmp(path, "-") == 0 ? "<stdin>" : path,
                               .lines_before = lines_before,
                               .drop_zero_sign = load->drop_zero_sign,
                               .hlo_version = version,
                               .renumber_frames = load->renumber_frames,
                               .max_errors = (size_t)load->max_errors};
    HloBuffer stripped = {0};
    if (hlo_strip_log_prefixes(chunk, &stripped)) chunk = (HloStringView){stripped.data, stripped.size};
    HloModule *m = NULL;
    HloStatus status = hlo_buffer_status(&stripped);
    if (hlo_is_ok(status)) status = hlo_parse_module(chunk, &options, &m);
    hlo_buffer_free(&stripped);
    HLO_TRY(status);
    return append(list, m);
}

static HloStatus parse_all(const char *path, HloStringView text, const HloLoadOptions *load, HloModuleList *list) {
    HloStringView rest = text, chunk;
    size_t lines_before = 0;
    if (!rest.data) rest.data = "";  // an empty file is one empty chunk, which the parser refuses with a place
    while (next_chunk(&rest, load->split, &chunk)) {
        HLO_TRY(check_separators(chunk, load->split));
        HLO_TRY(parse_chunk(path, chunk, lines_before, load, list));
        if (load->split) lines_before += count_lines(chunk);  // separators hold no newline
    }
    return hlo_ok();
}

static HloStatus read_proto(const char *path, HloStringView bytes, Format format, const HloLoadOptions *options,
                            HloModuleList *list) {
    HloProtoRead read = {.file_name = strcmp(path, "-") == 0 ? "<stdin>" : path,
                         .notes = options->notes,
                         .renumber_frames = options->renumber_frames};
    int version;
    HLO_TRY(hlo_version_parse(options->hlo_version, &version));
    HloProtoForm form = format == FORMAT_PROTO ? HLO_PROTO_BINARY : HLO_PROTO_TEXT;
    HloModule *m = NULL;
    HLO_TRY(hlo_error_context(hlo_proto_read_module(bytes, form, &read, &m, &list->snapshot), "%s", read.file_name));
    m->hlo_version = version;
    return append(list, m);
}

// The file's bytes, unpacked when they are packed.
static HloStatus read_file(const char *path, HloBuffer *out) {
    enum { MOST_BYTES = INT32_MAX };  // as much as a protocol buffer can hold
    HLO_TRY(hlo_file_read(path, out));
    if (!hlo_is_gzip((HloStringView){out->data, out->size})) return hlo_ok();
    HloBuffer packed = *out;
    *out = (HloBuffer){0};
    HloStatus status = hlo_put_gunzip(out, (HloStringView){packed.data, packed.size}, MOST_BYTES);
    hlo_buffer_free(&packed);
    return hlo_error_context(status, "'%s'", path);
}

HloStatus hlo_modules_load(const char *path, const HloLoadOptions *options, HloModuleList *out) {
    Format format = FORMAT_TEXT;
    HLO_TRY(find_format(path, options->format, &format));
    if (options->max_errors < 0) return hlo_error(HLO_INVALID_ARGUMENT, "--max-errors must not be negative");
    HloBuffer text = {0};
    HloModuleList list = {0};
    HloStatus status = read_file(path, &text);
    HloStringView bytes = {text.data, text.size};
    if (hlo_is_ok(status))
        status = format == FORMAT_TEXT ? parse_all(path, bytes, options, &list)
                                       : read_proto(path, bytes, format, options, &list);
    hlo_buffer_free(&text);
    if (hlo_is_ok(status))
        *out = list;
    else
        hlo_module_list_free(&list);
    return status;
}

void hlo_module_list_free(HloModuleList *list) {
    for (size_t i = 0; i < list->count; i++) hlo_module_free(list->items[i]);
    free(list->items);
    *list = (HloModuleList){0};
}

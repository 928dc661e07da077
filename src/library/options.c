#include "library/options.h"
#include "base/chars/suggest.h"
#include "base/conceal.h"
#include "base/grow.h"
#include "base/numbers/units.h"
#include "format/guess/guess_options.h"
#include "server/send/existing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    TEXT,
    LIST,
    TYPES,
    FLAG,
    COUNT,
    COUNT32,
    SIZE,
    TIME,
    RATE,
    EXISTING,
    REJECTS,
    HEADER,
    DATES,
    DECIMAL,
    DELIMITER,
    ENCLOSED,
    ENCODING,
    BAD_VALUE,
    KINDS
} kind_t;

typedef struct {
    const char *name;
    kind_t kind;
    size_t offset; /* in library_options_t */
} row_t;

#define AT(member) offsetof(library_options_t, member)

static const row_t rows[] = {
    {"format", TEXT, AT(spec.format)},
    {"input-name", TEXT, AT(spec.input_name)},
    {"id", TEXT, AT(spec.id)},
    {"existing", EXISTING, AT(spec.existing)},
    {"shard-key", TEXT, AT(spec.shard_key)},
    {"compressor", TEXT, AT(spec.compressor)},
    {"rejects", TEXT, AT(spec.rejects)},
    {"input", LIST, AT(inputs)},
    {"index", LIST, AT(indexes)},
    {"filter", LIST, AT(filters)},
    {"type", TYPES, AT(types)},
    {"header", HEADER, AT(spec.guess)},
    {"dates", DATES, AT(spec.guess)},
    {"decimal", DECIMAL, AT(spec.guess)},
    {"delimiter", DELIMITER, AT(spec.guess)},
    {"quote", ENCLOSED, AT(spec.guess)},
    {"encoding", ENCODING, AT(spec.guess)},
    {"on-bad-value", BAD_VALUE, AT(spec.guess)},
    {"nested", FLAG, AT(spec.guess.nested)},
    {"threads", COUNT32, AT(spec.threads)},
    {"batch", COUNT32, AT(spec.batch)},
    {"batch-bytes", SIZE, AT(spec.batch_bytes)},
    {"memory", SIZE, AT(spec.memory)},
    {"max-record", SIZE, AT(spec.max_record)},
    {"max-rejects", REJECTS, AT(spec)},
    {"limit", COUNT, AT(spec.limit)},
    {"max-rate", RATE, AT(spec.max_rate)},
    {"patience", TIME, AT(spec.patience_ns)},
    {"drop", FLAG, AT(spec.drop)},
    {"append", FLAG, AT(spec.append)},
    {"direct", FLAG, AT(spec.direct)},
    {"unsafe", FLAG, AT(spec.unsafe)},
    {"dry-run", FLAG, AT(spec.dry_run)},
    {"skip-bad-files", FLAG, AT(spec.skip_bad_files)},
    {"reload-changed", FLAG, AT(spec.reload_changed)},
    {"reload-missing", FLAG, AT(spec.reload_missing)},
    {"same-collection", FLAG, AT(spec.same_collection)},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* By the command's own functions: options whose sentences list their words. */
static bool (*const guess_words[KINDS])(void *guess, const char *text, err_t *err) = {
    [HEADER] = guess_options_header,       [DATES] = guess_options_dates,
    [DECIMAL] = guess_options_decimal,     [ENCODING] = guess_options_encoding,
    [DELIMITER] = guess_options_delimiter, [ENCLOSED] = guess_options_enclosed,
    [BAD_VALUE] = guess_options_bad_value,
};

static void free_words(words_t *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
}

static const char *keep(words_t *words, const char *text, err_t *err) {
    char *copy = strdup(text);
    if (!copy || !GROW(words->items, words->room, words->count + 1, err)) {
        free(copy);
        err_memory(err, strlen(text));
        return NULL;
    }
    return words->items[words->count++] = copy;
}

bool library_options_init(library_options_t *options, const char *uri, err_t *err) {
    *options = (library_options_t){.texts = {.count = 0}};
    load_spec_init(&options->spec);
    return (options->spec.uri = keep(&options->texts, uri, err));
}

void library_options_free(library_options_t *options) {
    free_words(&options->texts);
    free_words(&options->inputs);
    free_words(&options->indexes);
    free_words(&options->filters);
    free_words(&options->types);
}

static const row_t *find(const char *name, err_t *err) {
    const char *names[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(names[i] = rows[i].name, name) == 0)
            return &rows[i];
    err_set(err, STATUS_USAGE, "there is no option '%.200s'%s", name, suggestion(name, names, ROWS).text);
    return NULL;
}

static bool set_flag(bool *flag, const char *value) {
    *flag = strcmp(value, "true") == 0;
    return *flag || strcmp(value, "false") == 0;
}

static bool set_count32(uint32_t *count, const char *value) {
    uint64_t wide;
    if (!units_parse_count(value, &wide) || wide > UINT32_MAX)
        return false;
    *count = (uint32_t)wide;
    return true;
}

/* Is the value one of its kind? What the value must be besides is checked when the load begins. */
static bool set_number(const row_t *row, library_options_t *options, const char *value) {
    void *to = (char *)options + row->offset;
    bool flag;
    existing_t existing;
    switch (row->kind) {
    case FLAG:
        return set_flag(&flag, value) && (*(bool *)to = flag, true);
    case COUNT:
        return units_parse_count(value, to);
    case COUNT32:
        return set_count32(to, value);
    case SIZE:
        return units_parse_size(value, to);
    case TIME:
        return units_parse_time(value, to);
    case RATE:
        options->spec.max_rate_auto = strcmp(value, "auto") == 0;
        return options->spec.max_rate_auto || units_parse_rate(value, to, &options->spec.max_rate_bytes);
    case EXISTING:
        return *value && existing_named(value, &existing) &&
               (*(const char **)to = existing_names[existing], true);
    case REJECTS:
        return load_spec_max_rejects(to, value);
    default:
        break;
    }
    return false;
}

/* It would be written down: an input's name in the catalog, for one. */
static bool no_password(const char *name, const char *value, err_t *err) {
    return !conceal_finds(value) ||
           err_set(err, STATUS_USAGE, "%s: it holds a password: the URI of a server goes to tipple_load_new",
                   name);
}

bool library_options_set(library_options_t *options, const char *name, const char *value, err_t *err) {
    const row_t *row = find(name, err);
    if (!row || !no_password(name, value, err))
        return false;
    if (row->kind == TEXT) {
        const char *copy = keep(&options->texts, value, err);
        if (copy)
            *(const char **)((char *)options + row->offset) = copy;
        return copy;
    }
    if (guess_words[row->kind])
        return guess_words[row->kind]((char *)options + row->offset, value, err);
    if (row->kind == TYPES && !guess_options_type(value, err))
        return false;
    if (row->kind == LIST || row->kind == TYPES) {
        const bool ok = keep((words_t *)((char *)options + row->offset), value, err);
        load_spec_t *spec = &options->spec;
        spec->inputs = options->inputs.items;
        spec->input_count = options->inputs.count;
        spec->indexes = options->indexes.items;
        spec->index_count = options->indexes.count;
        spec->filters = options->filters.items;
        spec->filter_count = options->filters.count;
        return ok;
    }
    return set_number(row, options, value) ||
           err_set(err, STATUS_USAGE,
                   "%s: '%.200s' is no value of this option; `tipple load --help` says what is", row->name,
                   value);
}

bool library_options_set_format(library_options_t *options, const char *name, const char *text, err_t *err) {
    const char *copy = keep(&options->texts, text ? text : name, err);
    if (!copy)
        return false;
    options->spec.format = text ? NULL : copy;
    options->spec.guessed = text ? copy : NULL;
    return true;
}

bool library_options_check(library_options_t *options, const char *format, err_t *err) {
    return guess_options_check(&options->spec.guess, options->types.items, options->types.count, format, err);
}

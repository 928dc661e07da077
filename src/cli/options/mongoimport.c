#include "cli/options/mongoimport.h"
#include "base/shell_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    URI,
    HOST,
    PORT,
    DATABASE,
    COLLECTION,
    USER,
    AUTH_DATABASE,
    AUTH_MECHANISM,
    PASSWORD,
    INPUT,
    FIELDS,
    KEY,
    MODE,
    THREADS,
    BATCH,
    TYPE,
    TAKE_VALUES, /* those before take one */
    UPSERT,
    TLS,
    DROP,
    STOP,
    HEADER, /* and what else tipple finds out or does by itself */
    OPTIONS
} meaning_t;

static const struct {
    const char *name;
    char letter;
    bool ours; /* tipple load has it, too */
    meaning_t means;
} rows[] = {
    {"uri", 0, true, URI},
    {"host", 0, false, HOST},
    {"port", 0, false, PORT},
    {"db", 'd', false, DATABASE},
    {"collection", 'c', false, COLLECTION},
    {"username", 'u', false, USER},
    {"password", 'p', false, PASSWORD},
    {"authenticationDatabase", 0, false, AUTH_DATABASE},
    {"authenticationMechanism", 0, false, AUTH_MECHANISM},
    {"ssl", 0, false, TLS},
    {"tls", 0, false, TLS},
    {"file", 0, false, INPUT},
    {"type", 0, true, TYPE},
    {"fields", 0, false, FIELDS},
    {"upsertFields", 0, false, KEY},
    {"upsert", 0, false, UPSERT},
    {"mode", 0, false, MODE},
    {"numInsertionWorkers", 'j', false, THREADS},
    {"batchSize", 0, false, BATCH},
    {"drop", 0, true, DROP},
    {"stopOnError", 0, false, STOP},
    {"headerline", 0, false, HEADER},
    {"jsonArray", 0, false, HEADER},
    {"legacy", 0, false, HEADER},
    {"ignoreBlanks", 0, false, HEADER},
    {"maintainInsertionOrder", 0, false, HEADER},
};

typedef struct {
    const char *said[OPTIONS]; /* NULL: not given; "": without a value */
    const char *inputs[16];
    size_t input_count;
    bool foreign; /* an option is mongoimport's alone */
} import_t;

/* Takes the word at *at, and the value behind it. */
static bool take_option(import_t *import, int argc, char **argv, int *at) {
    const char *word = argv[*at] + 1, *value = NULL;
    const bool is_long = *word == '-';
    word += is_long;
    const size_t length = is_long ? strcspn(word, "=") : 1;
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows &&
           !(is_long ? strlen(rows[i].name) == length && strncmp(rows[i].name, word, length) == 0
                     : rows[i].letter == *word))
        i++;
    if (i == sizeof rows / sizeof *rows)
        return false;
    if (word[length])
        value = word + length + is_long;
    else if (rows[i].means < TAKE_VALUES && *at + 1 < argc)
        value = argv[++*at];
    if (value && *value == '-')
        return false;
    if ((rows[i].means < TAKE_VALUES) != (value != NULL))
        return false;
    import->said[rows[i].means] = value ? value : "";
    /* -j is ours as well, and `-uri` is a slip */
    import->foreign |= !rows[i].ours && (is_long || (*word != 'j' && !word[1]));
    return true;
}

static bool take_words(import_t *import, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!take_option(import, argc, argv, &i))
                return false;
        } else if (import->input_count < sizeof import->inputs / sizeof *import->inputs) {
            import->inputs[import->input_count++] = argv[i];
        } else {
            return false;
        }
    }
    return true;
}

static bool is_one_of(const char *word, const char *const *words) {
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words;
}

static bool is_understood(const import_t *import) {
    const char *const *said = import->said;
    return import->foreign && import->input_count + (said[INPUT] != NULL) > 0 &&
           (!said[TYPE] || is_one_of(said[TYPE], (const char *const[]){"csv", "tsv", "json", NULL})) &&
           (!said[MODE] || is_one_of(said[MODE], (const char *const[]){"insert", "upsert", NULL}));
}

static void append_option(text_t *uri, const char *name, const char *value) {
    text_print(uri, "%s%s=%s", uri->bytes && strchr(uri->bytes, '?') ? "&" : "?", name, value);
}

/* A file's name without folders and without what follows its first dot: as mongoimport names a collection. */
static void append_name(text_t *uri, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    text_append_bytes(uri, name, strcspn(name, "."));
}

static void append_uri(text_t *uri, const import_t *import) {
    const char *const *said = import->said;
    const char *host = said[HOST] ? said[HOST] : "127.0.0.1", *slash = strchr(host, '/');
    const char *first = said[INPUT] ? said[INPUT] : import->inputs[0];
    if (said[URI]) {
        const size_t whole = strcspn(said[URI], "?");
        const char *begin = strstr(said[URI], "//"), *path = begin ? strchr(begin + 2, '/') : NULL;
        const size_t hosts = path && path < said[URI] + whole ? (size_t)(path - said[URI]) : whole;
        const size_t named = hosts < whole ? whole - hosts - 1 : 0;
        text_append_bytes(uri, said[URI], hosts);
        text_append(uri, "/");
        if (said[DATABASE] || !named)
            text_append(uri, said[DATABASE] ? said[DATABASE] : "test");
        else
            text_append_bytes(uri, said[URI] + hosts + 1, named);
    } else {
        text_append(uri, "mongodb://");
        if (said[USER])
            text_print(uri, "%s:PASSWORD@", said[USER]);
        text_append(uri, slash ? slash + 1 : host);
        if (said[PORT] && !strchr(slash ? slash : host, ':'))
            text_print(uri, ":%s", said[PORT]);
        text_print(uri, "/%s", said[DATABASE] ? said[DATABASE] : "test");
    }
    text_append(uri, ".");
    if (said[COLLECTION])
        text_append(uri, said[COLLECTION]);
    else if (first)
        append_name(uri, first);
    if (said[URI])
        text_append(uri, said[URI] + strcspn(said[URI], "?"));
    if (!said[URI] && slash)
        text_print(uri, "?replicaSet=%.*s", (int)(slash - host), host);
    if (said[AUTH_DATABASE])
        append_option(uri, "authSource", said[AUTH_DATABASE]);
    if (said[AUTH_MECHANISM])
        append_option(uri, "authMechanism", said[AUTH_MECHANISM]);
    if (said[TLS])
        append_option(uri, "tls", "true");
}

/* The names of columns that the file does not have. */
static void append_columns(text_t *line, const char *fields) {
    shell_quote_option(line, "--header", "no");
    for (unsigned column = 1; *fields; column++) {
        char name[300];
        const size_t length = strcspn(fields, ",");
        snprintf(name, sizeof name, "column_%u:%.*s:", column, (int)(length < 256 ? length : 256), fields);
        shell_quote_option(line, "--type", name);
        fields += length + (fields[length] == ',');
    }
}

char *mongoimport_as_load(int argc, char **argv) {
    import_t import = {.foreign = false};
    if (!take_words(&import, argc, argv) || !is_understood(&import))
        return NULL;
    const char *const *said = import.said;
    text_t line = {0}, uri = {0};
    err_t ignored;
    text_append(&line, "tipple load");
    if (said[INPUT])
        shell_quote_word(&line, said[INPUT]);
    for (size_t i = 0; i < import.input_count; i++)
        shell_quote_word(&line, import.inputs[i]);
    append_uri(&uri, &import);
    char *address = text_take(&uri, &ignored), *shown = address ? text_concealed(address) : NULL;
    shell_quote_option(&line, "--uri", shown);
    free(shown);
    free(address);
    if (said[FIELDS])
        append_columns(&line, said[FIELDS]);
    if (said[KEY] || said[UPSERT] || (said[MODE] && strcmp(said[MODE], "upsert") == 0)) {
        shell_quote_option(&line, "--id", said[KEY] ? said[KEY] : "_id");
        shell_quote_option(&line, "--existing", "replace");
    }
    shell_quote_option(&line, "--threads", said[THREADS]);
    shell_quote_option(&line, "--batch", said[BATCH]);
    if (said[STOP])
        shell_quote_option(&line, "--max-rejects", "0");
    text_append(&line, said[DROP] ? " --drop" : "");
    return text_take(&line, &ignored);
}

#include "cli/options/mongoimport.h"
#include "base/shell_word.h"
#include "cli/options/other_tools.h"
#include "server/address.h"

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
    meaning_t means;
} rows[] = {
    {"uri", 0, URI},
    {"host", 0, HOST},
    {"port", 0, PORT},
    {"db", 'd', DATABASE},
    {"collection", 'c', COLLECTION},
    {"username", 'u', USER},
    {"password", 'p', PASSWORD},
    {"authenticationDatabase", 0, AUTH_DATABASE},
    {"authenticationMechanism", 0, AUTH_MECHANISM},
    {"ssl", 0, TLS},
    {"tls", 0, TLS},
    {"file", 0, INPUT},
    {"type", 0, TYPE},
    {"fields", 0, FIELDS},
    {"upsertFields", 0, KEY},
    {"upsert", 0, UPSERT},
    {"mode", 0, MODE},
    {"numInsertionWorkers", 'j', THREADS},
    {"batchSize", 0, BATCH},
    {"drop", 0, DROP},
    {"stopOnError", 0, STOP},
    {"headerline", 0, HEADER},
    {"jsonArray", 0, HEADER},
    {"legacy", 0, HEADER},
    {"ignoreBlanks", 0, HEADER},
    {"maintainInsertionOrder", 0, HEADER},
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
    const char letter[] = {*word, '\0'}; /* followed by more it may be a slip, such as -uri */
    import->foreign |= is_long ? other_tools_hint(rows[i].name, false) != NULL
                               : !word[1] && other_tools_hint(letter, true) != NULL;
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

static bool is_mode(const import_t *import, const char *mode) {
    return import->said[MODE] && strcmp(import->said[MODE], mode) == 0;
}

static bool is_upsert(const import_t *import) {
    return import->said[KEY] || import->said[UPSERT] || is_mode(import, "upsert");
}

static bool is_understood(const import_t *import) {
    const char *const *said = import->said;
    return import->foreign && import->input_count + (said[INPUT] != NULL) > 0 &&
           (!said[TYPE] || other_tools_value_hint("type", said[TYPE])) &&
           (!said[MODE] || is_mode(import, "insert") || is_mode(import, "upsert"));
}

static void append_option(text_t *uri, const char *name, const char *value) {
    text_print(uri, "%s%s=%s", uri->bytes && strchr(uri->bytes, '?') ? "&" : "?", name, value);
}

/* Its collection is called as a file is, without folders and what follows the first dot, where no name is given. */
static char *print_name(const import_t *import, const char *database, err_t *err) {
    const char *const *said = import->said;
    const char *path = said[INPUT] ? said[INPUT] : import->inputs[0], *slash = strrchr(path, '/'),
               *file = slash ? slash + 1 : path;
    text_t name = {.length = 0};
    text_print(&name, "%s.", said[DATABASE] ? said[DATABASE] : *database ? database : "test");
    if (said[COLLECTION])
        text_append(&name, said[COLLECTION]);
    else
        text_append_bytes(&name, file, strcspn(file, "."));
    return text_take(&name, err);
}

static char *print_hosts(const import_t *import, err_t *err) {
    const char *const *said = import->said;
    const char *host = said[HOST] ? said[HOST] : "127.0.0.1", *slash = strchr(host, '/');
    text_t uri = {.length = 0};
    text_append(&uri, "mongodb://");
    if (said[USER])
        text_print(&uri, "%s:PASSWORD@", said[USER]);
    text_append(&uri, slash ? slash + 1 : host);
    if (said[PORT] && !strchr(slash ? slash : host, ':'))
        text_print(&uri, ":%s", said[PORT]);
    if (slash)
        text_print(&uri, "/?replicaSet=%.*s", (int)(slash - host), host);
    return text_take(&uri, err);
}

/* A URI with -u in it, if it names no user. */
static char *with_user(const char *uri, const char *user, err_t *err) {
    const char *hosts = strstr(uri, "://");
    text_t whole = {.length = 0};
    if (!user || !hosts || memchr(hosts + 3, '@', strcspn(hosts + 3, "/")))
        return strdup(uri);
    text_append_bytes(&whole, uri, (size_t)(hosts + 3 - uri));
    text_print(&whole, "%s:PASSWORD@%s", user, hosts + 3);
    return text_take(&whole, err);
}

/* Without options of its own. A URI that names a collection already stays as it is. NULL: it is none. */
static char *print_target(const import_t *import, err_t *err) {
    const char *given = import->said[URI];
    char *hosts = given ? with_user(given, import->said[USER], err) : print_hosts(import, err),
         *database = hosts ? address_of_database(hosts) : NULL,
         *name = database ? print_name(import, database, err) : NULL,
         *target = name ? address_with_collection(hosts, name, err) : NULL;
    if (given && !database && strncmp(given, "mongodb", strlen("mongodb")) == 0)
        target = with_user(given, import->said[USER], err);
    free(name);
    free(database);
    free(hosts);
    return target;
}

static char *print_uri(const import_t *import, err_t *err) {
    const char *const *said = import->said;
    char *target = print_target(import, err);
    if (!target)
        return NULL;
    text_t uri = {.length = 0};
    text_append(&uri, target);
    free(target);
    if (said[AUTH_DATABASE])
        append_option(&uri, "authSource", said[AUTH_DATABASE]);
    if (said[AUTH_MECHANISM])
        append_option(&uri, "authMechanism", said[AUTH_MECHANISM]);
    if (said[TLS])
        append_option(&uri, "tls", "true");
    char *whole = text_take(&uri, err), *shown = whole ? text_concealed(whole) : NULL;
    free(whole);
    return shown;
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
    err_t ignored;
    char *uri =
        take_words(&import, argc, argv) && is_understood(&import) ? print_uri(&import, &ignored) : NULL;
    if (!uri)
        return NULL;
    const char *const *said = import.said;
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    if (said[INPUT])
        shell_quote_word(&line, said[INPUT]);
    for (size_t i = 0; i < import.input_count; i++)
        shell_quote_word(&line, import.inputs[i]);
    shell_quote_option(&line, "--uri", uri);
    free(uri);
    if (said[FIELDS])
        append_columns(&line, said[FIELDS]);
    if (is_upsert(&import)) {
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

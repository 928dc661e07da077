/* What the library is made of, the options of a load, and how a call fails. */
#include "library/library.h"
#include "base/chars.h"
#include "base/conceal.h"
#include "base/log.h"
#include "base/text.h"

#include <bzlib.h>
#include <lzma.h>
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* ---- how a call fails ---- */

void library_words(char words[LIBRARY_WORDS], const char *text) {
    char concealed[sizeof((err_t *)NULL)->text];
    strncpy(concealed, text, sizeof concealed - 1);
    concealed[sizeof concealed - 1] = '\0';
    conceal(concealed, sizeof concealed);
    escape_lines(words, concealed, strlen(concealed));
}

/* What does not fit is left out, a whole character at a time: a long list of files may be cut. */
static void cut_to(char *to, size_t room, const char *words) {
    size_t length = strlen(words);
    if (length >= room)
        for (length = room - 1; length && ((unsigned char)words[length] & 0xC0) == 0x80;)
            length--;
    memcpy(to, words, length);
    to[length] = '\0';
}

bool library_tell(tipple_error_t *error, const err_t *err) {
    if (!error)
        return false;
    char words[LIBRARY_WORDS];
    error->status = (int)err->status;
    library_words(words, err->text);
    cut_to(error->text, sizeof error->text, words);
    return false;
}

bool library_no_memory(tipple_error_t *error, size_t bytes) {
    err_t err;
    err_memory(&err, bytes);
    return library_tell(error, &err);
}

bool library_misses(const void *given, const char *what, tipple_error_t *error) {
    err_t err;
    if (given)
        return false;
    err_set(&err, STATUS_USAGE, "%s is NULL", what);
    library_tell(error, &err);
    return true;
}

void library_be_silent(void) {
    log_set_level(LOG_SILENT);
}

/* ---- options of a load ---- */

static const char *keep(texts_list_t *copies, const char *text, err_t *err) {
    char *copy = strdup(text);
    if (!copy || !GROW(copies->items, copies->room, copies->count + 1, err)) {
        free(copy);
        err_memory(err, strlen(text));
        return NULL;
    }
    return copies->items[copies->count++] = copy;
}

bool library_options_init(library_options_t *options, const char *uri, err_t *err) {
    options->copies = (texts_list_t){.items = NULL};
    load_options_init(&options->load);
    return (options->load.spec.uri = keep(&options->copies, uri, err));
}

void library_options_free(library_options_t *options) {
    options_free(load_options, &options->load);
    for (size_t i = 0; i < options->copies.count; i++)
        free(options->copies.items[i]);
    free(options->copies.items);
}

static const option_t *find(const char *name, err_t *err) {
    enum { MOST = 80 };
    const char *names[MOST];
    size_t count = 0;
    for (const option_t *row = load_options; row->name; row++) {
        if (!(row->takers & TAKEN_BY_LIBRARY) || count == MOST)
            continue;
        if (strcmp(row->name, name) == 0)
            return row;
        names[count++] = row->name;
    }
    err_set(err, STATUS_USAGE, "there is no option '%.200s'%s", name, suggestion(name, names, count).text);
    return NULL;
}

bool library_options_set(library_options_t *options, const char *name, const char *value, err_t *err) {
    const option_t *row = find(name, err);
    const char *copy = row ? keep(&options->copies, value, err) : NULL;
    return copy && option_set(row, copy, &options->load, err);
}

bool library_options_set_format(library_options_t *options, const char *name, const char *text, err_t *err) {
    const char *copy = keep(&options->copies, text ? text : name, err);
    if (!copy)
        return false;
    options->load.spec.format = text ? NULL : copy;
    options->load.spec.guessed = text ? copy : NULL;
    return true;
}

/* ---- what this build is made of, for bug reports: the one place where it is said ---- */

#ifdef TIPPLE_HAVE_ISAL
#include <isa-l.h>
#define ISAL_TEXT(major, minor, patch)    ", isal " #major "." #minor "." #patch
#define ISAL_NUMBERS(major, minor, patch) ISAL_TEXT(major, minor, patch)
static const char isal[] = ISAL_NUMBERS(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
#else
static const char isal[] = ", no isal";
#endif

static char version_text[600];

/* What a URI may ask of this driver: TLS, and by SASL Kerberos. Macros say it, where the driver's headers have them. */
#if defined MONGOC_ENABLE_SSL
#define WITH_TLS ", TLS"
#elif defined MONGOC_CC
#define WITH_TLS ", no TLS"
#else
#define WITH_TLS ""
#endif
#if defined MONGOC_ENABLE_SASL
#define WITH_SASL ", SASL"
#elif defined MONGOC_CC
#define WITH_SASL ", no SASL"
#else
#define WITH_SASL ""
#endif

static void write_text(void) {
    const char *bzip2 = BZ2_bzlibVersion(); /* "1.0.8, 13-Jul-2019" */
    snprintf(version_text, sizeof version_text,
             "tipple %s\nlibmongoc %s" WITH_TLS WITH_SASL "\nreads zlib %s%s, zstd %s, lzma %s, bzip2 %.*s\n",
             TIPPLE_VERSION, mongoc_get_version(), zlibVersion(), isal, ZSTD_versionString(),
             lzma_version_string(), (int)strcspn(bzip2, ","), bzip2);
}

const char *tipple_version(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_text);
    return version_text;
}

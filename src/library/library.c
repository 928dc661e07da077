/* How a call fails, what stands instead of options that are gone, and what the library is made of. */
#include "library/library.h"
#include "base/chars.h"
#include "base/conceal.h"
#include "base/log.h"
#include "base/text.h"

#include <bzlib.h>
#include <isa-l.h>
#include <lzma.h>
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
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
bool library_tell(tipple_error_t *error, const err_t *err) {
    if (!error)
        return false;
    char words[LIBRARY_WORDS];
    library_words(words, err->text);
    size_t length = strlen(words);
    if (length >= sizeof error->text)
        for (length = sizeof error->text - 1; length && ((unsigned char)words[length] & 0xC0) == 0x80;)
            length--;
    memcpy(error->text, words, length);
    error->text[length] = '\0';
    error->status = (int)err->status;
    return false;
}

bool library_refuse(tipple_error_t *error, const char *why) {
    err_t err;
    err_set(&err, STATUS_USAGE, "%s", why);
    return library_tell(error, &err);
}

bool library_no_memory(tipple_error_t *error, size_t bytes) {
    err_t err;
    err_memory(&err, bytes);
    return library_tell(error, &err);
}

bool library_misses(const void *given, const char *what, tipple_error_t *error) {
    char why[80];
    snprintf(why, sizeof why, "%s is NULL", what);
    return !given && !library_refuse(error, why);
}

void library_be_silent(void) {
    log_set_level(LOG_SILENT);
}

/* ---- options that are gone ---- */

/* Words of mongoimport (docs/mongoimport.md has all of them), options of earlier versions, and what is meant by them
 * here. letter: of a short option of theirs. */
static const struct {
    const char *theirs;
    char letter;
    const char *ours;
} other_words[] = {
    {"host", 0, "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"port", 0, "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"db", 'd', "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"collection", 'c', "--uri mongodb://HOST:PORT/DATABASE.COLLECTION"},
    {"username", 'u', "--uri mongodb://USER@HOST, with the password in --uri-file or TIPPLE_URI"},
    {"password", 'p', "--uri-file FILE or TIPPLE_URI, whose URI holds the password"},
    {"ssl", 0, "?tls=true in the URI"},
    {"file", 0, "the file's name without an option"},
    {"headerline", 0, "--with header=yes, where it is not guessed"},
    {"fields", 0, "--type column_1:NAME: for each column"},
    {"upsertFields", 0, "--id FIELD,... --existing replace"},
    {"numInsertionWorkers", 0, "--threads N"},
    {"batchSize", 0, "--batch N"},
    /* of 0.2 */
    {"header", 0, "--with header=yes, no or the number of a line"},
    {"dates", 0, "--with dates=dmy, mdy or ymd"},
    {"decimal", 0, "--with decimal=. or --with decimal=,"},
    {"delimiter", 0, "--with delimiter=SIGN"},
    {"quote", 0, "--with quote=double, single or none"},
    {"encoding", 0, "--with encoding=NAME"},
    {"nested", 0, "--with nested=yes"},
    {"polite", 0, "--max-rate auto"},
    {"help-all", 0, "--help"},
    {"batch-bytes", 0, "--batch N; a batch is also sent when it has 2 MB"},
    {"reject-code", 0, "nothing: which errors are a document's fault is known, and any other ends the load"},
    {"validate", 0, "nothing: BSON is always checked, and text that is not UTF-8 is stored as it is"},
    {"parallel", 0, "more shards: a server runs an aggregation on one core"},
    {"csv", 0, "--json, which has the same figures"},
    {"cold", 0, "a restart of the server before the command, with --repeats 1 --warmup 0"},
    {"max-staleness", 0, "maxStalenessSeconds in the URI"},
    {"storage", 0, "tune --compressor none,snappy,zlib,zstd; each table has bytes a document"},
    {"keys", 0, "the keys of a format file (formats --show)"},
    {"wire-compressor", 0, "compressors= in the URI"},
    {"write-concern", 0, "w= in the URI"},
    {"clustered", 0, "--create '{\"clusteredIndex\": true}', where that is not the default"},
    {"no-clustered", 0, "--create '{\"clusteredIndex\": false}'"},
    {"both-clustered", 0, "a tune with --create '{\"clusteredIndex\": true}', then one with false"},
    {"max-record", 0, "nothing: longer records than 16 MiB are rejected"},
    {"quick", 0, "--sample P%, which compares a share of the blocks byte by byte"},
    {"both-direct", 0, "a tune with --direct, then one without"},
    {"routers", 0, "the routers named in the URI"},
    {"precision", 0, "--budget TIME: more time, more rounds"},
    {"import", 0, "`tipple load FILE... --uri mongodb://HOST/DATABASE.COLLECTION`"},
    {"restore", 0, "`tipple load DUMP --uri mongodb://HOST`, for a dump of mongodump"},
    {"plan", 0, "the script tools/plan of the source tree"},
    {"records", 0, "generate --rows N, for each kind"},
    {"documents", 0, "generate --rows N, for each kind"},
    {"scale", 0, "drill --predict-only, or the script tools/plan of the source tree"},
    {"drop", 0, "`tipple load --drop`; a drill never touches its target"},
    {"indexes", 0, "--index; a load builds indexes after the documents"},
};

const char *library_gone(const char *word, bool is_long) {
    for (size_t i = 0; i < COUNT(other_words); i++)
        if (is_long ? strcasecmp(word, other_words[i].theirs) == 0 : *word == other_words[i].letter)
            return other_words[i].ours;
    return NULL;
}

/* ---- what this build is made of, for bug reports: the one place where it is said ---- */

static char version_text[600];

static void write_text(void) {
    const char *bzip2 = BZ2_bzlibVersion(); /* "1.0.8, 13-Jul-2019" */
    snprintf(version_text, sizeof version_text,
             "tipple %s\nlibmongoc %s\nreads isal %d.%d.%d, zstd %s, lzma %s, bzip2 %.*s, writes zlib %s\n",
             TIPPLE_VERSION, mongoc_get_version(), ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION,
             ZSTD_versionString(), lzma_version_string(), (int)strcspn(bzip2, ","), bzip2, zlibVersion());
}

const char *tipple_version(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_text);
    return version_text;
}

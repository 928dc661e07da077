/* What the library is made of, and how a call fails. */
#include "library/library.h"
#include "base/chars.h"
#include "base/conceal.h"
#include "base/log.h"

#include <bzlib.h>
#include <lzma.h>
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
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

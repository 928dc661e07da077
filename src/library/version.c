/* What this build is made of, for bug reports: the one place where it is said. */
#include "tipple/tipple.h"

#include <bzlib.h>
#include <lzma.h>
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef TIPPLE_HAVE_ISAL
#include <isa-l.h>
#define ISAL_TEXT(major, minor, patch)    ", isal " #major "." #minor "." #patch
#define ISAL_NUMBERS(major, minor, patch) ISAL_TEXT(major, minor, patch)
static const char isal[] = ISAL_NUMBERS(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
#else
static const char isal[] = ", no isal";
#endif

static char text[600];

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
    snprintf(text, sizeof text,
             "tipple %s\nlibmongoc %s" WITH_TLS WITH_SASL "\nreads zlib %s%s, zstd %s, lzma %s, bzip2 %.*s\n",
             TIPPLE_VERSION, mongoc_get_version(), zlibVersion(), isal, ZSTD_versionString(),
             lzma_version_string(), (int)strcspn(bzip2, ","), bzip2);
}

const char *tipple_version(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_text);
    return text;
}

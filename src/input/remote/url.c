/* URLs: of which scheme they are, and how they are shown. And secrets: URLs that are signed in advance, keys and tokens lie in
 * pages of their own, which the kernel leaves out of cores, and are overwritten before these are given back. */
#include "format/values/values.h"
#include "input/remote/remote.h"
#include "input/remote/transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* ---- secrets ---- */

/* Memory in pieces of a power of two: a list of free ones of each size. */
typedef union piece {
    struct {
        union piece *next; /* of a free one */
        unsigned size;     /* as a power of two, with this */
    };
    max_align_t align;
} piece_t;

enum { LEAST_SIZE = 6, SIZES = 48, PAGES = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    piece_t *unused[SIZES];
    char *at;
    size_t left;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What is left of the last pages when the next ones are taken is lost. */
void *secret_malloc(size_t size) {
    unsigned power = LEAST_SIZE;
    while (((size_t)1 << power) < size + sizeof(piece_t))
        power++;
    const size_t bytes = (size_t)1 << power, room = bytes > PAGES ? bytes : PAGES;
    pthread_mutex_lock(&arena.lock);
    piece_t *piece = arena.unused[power];
    if (!piece && bytes > arena.left) {
        void *pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        arena.at = pages;
        arena.left = pages != MAP_FAILED ? room : 0;
        madvise(pages, arena.left, MADV_DONTDUMP);
    }
    if (piece) {
        arena.unused[power] = piece->next;
    } else if (bytes <= arena.left) {
        piece = (piece_t *)(void *)arena.at;
        arena.at += bytes;
        arena.left -= bytes;
    }
    pthread_mutex_unlock(&arena.lock);
    if (!piece)
        return NULL;
    piece->size = power;
    return piece + 1;
}

void secret_free(void *memory) {
    piece_t *piece = memory ? (piece_t *)memory - 1 : NULL;
    if (!piece)
        return;
    explicit_bzero(memory, ((size_t)1 << piece->size) - sizeof *piece);
    pthread_mutex_lock(&arena.lock);
    piece->next = arena.unused[piece->size];
    arena.unused[piece->size] = piece;
    pthread_mutex_unlock(&arena.lock);
}

void *secret_realloc(void *memory, size_t size) {
    const size_t old = memory ? ((size_t)1 << ((piece_t *)memory - 1)->size) - sizeof(piece_t) : 0;
    if (memory && size <= old)
        return memory;
    void *larger = secret_malloc(size);
    if (larger && old)
        memcpy(larger, memory, old);
    if (larger)
        secret_free(memory);
    return larger;
}

void *secret_calloc(size_t count, size_t size) {
    void *memory = secret_malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

char *secret_strdup(const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = secret_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void secret_free_text(text_t *text) {
    if (text->bytes)
        explicit_bzero(text->bytes, text->room);
    text_free(text);
}

/* ---- URLs ---- */

const remote_scheme_t *url_scheme(const char *url) {
    static const remote_scheme_t *const schemes[] = {&remote_https, &remote_http, &remote_s3};
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (strncasecmp(url, schemes[i]->begins, strlen(schemes[i]->begins)) == 0)
            return schemes[i];
    return NULL;
}

bool remote_is(const char *path) {
    return url_scheme(path);
}

size_t remote_at_once(const char *path) {
    const remote_scheme_t *scheme = url_scheme(path);
    return scheme ? scheme->at_once : 0;
}

/* The parts of https://user@host/path?query#fragment. Of s3 all is the host: in the key of an object these are letters as any. */
typedef struct {
    const remote_scheme_t *scheme;
    const char *user, *host, *path, *end;
} parts_t;

static parts_t take_apart(const char *url) {
    parts_t parts = {.scheme = url_scheme(url), .user = strstr(url, "://") + 3};
    const bool is_web = parts.scheme != &remote_s3;
    parts.path = parts.user + strcspn(parts.user, is_web ? "/?#" : "");
    parts.end = parts.path + strcspn(parts.path, "?#");
    const char *at = is_web ? memrchr(parts.user, '@', (size_t)(parts.path - parts.user)) : NULL;
    parts.host = at ? at + 1 : parts.user;
    return parts;
}

/* Blanks, and letters of other scripts, are shown as such: a request encodes them again. */
static void append_path(text_t *shown, const char *at, const char *end) {
    for (uint8_t byte; at < end; at++) {
        const bool encoded = *at == '%' && end - at > 2 && hex_read_byte((const uint8_t *)at + 1, 2, &byte) &&
                             (byte == ' ' || byte >= 0x80);
        const char letter = encoded ? (char)byte : *at;
        text_append_bytes(shown, &letter, 1);
        at += encoded ? 2 : 0;
    }
}

/* ---- URLs with secrets ---- */

/* Each is kept until the process ends: its readers may be anywhere. */
typedef struct kept {
    struct kept *next;
    char *shown, *whole;
    bool several; /* two arguments that are shown alike */
} kept_t;

static kept_t *all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static kept_t *find_kept(const char *shown) {
    kept_t *at = all_kept;
    while (at && strcmp(at->shown, shown) != 0)
        at = at->next;
    return at;
}

/* A new URL of this name takes the place of an old one. False: memory is out. */
static bool keep(const char *url, const char *shown, bool is_argument) {
    pthread_mutex_lock(&kept_lock);
    kept_t *same = find_kept(shown), *kept = NULL;
    bool ok = same && strcmp(same->whole, url) == 0;
    if (!ok && (kept = calloc(1, sizeof *kept))) {
        kept->whole = secret_strdup(url);
        kept->shown = strdup(shown);
        kept->several = is_argument && same;
        kept->next = all_kept;
        ok = kept->whole && kept->shown;
    }
    if (ok && kept)
        all_kept = kept;
    pthread_mutex_unlock(&kept_lock);
    return ok;
}

static char *show(const char *url, bool is_argument, err_t *err) {
    text_t shown = {.length = 0};
    const parts_t parts = take_apart(url);
    const bool secret = parts.host > parts.user || *parts.end;
    text_append(&shown, parts.scheme->begins);
    text_append_bytes(&shown, parts.host, (size_t)(parts.path - parts.host));
    append_path(&shown, parts.path, parts.end);
    if (!shown.lacking && (secret || is_argument) &&
        !keep(secret ? url : shown.bytes, shown.bytes, is_argument))
        shown.lacking = strlen(url);
    return text_take(&shown, err);
}

char *remote_shown(const char *url, err_t *err) {
    return show(url, false, err);
}

void remote_hide(char *argument) {
    err_t ignored;
    if (!remote_is(argument))
        return;
    const size_t length = strlen(argument);
    char *shown = show(argument, true, &ignored); /* a second one may have secrets */
    if (shown) {
        explicit_bzero(argument, length);
        memcpy(argument, shown, strlen(shown));
    }
    free(shown);
}

const char *url_whole(const char *shown, err_t *err) {
    const char *why = NULL;
    pthread_mutex_lock(&kept_lock);
    const kept_t *kept = find_kept(shown);
    pthread_mutex_unlock(&kept_lock);
    const char *whole = kept ? kept->whole : shown;
    const parts_t parts = take_apart(whole);
    if (memchr(parts.user, ':', (size_t)(parts.host - parts.user)))
        why = "was given with a password, which others can see: put it into ~/.netrc (machine HOST login "
              "USER password PASSWORD), and leave it out";
    if (parts.scheme != &remote_s3 && *parts.end != '?' && (parts.path == parts.end || parts.end[-1] == '/'))
        why = "is a folder, and a web server has no list of its files: name the files";
    if (kept && kept->several)
        why = "was given twice, with another query each: load them one after the other, each with an "
              "--input-name";
    if (why)
        err_set(err, STATUS_USAGE, "%.1000s: %s", shown, why);
    return why ? NULL : whole;
}

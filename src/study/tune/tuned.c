#include "study/tune/tuned.h"
#include "base/ejson.h"
#include "load/spec/limits.h"
#include "server/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_HOSTS = 64, LEAST_NUMBER = 1 };

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A digest of the collection's name and the hosts. */
static uint64_t digest_of(const address_t *address) {
    char *words[MOST_HOSTS], *copy = strdup(address->hosts), *rest = copy;
    size_t count = 0;
    XXH64_hash_t digest = XXH3_64bits(address->name, strlen(address->name));
    for (char *word; copy && count < MOST_HOSTS && (word = strsep(&rest, ","));)
        words[count++] = word;
    qsort(words, count, sizeof *words, by_text);
    for (size_t i = 0; i < count; i++)
        digest = XXH3_64bits_withSeed(words[i], strlen(words[i]), digest);
    free(copy);
    return digest;
}

/* Finds the folder; makes missing parts of it. */
static bool find_folder(char folder[3072], bool make, err_t *err) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        snprintf(folder, 3072, "%s/tipple", cache);
    else if (home && *home == '/')
        snprintf(folder, 3072, "%s/.cache/tipple", home);
    else
        return err_set(err, STATUS_HOST,
                       "there is no folder to keep it in: neither XDG_CACHE_HOME nor HOME is set");
    for (char *slash = folder + 1; make && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
    return !make || mkdir(folder, 0700) == 0 || errno == EEXIST ||
           err_set(err, STATUS_HOST, "the folder %s cannot be made: %s", folder, strerror(errno));
}

/* FOLDER/tune-mot.results-1f2e3d4c5b6a7988.json; the name is reduced to characters that every file system allows. */
static bool find_path(const char *uri, char path[4096], bool make, err_t *err) {
    char folder[3072], name[64];
    address_t address;
    if (!address_parse(&address, uri, err))
        return false;
    snprintf(name, sizeof name, "%s", address.name);
    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at))
            *at = '_';
    const uint64_t digest = digest_of(&address);
    address_free(&address);
    if (!find_folder(folder, make, err))
        return false;
    snprintf(path, 4096, "%s/tune-%s-%016llx.json", folder, name, (unsigned long long)digest);
    return true;
}

bool tuned_write(const char *uri, const tuned_t *tuned, char path[4096], err_t *err) {
    char beside[4104];
    if (!find_path(uri, path, true, err))
        return false;
    bson_t *document = BCON_NEW("schema", BCON_INT32(1), "namespace", BCON_UTF8(tuned->namespace), "format",
                                BCON_UTF8(tuned->format), "threads", BCON_INT32((int32_t)tuned->threads),
                                "batch", BCON_INT32((int32_t)tuned->batch), "docs_per_second",
                                BCON_DOUBLE(tuned->docs_per_second), "when", BCON_DATE_TIME(tuned->when_ms));
    char *text = ejson_print(document, true, NULL);
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = text ? fopen(beside, "we") : NULL;
    bool ok = file && fprintf(file, "%s\n", text) > 0;
    ok = file && fclose(file) == 0 && ok;
    ok = ok && rename(beside, path) == 0; /* a reader sees either the whole new file or the old one */
    if (!ok) {
        err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
        unlink(beside);
    }
    free(text);
    bson_destroy(document);
    return ok;
}

static bool read_number(const bson_t *document, const char *key, uint32_t most, uint32_t *number) {
    bson_iter_t at;
    if (!bson_iter_init_find(&at, document, key) || !BSON_ITER_HOLDS_INT(&at) ||
        bson_iter_as_int64(&at) < LEAST_NUMBER || bson_iter_as_int64(&at) > most)
        return false;
    *number = (uint32_t)bson_iter_as_int64(&at);
    return true;
}

static void read_text(const bson_t *document, const char *key, char *out, size_t room) {
    bson_iter_t at;
    if (bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_UTF8(&at))
        snprintf(out, room, "%s", bson_iter_utf8(&at, NULL));
}

bool tuned_read(const char *uri, tuned_t *tuned, err_t *err) {
    char path[4096], text[8192];
    bson_t document;
    bson_error_t error;
    bson_iter_t at;
    *tuned = (tuned_t){.threads = 0};
    *err = (err_t){.status = STATUS_OK};
    if (!find_path(uri, path, false, err))
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return errno != ENOENT && errno != ENOTDIR &&
               err_set(err, STATUS_HOST, "%s cannot be read: %s", path, strerror(errno));
    const size_t length = fread(text, 1, sizeof text - 1, file);
    const int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem)
        return err_set(err, STATUS_HOST, "%s cannot be read: %s", path, strerror(problem));
    text[length] = '\0';
    if (!bson_init_from_json(&document, text, (ssize_t)length, &error))
        return err_set(err, STATUS_HOST, "%s is damaged (%s): remove it, and tune again", path,
                       error.message);
    const bool ok = read_number(&document, "threads", LIMITS_MOST_THREADS, &tuned->threads) &&
                    read_number(&document, "batch", LIMITS_MOST_BATCH, &tuned->batch);
    read_text(&document, "namespace", tuned->namespace, sizeof tuned->namespace);
    read_text(&document, "format", tuned->format, sizeof tuned->format);
    if (bson_iter_init_find(&at, &document, "docs_per_second"))
        tuned->docs_per_second = bson_iter_as_double(&at);
    if (bson_iter_init_find(&at, &document, "when") && BSON_ITER_HOLDS_DATE_TIME(&at))
        tuned->when_ms = bson_iter_date_time(&at);
    bson_destroy(&document);
    return ok ||
           err_set(err, STATUS_HOST, "%s does not hold what a tune writes: remove it, and tune again", path);
}

#include "generate/generate.h"
#include "base/numbers/units.h"
#include "generate/isd/isd_rows.h"
#include "generate/isd/isd_station.h"
#include "generate/mot/mot_rows.h"
#include "generate/obd/obd_rows.h"
#include "generate/write/sink.h"
#include "generate/ycsb/ycsb_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

/* ---- writing ---- */

/* What makes the records: the next ones, as many as fit, 0 at the end of a file. */
typedef struct {
    void *rows; /* NULL: it could not be made, and err has the sentence */
    size_t (*fill)(void *rows, char *to, size_t room);
    void (*destroy)(void *rows);
} maker_t;

static bool write_file(sink_t *sink, int fd, maker_t maker, char *buffer, err_t *err) {
    sink_begin(sink, fd);
    for (size_t count; (count = maker.fill(maker.rows, buffer, BUFFER_BYTES));)
        if (!sink_write(sink, buffer, count, err))
            return false;
    return sink_end(sink, err);
}

/* Everything in one file. `fewer` is the option to ask for less with. */
static bool write_all(maker_t maker, bool gzip, const char *fewer, int fd, uint64_t *bytes, err_t *err) {
    *bytes = 0;
    if (!maker.rows)
        return false;
    sink_t *sink = sink_new(gzip, fewer);
    char *buffer = malloc(BUFFER_BYTES);
    bool ok = sink && buffer ? write_file(sink, fd, maker, buffer, err) : err_memory(err, BUFFER_BYTES);
    if (sink)
        *bytes = sink_bytes(sink);
    free(buffer);
    sink_destroy(sink);
    maker.destroy(maker.rows);
    return ok;
}

/* ---- MOT ---- */

bool generate_mot_check(const generate_mot_t *what, err_t *err) {
    if (!mot_release_find(what->release, err))
        return false;
    return what->rows <= GENERATE_MOT_MOST_ROWS ||
           err_set(err, STATUS_USAGE,
                   "--rows %llu: at most %d rows have ids of their own; make several files",
                   (unsigned long long)what->rows, GENERATE_MOT_MOST_ROWS);
}

bool generate_mot(const generate_mot_t *what, int fd, uint64_t *bytes, err_t *err) {
    void *rows =
        generate_mot_check(what, err) ? mot_rows_new(what->release, what->rows, what->seed, err) : NULL;
    return write_all((maker_t){rows, mot_rows_fill, mot_rows_destroy}, what->gzip, "--rows", fd, bytes, err);
}

/* ---- ISD ---- */

static uint64_t stations_of(const generate_isd_t *what) {
    if (what->stations)
        return what->stations;
    return what->records < GENERATE_ISD_STATIONS ? what->records : GENERATE_ISD_STATIONS;
}

bool generate_isd_check(const generate_isd_t *what, err_t *err) {
    char some[UNITS_MAX], most[UNITS_MAX], each[UNITS_MAX], enough[UNITS_MAX];
    uint64_t stations = stations_of(what), needed = what->records / ISD_ROWS_MOST_A_STATION + 1;
    units_count(most, ISD_MOST_STATIONS);
    if (stations > ISD_MOST_STATIONS)
        return err_set(err, STATUS_USAGE, "--stations %llu: at most %s stations have ids of their own",
                       (unsigned long long)stations, most);
    if (stations > what->records)
        return err_set(err, STATUS_USAGE, "%s stations cannot send %s records: each sends at least one",
                       units_count(some, stations), units_count(each, what->records));
    if (what->records <= stations * ISD_ROWS_MOST_A_STATION)
        return true;
    if (needed > ISD_MOST_STATIONS)
        return err_set(err, STATUS_USAGE,
                       "--records %llu: that is more than %s stations send; make several files",
                       (unsigned long long)what->records, most);
    return err_set(
        err, STATUS_USAGE,
        "%s records are too many for %s stations, which send at most %s each; say --stations %s or more",
        units_count(some, what->records), units_count(most, stations),
        units_count(each, ISD_ROWS_MOST_A_STATION), units_count(enough, needed));
}

static maker_t isd_maker(const generate_isd_t *what, err_t *err) {
    isd_rows_t *rows = NULL;
    if (generate_isd_check(what, err))
        rows = isd_rows_new(what->records, (uint32_t)stations_of(what), what->seed, err);
    return (maker_t){rows, isd_rows_fill, isd_rows_destroy};
}

bool generate_isd(const generate_isd_t *what, int fd, uint64_t *bytes, err_t *err) {
    return write_all(isd_maker(what, err), what->gzip, "--records", fd, bytes, err);
}

static bool write_named(sink_t *sink, const char *path, maker_t maker, char *buffer, err_t *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    bool ok = write_file(sink, fd, maker, buffer, err) || err_where(err, "%s", path);
    if (close(fd) != 0 && ok)
        ok = err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    return ok;
}

bool generate_isd_files(const generate_isd_t *what, const char *directory, uint64_t *files, uint64_t *bytes,
                        err_t *err) {
    maker_t maker = isd_maker(what, err);
    *files = *bytes = 0;
    if (!maker.rows)
        return false;
    sink_t *sink = sink_new(what->gzip, "--records");
    char *buffer = malloc(BUFFER_BYTES);
    size_t path_size = strlen(directory) + ISD_ROWS_NAME_SIZE + sizeof "/.gz";
    char *path = malloc(path_size), name[ISD_ROWS_NAME_SIZE];
    bool ok = sink && buffer && path;
    if (!ok)
        err_memory(err, BUFFER_BYTES);
    else if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        ok = err_set(err, STATUS_HOST, "the directory %s cannot be made: %s", directory, strerror(errno));
    while (ok && isd_rows_next_file(maker.rows, name)) {
        snprintf(path, path_size, "%s/%s%s", directory, name, what->gzip ? ".gz" : "");
        ok = write_named(sink, path, maker, buffer, err);
        *files += ok;
    }
    if (sink)
        *bytes = sink_bytes(sink);
    free(path);
    free(buffer);
    maker.destroy(maker.rows);
    sink_destroy(sink);
    return ok;
}

/* ---- OBD ---- */

bool generate_obd_check(const generate_obd_t *what, err_t *err) {
    return what->rows <= GENERATE_OBD_MOST_ROWS ||
           err_set(err, STATUS_USAGE,
                   "--rows %llu: one file has %d rows at most; make several files with seeds of their own",
                   (unsigned long long)what->rows, GENERATE_OBD_MOST_ROWS);
}

bool generate_obd(const generate_obd_t *what, int fd, uint64_t *bytes, err_t *err) {
    void *rows = generate_obd_check(what, err) ? obd_rows_new(what->rows, what->seed, err) : NULL;
    return write_all((maker_t){rows, obd_rows_fill, obd_rows_destroy}, what->gzip, "--rows", fd, bytes, err);
}

/* ---- YCSB ---- */

_Static_assert(YCSB_ROWS_LEAST_ROOM(GENERATE_YCSB_MOST_TEXT_BYTES) <= BUFFER_BYTES, "the longest row fits");

bool generate_ycsb_check(const generate_ycsb_t *what, err_t *err) {
    const uint64_t ids = UINT64_C(1) << 63;
    if (what->text_bytes > GENERATE_YCSB_MOST_TEXT_BYTES)
        return err_set(err, STATUS_USAGE, "--text-bytes %llu: texts have %d bytes at most",
                       (unsigned long long)what->text_bytes, GENERATE_YCSB_MOST_TEXT_BYTES);
    return (what->first <= ids && what->documents <= ids - what->first) ||
           err_set(err, STATUS_USAGE, "--documents %llu from --first %llu: the largest id is %lld",
                   (unsigned long long)what->documents, (unsigned long long)what->first,
                   (long long)INT64_MAX);
}

bool generate_ycsb(const generate_ycsb_t *what, int fd, uint64_t *bytes, err_t *err) {
    uint64_t text_bytes = what->text_bytes ? what->text_bytes : GENERATE_YCSB_TEXT_BYTES;
    ycsb_rows_t *rows = NULL;
    if (generate_ycsb_check(what, err))
        rows = ycsb_rows_new(what->first, what->documents, text_bytes, what->seed, err);
    return write_all((maker_t){rows, ycsb_rows_fill, ycsb_rows_destroy}, what->gzip, "--documents", fd, bytes,
                     err);
}

#include "base/chars.h"
#include "base/document.h"
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/store/store_mongo.h"
#include "cli/options/cli.h"
#include "format/cut/ends.h"
#include "format/record/record_id.h"
#include "format/values/values.h"
#include "input/file/name.h"
#include "input/manifest.h"
#include "input/source.h"
#include "load/plan/inputs.h"
#include "server/collection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* all of its options are those of load_options */
static load_options_t values;

enum { RECORD_SHOWN = 4096 };

/* The place that an `_id` stands for, and what the file says there. */
typedef struct {
    bool found;
    char path[4096], encoding[80]; /* of its text; "": UTF-8 or UTF-16 */
    uint64_t offset;
    int64_t modified_ns; /* of the file when it was loaded last; 0: not known */
    bool by_name;        /* what has that name is not the file: it was given by --input-name */
    bool lane_fits;      /* false: the lane does not belong to this place, so tipple did not make this _id */
    uint64_t documents;  /* that have this _id: 0 or 1 */
    bool here;           /* the file is */
    uint64_t line;       /* 0: the file is not here, or ends before the offset */
    bool inside;  /* no record can begin there: it is in the middle of a line, or of a document of BSON */
    bool changed; /* the file has another modification time than when it was loaded */
    char record[4 * RECORD_SHOWN]; /* its beginning, as it may be shown on a terminal */
} where_t;

static void find_place(const places_t *places, int64_t id, where_t *where) {
    const entry_t *entry = places_find(places, record_id_voff(id), &where->offset);
    if (!entry || entry->removed)
        return;
    where->found = true;
    where->by_name = entry_is_by_name(entry);
    where->lane_fits = record_id_lane(entry->ordinal, where->offset) == record_id_lane_of(id);
    where->modified_ns = entry->version ? entry->versions[entry->version - 1].modified_ns : 0;
    snprintf(where->path, sizeof where->path, "%s", entry->path);
    if (entry->kind && encoding_iconv_knows(entry->kind))
        snprintf(where->encoding, sizeof where->encoding, "%s", entry->kind);
}

static bool look_up(int64_t id, where_t *where, err_t *err) {
    const server_options_t wanted = {
        .uri = values.spec.uri, .patience_ns = values.spec.patience_ns, .connections = 1};
    catalog_header_t header = {0};
    places_t *places = NULL;
    store_t *store = NULL;
    mongoc_client_t *client = NULL;
    bool found = false;
    bson_t filter = BSON_INITIALIZER;
    BSON_APPEND_INT64(&filter, "_id", id);
    server_t *server = server_connect(&wanted, err);
    bool ok = server && (client = server_take(server, err)) &&
              (store = store_mongo_open(server, client, err)) &&
              store_read_header(store, &header, &found, err);
    const catalog_settings_t settings = {.name = ok ? server_namespace(server) : ""};
    ok = ok && (found || catalog_refuse_none(settings.name, &header, err)) &&
         catalog_check_header(&header, &settings, err) && (places = places_read(store, err));
    if (ok && header.id)
        ok = err_set(err, STATUS_USAGE,
                     "the _ids of %s are the data's own (--id %s): they say nothing of a place",
                     settings.name, header.id);
    if (ok)
        find_place(places, id, where);
    ok = ok && collection_count(server, client, server_collection(server), &filter, &where->documents, err);
    bson_destroy(&filter);
    places_free(places);
    catalog_header_free(&header);
    store_mongo_close(store);
    server_give(server, client);
    server_destroy(server);
    return ok;
}

/* Of text a line; of BSON the document, if it is not too large. */
static void show_record(where_t *where, bool bson, const uint8_t *text, size_t size) {
    bool lies;
    bson_t document;
    const uint8_t *end = memchr(text, '\n', size);
    size_t length = bson ? bson_span_find(text, size, &lies) : end ? (size_t)(end - text) : size;
    if (bson) {
        char *json =
            length && bson_init_static(&document, text, length) ? ejson_print(&document, true, NULL) : NULL;
        snprintf(where->record, sizeof where->record, "%s", json ? json : "(a document of BSON)");
        free(json);
    } else {
        length -= length && text[length - 1] == '\r';
        escape_text(where->record, sizeof where->record, (const char *)text, length);
    }
}

/* Objects of JSON begin anywhere in a line. Where nothing but blanks was read, nobody knows yet. */
static bool may_be_json(const uint8_t *text, size_t size) {
    const uint8_t *end = text + size, *at = lines_blanks(text + lines_bom(text, size), end);
    return at == end || *at == '{' || *at == '[';
}

/* Reads the text before the offset, to count its lines. False: the text ends before. */
static bool read_on(source_t *source, uint8_t *buffer, size_t size, where_t *where) {
    bson_span_counter_t counter = {0};
    bool bson = false, json = false;
    err_t err;
    ssize_t got = 1;
    where->line = 1;
    for (uint64_t at = 0; at < where->offset && got > 0; at += (uint64_t)got) {
        const uint64_t left = where->offset - at;
        got = source_read(source, buffer, left < size ? (size_t)left : size, &err);
        if (got <= 0)
            return false;
        bson = at ? bson : bson_span_begins(buffer, (size_t)got);
        json = at ? json : may_be_json(buffer, (size_t)got);
        where->line +=
            bson ? bson_span_count(&counter, buffer, (size_t)got) : lines_count(buffer, (size_t)got);
        where->inside = bson ? counter.left || counter.have : !json && buffer[got - 1] != '\n';
    }
    /* a byte order mark is no part of the first record */
    if (where->offset == 3 && lines_bom(buffer, 3))
        where->inside = false;
    got = source_read(source, buffer, RECORD_SHOWN - 1, &err);
    if (got > 0)
        show_record(where, bson || (!where->offset && bson_span_begins(buffer, (size_t)got)), buffer,
                    (size_t)got);
    return got > 0;
}

static void find_in(const input_file_t *file, where_t *where) {
    enum { ROOM = 1 << 20 };
    err_t err;
    source_t *source = source_open(file, &err);
    uint8_t *buffer = source ? malloc(ROOM) : NULL;
    where->here = where->here || buffer;
    if (buffer && read_on(source, buffer, ROOM, where))
        where->changed = where->modified_ns && file->modified_ns != where->modified_ns;
    else
        where->line = 0;
    free(buffer);
    source_close(source);
}

static void find_line(where_t *where) {
    const manifest_options_t reading = {.every_collection = true, .patience_ns = values.spec.patience_ns};
    manifest_t manifest;
    err_t err;
    char *name = where->by_name ? NULL : name_on_disk(where->path);
    if (name && strcmp(name, "-") != 0 && manifest_build(&manifest, (char *[]){name}, 1, &reading, &err)) {
        manifest_decode(&manifest, where->encoding[0] ? where->encoding : NULL);
        for (size_t i = 0; i < manifest.count && !where->line; i++)
            if (copies_is_of(where->path, manifest.files[i].name))
                find_in(&manifest.files[i], where);
        manifest_free(&manifest);
    }
    free(name);
}

/* A position has no thousands separators: it is for other programs. */
static void put_figures(bson_t *to, int64_t id, const where_t *where) {
    const bool known = where->found, line = known && where->line;
    text_t words = {.length = 0};
    text_print(&words, "%s offset %" PRIu64, where->path, where->offset);
    if (line)
        text_print(&words, " line %" PRIu64, where->line);
    text_append(&words, !where->here     ? " (the file is not here, so its line is not known)"
                        : !line          ? " (the file, as it is now, ends before)"
                        : where->changed ? " (the file has been changed since: this is what it holds now)"
                                         : "");
    result_put(to, AS_COUNT("id", id), AS_FLAG("found", known), AS_TEXT("file", known ? where->path : NULL),
               AS_COUNT_IF("offset", known, where->offset), AS_COUNT_IF("line", line, where->line),
               AS_FLAG_IF("changed", line, where->changed),
               AS_FLAG_IF("document", known, where->documents > 0), AS_TEXT("-record", where->record));
    result_take(to, "-place", text_take_or_end(&words));
}

static const result_view_t views[] = {LINE(SHOW_QUIET, "found", "{-place}", .command = "-record"), {0}};

/* Why no document is under this _id, or why it is not this record's. Today's file says only what it holds
 * where it has not changed. */
static bool check(int64_t id, const where_t *where, err_t *err) {
    if (!where->found)
        return err_set(err, STATUS_USAGE, "no file of this collection's catalog holds the _id %" PRId64, id);
    if (!where->lane_fits)
        return err_set(err, STATUS_USAGE,
                       "the _id %" PRId64 " has another lane than its position: tipple did not make it", id);
    if (where->line && where->inside && where->modified_ns && !where->changed)
        return err_set(err, STATUS_USAGE,
                       "no record starts at offset %" PRIu64 " of %s (in line %" PRIu64
                       "), and %s the _id %" PRId64,
                       where->offset, where->path, where->line,
                       where->documents ? "a document that is not of this file has" : "no document has", id);
    return where->documents ||
           err_set(err, STATUS_USAGE,
                   "no document has the _id %" PRId64 ": that of a record at this place would have it", id);
}

static int locate(run_t *run, err_t *err) {
    static where_t where;
    if (!cli_has_uri(run, "the collection that the _id is in", err))
        return STATUS_USAGE;
    const char *word = run->count == 1 ? run->words[0] : "";
    errno = 0;
    const bool digits = *word && !word[strspn(word, "0123456789")];
    const long long id = digits ? strtoll(word, NULL, 10) : 0;
    if (!digits || errno)
        return err_set(err, STATUS_USAGE, "one _id is needed: a whole number such as 4611686018427387904"),
               STATUS_USAGE;
    if (!look_up(id, &where, err))
        return (int)err->status;
    if (where.found)
        find_line(&where);
    const int status = check(id, &where, err) ? STATUS_OK : (int)err->status;
    result_t *result = result_new("where", views);
    put_figures(&result->document, id, &where);
    return cli_end(run, result, true, status, err);
}

const command_t command_where = {
    .name = "where",
    .group = COMMANDS_CHECK,
    .arguments = "ID",
    .about = "find the file, offset and line that an _id came from",
    .help = "The _id of a loaded document is its record's position. Where the file is still at hand its line "
            "and the record itself are printed as well.",
    .examples = "  tipple where --uri mongodb://127.0.0.1/mot.results 4611686018427388021",
    .takes = TAKEN_BY_ASKING,
    .with = WITH_JSON,
    .values = &values,
    .body = locate,
};

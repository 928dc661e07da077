#include "query/compare.h"
#include "base/log.h"
#include "server/bson_read.h"

#include <math.h>
#include <string.h>

static bool broken(const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_USAGE, "--compare: %s is not what `tipple query --json` printed: %.*s", path,
                   (int)strcspn(what, "\n"), what);
}

static bool check_head(const char *path, const bson_t *then, err_t *err) {
    bson_iter_t queries;
    if (strcmp(bson_read_text(then, "command"), "query") != 0)
        return broken(path, "its 'command' is not query", err);
    if (bson_read_number(then, "schema") != 1)
        return broken(path, "its 'schema' is not 1", err);
    return bson_read_list(then, "queries", &queries) || broken(path, "it has no list 'queries'", err);
}

bool compare_read(const char *path, bson_t *then, err_t *err) {
    bson_error_t error;
    bson_t more = BSON_INITIALIZER;
    bson_json_reader_t *reader = bson_json_reader_new_from_file(path, &error);
    if (!reader)
        return err_set(err, STATUS_USAGE, "--compare: %s cannot be read: %s", path, error.message);
    const int found = bson_json_reader_read(reader, then, &error);
    bool ok = found > 0 || broken(path, found ? error.message : "the file is empty", err);
    ok = ok && (bson_json_reader_read(reader, &more, &error) == 0 ||
                broken(path, "something follows after the result", err));
    bson_json_reader_destroy(reader);
    bson_destroy(&more);
    return ok && check_head(path, then, err);
}

void compare_warn(const bson_t *then, const char *path, const char *suite, const char *namespace) {
    if (strcmp(bson_read_text(then, "suite"), suite) != 0)
        log_warn("--compare: %s is of the suite %s, and this is %s", path, bson_read_text(then, "suite"), suite);
    if (strcmp(bson_read_text(then, "namespace"), namespace) != 0)
        log_warn("--compare: %s is of the collection %s, and this is %s", path,
                 bson_read_text(then, "namespace"), namespace);
}

static bool is_same(const bson_t *entry, const measure_t *measure) {
    const work_t *work = measure->work;
    return bson_read_number(entry, "clients") == measure->clients &&
           strcmp(bson_read_text(entry, "name"), work->query->name) == 0 &&
           strcmp(bson_read_text(entry, "with"), work->with) == 0 &&
           strcmp(bson_read_text(entry, "reads"), work->reads ? work->reads : "") == 0;
}

/* Returns why the figures of then and now say nothing about each other; NULL: they can be compared. */
static const char *what_hinders(const bson_t *entry, const measure_t *measure) {
    const double empty = bson_read_number(entry, "empty");
    if (measure->failures)
        return "failed now";
    if (bson_read_number(entry, "failures") > 0)
        return "failed then";
    if (strcmp(bson_read_text(entry, "question"), measure->work->question) != 0)
        return "another question";
    return (empty > 0 && empty == bson_read_number(entry, "n")) != measure_of_nothing(measure)
               ? "another answer"
               : NULL;
}

bool compare_find(const bson_t *then, const measure_t *measure, compared_t *compared) {
    bson_iter_t entries;
    bson_t entry;
    const bool some = bson_read_list(then, "queries", &entries);
    bool found = false;
    *compared = (compared_t){NAN, NAN, "new"};
    while (some && !found && bson_iter_next(&entries))
        found = bson_read_document(&entries, &entry) && is_same(&entry, measure);
    if (found)
        *compared = (compared_t){bson_read_number(&entry, "p50_ms"), bson_read_number(&entry, "p99_ms"),
                                 what_hinders(&entry, measure)};
    return found;
}

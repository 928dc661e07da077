/* Columns that come and go between the files of a load and those before. Before the inputs are checked: what becomes of a column that the
 * format lacks. When the catalog is open: columns that were added go into its header, in one conditional write. When a feeder has
 * read a header: columns that are left out go there, too, and what is missing is noted for the result. */
#include "base/clock.h"
#include "base/log.h"
#include "format/schema/schema.h"
#include "load/job/job.h"

#include <stdlib.h>
#include <string.h>

bool job_take_new_columns(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const new_columns_t wanted = spec->new_columns;
    if (wanted && !schema_is_named(job->schema))
        return err_set(
            err, STATUS_USAGE,
            "--new-columns is for delimited files with a header that names the columns, and the format %s is "
            "for others: leave it out",
            job->schema->name);
    if (wanted == NEW_COLUMNS_ADD && spec->format)
        return err_set(err, STATUS_USAGE,
                       "--new-columns add is for a format that is guessed; append the field to %s, with "
                       "'optional: yes', and leave the option out",
                       spec->format);
    job->schema->new_columns = wanted ? wanted : spec->format ? NEW_COLUMNS_IGNORE : NEW_COLUMNS_ADD;
    return true;
}

/* The first name of a field's column. */
static const char *column_of(const field_t *field) {
    return field->columns.items[0].text;
}

/* ---- for the result ---- */

static bool note(load_result_t *result, column_news_t news, const char *name, const char *type,
                 const char *file, err_t *err) {
    for (size_t i = 0; i < result->column_count; i++)
        if (result->columns[i].news == news && strcmp(result->columns[i].name, name) == 0) {
            result->columns[i].files++;
            return true;
        }
    column_result_t *larger = realloc(result->columns, (result->column_count + 1) * sizeof *larger);
    result->columns = larger ? larger : result->columns;
    char *own_name = strdup(name), *own_file = strdup(file);
    if (!larger || !own_name || !own_file) {
        free(own_name);
        free(own_file);
        return err_memory(err, sizeof *larger);
    }
    larger[result->column_count++] = (column_result_t){news, own_name, type, own_file, 1};
    return true;
}

/* Notes what a header lacks, and the columns that are left out. One that is gone and one that is new may be the same. */
static bool note_header(job_t *job, const load_file_t *file, const dialect_t *dialect, const text_t *unknown,
                        err_t *err) {
    const schema_t *schema = job->schema;
    load_result_t *result = job->result;
    const char *name = file->input->name, *gone = NULL, *came = NULL;
    size_t gone_count = 0, came_count = 0;
    bool ok = true;
    for (size_t i = 0; ok && schema->guessed && i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bool has = dialect->column_of[i] != DIALECT_NO_FIELD, fresh = i >= job->known_fields;
        if (has && fresh && ++came_count)
            came = column_of(field);
        if (has || fresh || (field->optional && !field->added))
            continue;
        gone = column_of(field);
        gone_count++;
        ok = note(result, COLUMN_MISSING, gone, NULL, name, err);
    }
    for (const char *at = unknown->bytes; ok && at && at < unknown->bytes + unknown->length;
         at += strlen(at) + 1) {
        came = at;
        came_count++;
        ok = note(result, COLUMN_LEFT_OUT, at, NULL, name, err);
    }
    if (gone_count == 1 && came_count == 1)
        log_warn(
            "%s: the column '%s' is gone and '%s' is new: if that is another name for the same values, the "
            "documents of this file do not have them under the old key",
            name, gone, came);
    return ok;
}

bool job_see_columns(void *context, load_file_t *file, const dialect_t *dialect, const text_t *unknown,
                     err_t *err) {
    job_t *job = context;
    load_file_t *first = file;
    while (first > job->files && first[-1].input == file->input)
        first--;
    pthread_mutex_lock(&job->loading.lock);
    const bool seen = first->columns_seen || file->only_compares;
    first->columns_seen = true;
    const bool ok = seen || note_header(job, file, dialect, unknown, err);
    pthread_mutex_unlock(&job->loading.lock);
    file->left_out = unknown;
    return ok && (!unknown->length || job->spec->dry_run ||
                  load_state_ask(&job->loading, ASK_TO_LEAVE_OUT, file, 0, err));
}

/* ---- the catalog ---- */

bool job_leave_out_columns(job_t *job, const load_file_t *file, const text_t *names, err_t *err) {
    size_t count = 0;
    const bool same = job->left_out_by && job->left_out.length == names->length &&
                      memcmp(job->left_out.bytes, names->bytes, names->length) == 0;
    if (same && job->left_out_known)
        return true;
    const char *const end = names->bytes + names->length,
                      *by = file->known_as ? file->known_as : file->input->name;
    for (const char *at = names->bytes; at < end; at += strlen(at) + 1)
        count++;
    header_column_t *columns = calloc(count + 1, sizeof *columns);
    if (!columns)
        return err_memory(err, count * sizeof *columns);
    count = 0;
    for (const char *at = names->bytes; at < end; at += strlen(at) + 1)
        columns[count++] = (header_column_t){at, by, "", "", false, clock_wall_ms()};
    const bool ok = job_bind(job, err) && catalog_leave_out(job->store, &job->settings, columns, count, err);
    free(columns);
    job->left_out_known = ok && same && strcmp(job->left_out_by, by) != 0;
    job->left_out.length = 0;
    text_append_bytes(&job->left_out, names->bytes, names->length);
    job->left_out_by = by;
    return ok;
}

bool job_list_added(job_t *job, err_t *err) {
    schema_t *schema = job->schema;
    const size_t count = schema->field_count - job->known_fields;
    if (job->known_fields >= schema->field_count)
        return true;
    typedef struct {
        header_column_t column;
        char digest[33];
    } item_t;
    header_column_t *columns = job->added = schema_own(schema, count * sizeof *columns, err);
    item_t *items = columns ? schema_own(schema, count * sizeof *items, err) : NULL;
    for (size_t i = 0; items && i < count; i++) {
        const field_t *field = &schema->fields[job->known_fields + i];
        const char *by = field->added && *field->added ? field->added
                         : job->spec->format           ? job->spec->format
                                                       : "";
        if (job->spec->format && !schema_digest_of(schema, job->known_fields + i + 1, items[i].digest))
            return err_memory(err, sizeof items[i].digest);
        columns[i] = (header_column_t){column_of(field), by,    schema_type_name(field->type),
                                       items[i].digest,  false, clock_wall_ms()};
        if (!note(job->result, COLUMN_ADDED, column_of(field), schema_type_name(field->type), by, err))
            return false;
    }
    job->added_count = count;
    return items;
}

bool job_refuse(job_t *job) {
    catalog_header_t header = {0};
    bool found;
    err_t ignored;
    job->lost |= job->store->read_header(job->store, &header, &found, &ignored) && found &&
                 (catalog_has_lost(&header, &job->settings) ||
                  (job->added_count && header.format && header.widened != job->widened));
    catalog_header_free(&header);
    return false;
}

/* A stream cannot be read again by another format, so that is settled before it is read. With a filter it may send nothing. */
static bool bind_streams(job_t *job, err_t *err) {
    bool streams = false;
    for (size_t i = 0; i < job->manifest.count; i++)
        streams |= job->manifest.files[i].kind == INPUT_STREAM;
    return !streams || !job->format_text || job->filter || job_bind(job, err);
}

bool job_add_columns(job_t *job, err_t *err) {
    if (!job->loading.bound)
        return bind_streams(job, err);
    return !job->added_count || catalog_widen(job->store, &job->settings, err) || job_refuse(job);
}

/* Columns that come and go between the files of a load and those before. A column of the collection is one of four kinds:
 *
 *   bound      a field of the format that the collection was bound with; its digest is made of these alone.
 *   added      an optional field after those. The header of the catalog has a row with its type, the time and the file.
 *   missing    a bound or added field that a header lacks. It makes no field, and nothing is written.
 *   left out   no field, but a row in the header, so that no field comes for it while documents without it are there.
 *
 * What becomes of a column that the format lacks is settled before the inputs are checked (schema_t.new_columns). Those checks add
 * fields to the schema. When the inputs are registered, the rows of these are written, by one conditional write: who was not first
 * begins again. When a feeder has read a header, the main thread writes rows of what is left out, and the result notes what is
 * missing. */
#include "base/clock.h"
#include "base/log.h"
#include "format/schema/schema.h"
#include "load/run/job.h"

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
    if (!GROW(result->columns, result->column_room, result->column_count + 1, err))
        return false;
    column_result_t *one = &result->columns[result->column_count++];
    *one = (column_result_t){news, strdup(name), type, strdup(file), 1};
    return (one->name && one->file) || err_memory(err, strlen(name));
}

/* Notes what a header lacks, and the columns that are left out. One that is gone and one that is new may be the same. */
static bool note_header(job_t *job, const load_file_t *file, const dialect_t *dialect, const text_t *unknown,
                        err_t *err) {
    const schema_t *schema = job->schema;
    const char *input = file->input->name, *gone = NULL, *came = NULL;
    size_t gone_count = 0, came_count = 0;
    bool ok = true;
    for (size_t i = 0; ok && schema->guessed && i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bool has = dialect->column_of[i] != DIALECT_NO_FIELD,
                   fresh = i + job->added_count >= schema->field_count;
        if (has && fresh && ++came_count)
            came = column_of(field);
        if (has || fresh || (field->optional && !field->added))
            continue;
        gone = column_of(field);
        gone_count++;
        ok = note(job->result, COLUMN_MISSING, gone, NULL, input, err);
    }
    for (const char *name = NULL; ok && (name = text_next(unknown, name));) {
        came = name;
        came_count++;
        ok = note(job->result, COLUMN_LEFT_OUT, *name ? name : "(no name)", NULL, input, err);
    }
    if (gone_count == 1 && came_count == 1)
        log_warn(
            "%s: the column '%s' is gone and '%s' is new: if that is another name for the same values, the "
            "documents of this file do not have them under the old key",
            input, gone, came);
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

bool job_leave_out_columns(job_t *job, const load_file_t *file, err_t *err) {
    const text_t *names = file->left_out;
    const char *input = file->known_as ? file->known_as : file->input->name;
    bool several;
    if (job->left_out.length == names->length &&
        memcmp(job->left_out.bytes, names->bytes, names->length) == 0)
        return true;
    if (!job_bind(job, err) || !catalog_leave_out(job->store, &job->settings, names, input, &several, err))
        return false;
    job->left_out.length = 0;
    if (several)
        text_append_bytes(&job->left_out, names->bytes, names->length);
    return true;
}

/* The added fields come last, in the order of their rows. */
bool job_list_added(job_t *job, const catalog_header_t *header, err_t *err) {
    schema_t *schema = job->schema;
    const char *format = job->spec->format;
    size_t at = schema->field_count;
    while (at && schema->fields[at - 1].added)
        at--;
    if (job->format_text && at < schema->field_count && header->format && header->widened != job->widened)
        return catalog_refuse_lost(&job->settings, err);
    for (size_t i = 0; i < header->column_count; i++)
        at += *header->columns[i].type != '\0';
    if (at >= schema->field_count)
        return true;
    job->added = schema_own(schema, (schema->field_count - at) * sizeof *job->added, err);
    for (; job->added && at < schema->field_count; at++) {
        const field_t *field = &schema->fields[at];
        const char *name = column_of(field), *type = schema_type_name(field->type),
                   *by = *field->added ? field->added
                         : format      ? format
                                       : "";
        char *digest = schema_own(schema, sizeof schema->digest, err);
        if (!digest || !note(job->result, COLUMN_ADDED, name, type, by, err))
            return false;
        digest[0] = '\0';
        if (format && !schema_digest_of(schema, at + 1, digest))
            return err_memory(err, sizeof schema->digest);
        job->added[job->added_count++] = (header_column_t){name, by, type, digest, false, clock_wall_ms()};
    }
    return job->added;
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
    return !job->added_count || catalog_widen(job->store, &job->settings, err);
}

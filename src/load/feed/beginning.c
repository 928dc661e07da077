#include "load/feed/beginning.h"

/* ---- the dialect ---- */

static bool refuse_header(load_file_t *file, err_t *err) {
    file->changed = true;
    return err_set(
        err, STATUS_INPUT,
        "%s has changed since it was loaded: its first line names other columns than then. Put the "
        "old content back, or give --reload-changed, which removes its documents and loads it "
        "again",
        file->input->name);
}

/* The dialect of the file's first bytes. But what it has grown by does not change how its first records are read, which
 * may be in the collection. */
static bool find(beginning_t *beginning, load_file_t *file, const dialect_head_t *head, err_t *err) {
    dialect_t dialect;
    size_t begins, ends;
    if (!dialect_sniff_head(beginning->schema, head, file->input->name, &dialect, err))
        return false;
    if (file->read_by && !dialect_take_earlier(beginning->schema, file->read_by, &dialect))
        return refuse_header(file, err);
    if (!(file->dialect = dialect_shelf_keep(beginning->shelf, &dialect)))
        return err_memory(err, sizeof dialect);
    if (dialect_first_line(beginning->schema, head->text, head->length, false, &begins, &ends))
        file->read_by = file->dialect->hash;
    if (dialect_is_of_first_line(file->dialect)) {
        first_line_note(&beginning->first, beginning->schema, head->text, head->length);
        beginning->known = file->dialect;
    }
    return true;
}

/* By the text at the cutter, which is the file's beginning. */
static bool look(beginning_t *beginning, load_file_t *file, cutter_t *cutter, err_t *err) {
    dialect_head_t head;
    if (file->dialect)
        return true;
    if (!cutter_look(cutter, beginning->schema, &head, err))
        return false;
    if (!head.length && !head.begun) /* nothing to read, or a fault, which the first cut tells */
        return true;
    if (!dialect_may_be_encoded(beginning->schema, head.text, head.length, head.utf16, file->input->name,
                                err))
        return false;
    if (!first_line_is(&beginning->first, beginning->schema, head.text, head.length))
        return find(beginning, file, &head, err);
    if (file->read_by && file->read_by != beginning->known->hash)
        return refuse_header(file, err);
    file->dialect = beginning->known;
    file->read_by = file->dialect->hash; /* the line is whole, as all that are noted */
    return true;
}

static cutter_t *open_again(const beginning_t *beginning, const load_file_t *file, source_t **source,
                            err_t *err) {
    *source = source_open(file->input, err);
    return *source ? cutter_new(*source, beginning->pool, beginning->max_record, err) : NULL;
}

/* Of a piece that is not the first: the file is opened once more. */
static bool look_at_start(beginning_t *beginning, load_file_t *file, err_t *err) {
    source_t *source;
    if (file->dialect)
        return true;
    cutter_t *cutter = open_again(beginning, file, &source, err);
    const bool ok = cutter && look(beginning, file, cutter, err);
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

/* ---- where records begin ---- */

static bool has_neighbour(const beginning_t *beginning, const load_file_t *file) {
    return file > beginning->files && file[-1].input == file->input && file[-1].to == file->from;
}

/* Where the record before the window ends is found from the nearest place that is known: the beginning of this piece or of
 * one before it, or where the cutter is. Notes where the pieces begin that are passed. */
static bool pass(const beginning_t *beginning, load_file_t *file, cutter_t *cutter, uint64_t window,
                 err_t *err) {
    load_file_t *from = file;
    while (has_neighbour(beginning, from) && !from->first_record)
        from--;
    if (cutter_offset(cutter) < from->first_record) {
        if (!cutter_start_at(cutter, from->first_record, err))
            return false;
        cutter_note_bracket(cutter, from->bracket_before);
    }
    while (from < file) {
        from++;
        if (!cutter_seek(cutter, from->from, UINT64_MAX, err))
            return false;
        if (pool_closed(beginning->pool)) /* the load ends, and the cutter with it: it is not there */
            return true;
        from->first_record = cutter_offset(cutter);
        from->bracket_before = cutter_bracket(cutter);
    }
    return cutter_seek(cutter, window, UINT64_MAX, err);
}

bool beginning_seek(beginning_t *beginning, load_file_t *file, cutter_t *cutter, uint64_t window,
                    err_t *err) {
    if (!beginning->schema->multiline)
        return cutter_seek(cutter, window, file->to, err);
    if (!file->dialect) /* an empty file */
        return true;
    cutter_read_as(cutter, beginning->schema, file->dialect);
    if (!window)
        return true;
    if (file->input->kind != INPUT_PLAIN || input_is_in_stream(file->input))
        return cutter_seek(cutter, window, UINT64_MAX, err);
    pthread_mutex_lock(beginning->lock);
    const bool ok = pass(beginning, file, cutter, window, err);
    pthread_mutex_unlock(beginning->lock);
    return ok;
}

bool beginning_read(beginning_t *beginning, load_file_t *file, cutter_t *cutter, err_t *err) {
    const bool wanted = !file->only_compares || beginning->schema->multiline;
    if (wanted && !(file->from ? look_at_start(beginning, file, err) : look(beginning, file, cutter, err)))
        return false;
    return beginning_seek(beginning, file, cutter, file->from, err);
}

void beginning_note_end(beginning_t *beginning, load_file_t *file, const cutter_t *cutter, uint64_t end) {
    if (!beginning->schema->multiline || file + 1 == beginning->files + beginning->file_count ||
        !has_neighbour(beginning, file + 1))
        return;
    pthread_mutex_lock(beginning->lock);
    file[1].first_record = end;
    file[1].bracket_before = cutter_bracket(cutter);
    pthread_mutex_unlock(beginning->lock);
}

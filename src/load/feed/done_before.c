#include "load/feed/done_before.h"
#include "load/blocks/other_stream.h"

#include <string.h>

static bool refuse_longer(const load_file_t *file, const block_t *block, err_t *err) {
    return other_stream_refuse(file, "the new one continues where the old one ended,", block->offset,
                               block->offset + RECORD_ID_BLOCK_BYTES, err);
}

/* Where it begins. */
static unsigned long long byte_of(uint64_t block) {
    return block * RECORD_ID_BLOCK_BYTES;
}

static bool refuse_changed(load_file_t *file, const done_run_t *run, err_t *err) {
    if (file->input->kind == INPUT_STREAM)
        return other_stream_refuse(file, "the new one has other content than the old one", byte_of(run->from),
                                   byte_of(run->to), err);
    if (file->known_as && strcmp(file->known_as, file->input->name) != 0)
        return err_set(
            err, STATUS_INPUT,
            "%.300s has the name, the size and the ends of what was loaded as %.300s, but other content "
            "between byte %llu and %llu of its text. If it is that file, name it so, and give "
            "--reload-changed; else load it under another name",
            file->input->name, file->known_as, byte_of(run->from), byte_of(run->to));
    file->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded: between byte %llu and %llu of its text it has other "
                   "content than then. Put the old content back, or give --reload-changed, which removes its "
                   "documents and loads it again",
                   file->input->name, byte_of(run->from), byte_of(run->to));
}

bool done_before_refuse_older(load_file_t *file, err_t *err) {
    file->changed = true;
    return err_set(
        err, STATUS_INPUT,
        "%s is shorter than what was loaded of it, and it has another modification time than then, so "
        "nobody can tell whether the rest of it is unchanged. Use the newest version of the file, or "
        "give --reload-changed, which removes its documents and loads what is here",
        file->input->name);
}

/* Is the text of done blocks what it was? Known when a run of them is over. */
static bool compare(done_before_t *compared, load_file_t *file, const block_t *block, err_t *err) {
    const done_run_t *run = done_runs_find(&file->done_before, block->from);
    const done_run_t tail = {file->tail.from, file->tail.to, file->tail.hash};
    if (!run) /* it begins within what was the last block then, or behind it */
        return file->input->kind == INPUT_STREAM ? refuse_longer(file, block, err)
                                                 : refuse_changed(file, &tail, err);
    if (run != compared->run) {
        compared->run = run;
        compared->run_hash = 0;
    }
    compared->run_hash += block->hash;
    if (block->to > run->to || (block->to == run->to && compared->run_hash != run->hash))
        return refuse_changed(file, run, err);
    compared->runs_compared += block->to == run->to;
    return true;
}

bool done_before_has(const load_file_t *file, const block_t *block) {
    return file->only_compares ||
           (file->compares
                ? done_runs_find(&file->done_before, block->from) != NULL
                : block->from < block->to && done_runs_cover(&file->done_before, block->from, block->to));
}

/* One that a fault of the input has cut off says nothing; the fault will be told. */
bool done_before_compare(done_before_t *compared, load_file_t *file, const block_t *block, err_t *err) {
    if (block->partial || !(file->compares || file->only_compares))
        return true;
    if (!file->only_compares || !block->tail)
        return compare(compared, file, block, err);
    compared->tail_hash += block->hash;
    return true;
}

bool done_before_end(const done_before_t *compared, load_file_t *file, err_t *err) {
    const done_run_t tail = {file->tail.from, file->tail.to, file->tail.hash};
    if (file->compares && compared->runs_compared < file->done_before.count)
        return refuse_changed(file, &file->done_before.runs[compared->runs_compared], err);
    return !file->only_compares || compared->tail_hash == tail.hash || refuse_changed(file, &tail, err);
}

/* What whoever watches a load is told: its phase, and how much is still to be read. */
#include "load/job/job.h"

void job_enter(job_t *job, timeline_phase_t phase) {
    timeline_enter(&job->result->course, phase);
    metrics_phase(timeline_phase_name(phase));
    step_change(&job->step, "%s", phase == TIMELINE_LOADING ? "" : timeline_phase_name(phase));
}

static bool is_read_by_blocks(const load_file_t *file) {
    return file->work && file->input->kind == INPUT_PLAIN && !input_is_in_stream(file->input);
}

static uint64_t blocks_of(const load_file_t *file) {
    const uint64_t blocks = (file->input->disk_bytes + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    return file->from < blocks ? (file->to < blocks ? file->to : blocks) - file->from : 0;
}

/* Of a plain file only the blocks that are not done are read; of any other one all that comes before them, too. */
static uint64_t bytes_to_read(const job_t *job, const load_file_t *file) {
    const input_file_t *input = file->input;
    if (!is_read_by_blocks(file))
        return file->from ? 0 : input_disk_share(input);
    const piece_t *piece = &job->ledger.inputs[file->work->input].entry.pieces[file->work->piece];
    uint64_t left = blocks_of(file);
    for (size_t i = 0; i < piece->done.count; i++) {
        const uint64_t done = piece->done.runs[i].to - piece->done.runs[i].from;
        left -= done < left ? done : left;
    }
    return left * RECORD_ID_BLOCK_BYTES < input->disk_bytes ? left * RECORD_ID_BLOCK_BYTES
                                                            : input->disk_bytes;
}

static bool is_done(const load_file_t *file) {
    return file->work && file->work->state == WORK_DONE;
}

void job_look_what_is_to_read(job_t *job) {
    for (size_t i = 0; i < job->file_count; i++) {
        load_file_t *file = &job->files[i];
        if (is_done(file))
            continue;
        file->to_read = bytes_to_read(job, file);
        job->to_read += is_read_by_blocks(file) ? blocks_of(file) * RECORD_ID_BLOCK_BYTES : file->to_read;
        job->first = job->first ? job->first : file;
    }
}

uint64_t job_bytes_to_read(const job_t *job) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->file_count; i++)
        bytes += is_done(&job->files[i]) && job->files[i].work->by_others ? 0 : job->files[i].to_read;
    return bytes;
}

#include "load/feed/limited.h"
#include "format/cut/ends.h"

#include <stdlib.h>

void limited_free(limited_t *limited) {
    records_destroy(limited->counter);
    free(limited->scratch.bytes);
}

/* A line is a record at most, but of JSON: where the block's lines are surely within the limit, nobody needs to look at
 * them. */
static bool count_lines(limited_t *limited, const block_t *block) {
    const schema_t *schema = limited->schema;
    if (schema->kind == RECORDS_JSON)
        return false;
    const uint64_t most =
        ends_lines(schema, block->buffer.bytes, block->length) + 1 + (block->oversize.length > 0);
    if (most > limited->left)
        return false;
    limited->left -= most;
    return true;
}

static void cut_off(limited_t *limited, block_t *block) {
    limited->left = 0;
    block->oversize.length = 0;
    block->partial = true;
}

bool limited_cut(limited_t *limited, block_t *block, err_t *err) {
    if (limited->about && count_lines(limited, block))
        return true;
    if (!limited->counter && !(limited->counter = records_new(limited->schema)))
        return err_memory(err, 1);
    record_t record;
    records_begin(limited->counter, block->file->dialect, block->buffer.bytes, block->length,
                  block->file_start, false, 0);
    for (;;) {
        parsed_t parsed = records_next_into(limited->counter, &limited->scratch, &record, NULL);
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.needed);
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT || parsed == PARSED_OTHER_HEADER) &&
            limited->left-- == 0) {
            block->length = record.offset;
            cut_off(limited, block);
            return true;
        }
        if (parsed == PARSED_END)
            break;
    }
    if (block->oversize.length && limited->left-- == 0)
        cut_off(limited, block);
    return true;
}

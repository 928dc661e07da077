#include "verify/compare/last_wins.h"
#include "base/text.h"

#include <stdlib.h>

enum { NOWHERE = UINT32_MAX };

bool last_wins_note(last_wins_t *last, const last_record_t *record, const difference_t *detail, err_t *err) {
    difference_t owned = detail ? *detail : (difference_t){.file = 0};
    if (!GROW(last->records, last->room, last->count + 1, err) ||
        (detail && !GROW(last->details, last->detail_room, last->detail_count + 1, err))) {
        difference_free(&owned);
        return false;
    }
    last_record_t *noted = &last->records[last->count++];
    *noted = *record;
    noted->detail = detail ? (uint32_t)last->detail_count : NOWHERE;
    if (detail)
        last->details[last->detail_count++] = owned;
    return true;
}

bool last_wins_move(last_wins_t *to, last_wins_t *from, err_t *err) {
    if (!GROW(to->records, to->room, to->count + from->count, err) ||
        !GROW(to->details, to->detail_room, to->detail_count + from->detail_count, err))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        last_record_t record = from->records[i];
        record.detail += record.detail == NOWHERE ? 0 : (uint32_t)to->detail_count;
        to->records[to->count++] = record;
    }
    for (size_t i = 0; i < from->detail_count; i++)
        to->details[to->detail_count++] = from->details[i];
    from->count = from->detail_count = 0;
    return true;
}

void last_wins_clear(last_wins_t *last) {
    for (size_t i = 0; i < last->detail_count; i++)
        difference_free(&last->details[i]);
    last->count = last->detail_count = 0;
}

void last_wins_free(last_wins_t *last) {
    last_wins_clear(last);
    free(last->records);
    free(last->details);
    *last = (last_wins_t){.count = 0};
}

/* ---- the end ---- */

#define BEFORE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_place(const void *a, const void *b, void *ordinals) {
    const last_record_t *left = a, *right = b;
    const uint32_t *of = ordinals;
    return left->hash != right->hash   ? BEFORE(left->hash, right->hash)
           : left->file != right->file ? BEFORE(of[left->file], of[right->file])
                                       : BEFORE(left->offset, right->offset);
}

static bool tell(last_wins_t *last, const last_record_t *record, const char *const *names,
                 differences_t *differences, err_t *err) {
    difference_t difference = {.kind =
                                   record->found == LAST_MISSING ? DIFFERENCE_MISSING : DIFFERENCE_CHANGED,
                               .file = record->file,
                               .name = names[record->file],
                               .offset = record->offset,
                               .behind = record->offset + 1,
                               .records = 1,
                               .nameless = true};
    if (record->detail != NOWHERE) {
        difference = last->details[record->detail];
        last->details[record->detail] = (difference_t){.file = 0};
    }
    return differences_add(differences, &difference, err);
}

bool last_wins_judge(last_wins_t *last, const uint32_t *ordinals, const char *const *names, bool all,
                     differences_t *differences, last_judged_t *judged, err_t *err) {
    *judged = (last_judged_t){.equal = 0};
    if (last->count)
        qsort_r(last->records, last->count, sizeof *last->records, by_place, (void *)ordinals);
    for (size_t i = 0; i < last->count; i++) {
        const last_record_t *record = &last->records[i];
        const bool later = i + 1 < last->count && record[1].hash == record->hash;
        if (later)
            judged->superseded++;
        else if (record->found == LAST_EQUAL)
            judged->equal++;
        else if (record->found == LAST_CHANGED && !all)
            judged->undecided++;
        else if (!tell(last, record, names, differences, err))
            return false;
    }
    return true;
}

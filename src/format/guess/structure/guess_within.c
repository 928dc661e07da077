/* What stands within the fields, and says that something else divides the lines than what seems to: tabs, and backslashes
 * in front of what divides. */
#include "format/cut/delimiter.h"
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"
#include "format/guess/structure/guess_text.h"

#include <string.h>

enum { LOOK_AT = 100 /* records */ };

typedef struct {
    size_t records, with_tabs;
    size_t escaped[SCHEMA_MOST_FIELDS]; /* of each column */
    size_t most_escaped;                /* of one of them */
    span_t tab, backslash;              /* the first such field */
} within_t;

static bool is_in_quotes(const span_t *span) {
    return span->raw_length > span->length;
}

/* Not at its edge, where it is a blank like others. */
static bool has_tab(const span_t *span) {
    size_t from = 0, to = span->length;
    while (from < to && delimiter_is_blank(span->text[from]))
        from++;
    while (to > from && delimiter_is_blank(span->text[to - 1]))
        to--;
    return to > from && !is_in_quotes(span) && memchr(span->text + from, '\t', to - from);
}

/* Smith\ in front of a comma: not \, which is text, nor C:\ or C:\temp\, which are paths. */
static bool ends_escaped(const span_t *span) {
    const uint8_t *first = span->length ? memchr(span->text, '\\', span->length) : NULL;
    return first && !is_in_quotes(span) && first + 1 == span->text + span->length &&
           (first == span->text || first[-1] != ':');
}

static void look_at_record(const split_t *split, within_t *within) {
    bool tabs = false;
    within->records++;
    for (size_t i = 0; i < split->count && i < SCHEMA_MOST_FIELDS; i++) {
        const span_t *span = &split->spans[i];
        if (has_tab(span)) {
            within->tab = tabs || within->with_tabs ? within->tab : *span;
            tabs = true;
        }
        if (i + 1 == split->count || !ends_escaped(span))
            continue;
        within->backslash = within->most_escaped ? within->backslash : *span;
        if (++within->escaped[i] > within->most_escaped)
            within->most_escaped = within->escaped[i];
    }
    within->with_tabs += tabs;
}

/* span: the field that is shown. tabs: they are what is odd; else backslashes. */
static bool refuse(const structure_t *found, const span_t *span, bool tabs, const char *name, err_t *err) {
    char shown[200], sign[8];
    guess_shown(shown, sizeof shown, (const char *)span->text, span->length);
    guess_name_delimiter(sign, guess_way_sign(&found->way));
    if (tabs)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: %s divides its lines into %zu columns, but most of them have tabs, too ('%s'), "
            "which may divide them, if not evenly: say --with delimiter=%s if that is right, else give a "
            "--format",
            name, sign, found->columns, shown, sign);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: in most of its records %s stands behind a backslash ('%s'), as databases write one "
        "that is a part of the text, and outside of quotes no format reads that: write the file "
        "anew with such texts in quotes; or say --with delimiter=%s if it divides there, too",
        name, sign, shown, sign);
}

bool guess_check_within(study_t *study, const structure_t *found, const char *name, err_t *err) {
    static _Thread_local within_t within;
    const char sign = found->way.delimiter;
    if (found->columns < 2 || found->way.blanks || sign == '\x01' || !guess_delimiter_word(sign))
        return true;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    memset(&within, 0, sizeof within);
    for (size_t i = 0; i < study->count && within.records < LOOK_AT; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, sign, i, err))
            return false;
        look_at_record(&study->split, &within);
    }
    if (sign != '\t' && 2 * within.with_tabs > within.records)
        return refuse(found, &within.tab, true, name, err);
    return 2 * within.most_escaped <= within.records || refuse(found, &within.backslash, false, name, err);
}

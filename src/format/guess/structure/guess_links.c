/* Links may hold what divides the lines: https://shop.example.org/item,1.html, .../@52.52,13.40. Where each line may be one of
 * them as a whole, nothing but what stands in it tells. */
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"
#include "format/guess/structure/guess_text.h"
#include "format/values/digits.h"

#include <string.h>

enum { SOME_ENDED = 10 /* one link in so many that surely ends tells that the others do */ };

static bool is_letter(uint8_t byte) {
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool is_one_of(const char *signs, uint8_t byte) {
    return byte && strchr(signs, byte);
}

bool guess_begins_link(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length &&
           (is_letter(text[at]) || (at && (digits_is_one(text[at]) || is_one_of("+-.", text[at])))))
        at++;
    return at > 1 && length - at > 3 && memcmp(text + at, "://", 3) == 0;
}

bool guess_is_time(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length && is_one_of("0123456789abcdefABCDEF:.", text[at]))
        at++;
    return length && at == length && memchr(text, ':', length);
}

/* What all records have in common that begin with a link. */
typedef struct {
    size_t records;
    size_t elsewhere; /* of another site than the first one */
    size_t ended;     /* of which something tells that the link ends where the first field does */
    span_t first;     /* of the first record: the link, up to what divides, */
    span_t second;    /* and the field behind it */
    bool same_first;  /* all have the same there */
    bool same_second;
    size_t dates; /* records with a date or the like behind the link */
    size_t lists; /* in which a number follows a number, as in @52.52,13.40 and ids=1,2 */
    column_t last;
} links_t;

static bool is_same(const span_t *one, const span_t *other) {
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

/* Or quotes and the like, as no link has them within. */
static bool has_blank(const span_t *span) {
    for (size_t i = 0; i < span->length; i++)
        if (span->text[i] <= ' ' || is_one_of("\"<>\\", span->text[i]))
            return true;
    return false;
}

/* Of its host the last two words, as in example.org. */
static span_t site_of(const span_t *link) {
    const uint8_t *end = link->text + link->length,
                  *host = (const uint8_t *)memmem(link->text, link->length, "://", 3) + 3, *to = host, *from;
    size_t dots = 0;
    while (to < end && !is_one_of("/?#:,;", *to))
        to++;
    for (from = to; from > host; from--) {
        dots += from[-1] == '.';
        if (dots > 1)
            break;
    }
    return (span_t){.text = from, .length = (uint32_t)(to - from)};
}

/* Does it look like a whole link: of a host only, with a slash at its end, or a name such as index.html? */
static bool is_whole(const span_t *span) {
    const uint8_t *end = span->text + span->length, *host = memmem(span->text, span->length, "://", 3),
                  *at = end;
    host += 3;
    if (!memchr(host, '/', (size_t)(end - host)))
        return !memchr(host, '?', (size_t)(end - host));
    while (at > host && (is_letter(at[-1]) || digits_is_one(at[-1])))
        at--;
    return end[-1] == '/' || (end - at >= 2 && end - at <= 5 && at[-1] == '.' && is_letter(*at));
}

/* Do numbers stand on both sides of what divides them first, and seem to be a list: behind = or @, or with a fraction each? */
static bool is_list(const span_t *first, const span_t *second) {
    size_t at = first->length;
    while (at && (digits_is_one(first->text[at - 1]) || is_one_of(".-", first->text[at - 1])))
        at--;
    if (at == first->length || !at || !second->length ||
        (!digits_is_one(*second->text) && *second->text != '-'))
        return false;
    return is_one_of("=@(:", first->text[at - 1]) ||
           (memchr(first->text + at, '.', first->length - at) && memchr(second->text, '.', second->length));
}

/* A date, a time, an address of mail or the like, and no number. */
static bool is_of_date(const span_t *span) {
    column_t column;
    const uint8_t *mail = span->length ? memchr(span->text, '@', span->length) : NULL;
    if (guess_is_time(span->text, span->length) ||
        (mail && mail > span->text && !memchr(span->text, '/', span->length)))
        return true;
    guess_column_begin(&column);
    guess_column_add(&column, span->text, span->length);
    return column.values && !column.styles && guess_is_typed(span->text, span->length);
}

/* *divided: it is no link, but a record of several fields. */
static void look_at_record(const split_t *split, links_t *links, bool *divided) {
    const span_t *spans = split->spans, *last = spans + split->count - 1;
    const bool is_link = guess_begins_link(spans->text, spans->length);
    bool date = false;
    *divided |= !is_link && !links->records;
    for (size_t i = 0; i < split->count; i++) {
        *divided |= spans[i].raw_length != spans[i].length || has_blank(&spans[i]) ||
                    (i && guess_begins_link(spans[i].text, spans[i].length));
        date |= i && is_of_date(&spans[i]);
    }
    if (*divided)
        return;
    if (!links->records++) {
        links->first = spans[0];
        links->second = spans[1];
        links->same_first = links->same_second = true;
    }
    links->ended += !is_link || !last->length || is_whole(spans);
    if (is_link) {
        const span_t first = site_of(&links->first), site = site_of(spans);
        links->elsewhere += !is_same(&first, &site);
    }
    links->same_first &= is_same(&links->first, spans);
    links->same_second &= is_same(&links->second, spans + 1);
    links->dates += date;
    links->lists += is_list(spans, spans + 1);
    guess_column_add(&links->last, last->text, last->length);
}

/* Is the last column one of numbers or the like, and not the end of links, as in item,1 below item,2? */
static bool is_of_values(const structure_t *found, const links_t *links) {
    const kind_t kind = guess_column_decide(&links->last).kind;
    const bool some = links->records > 1;
    if (kind == KIND_TEXT || kind == KIND_TRIMMED)
        return false;
    if (!guess_kind_is_number(kind))
        return true;
    return !(some && links->same_first) && 2 * links->lists <= links->records &&
           !(some && found->columns > 2 && links->same_second &&
             !guess_is_typed(links->second.text, links->second.length));
}

static bool refuse(const study_t *study, const structure_t *found, const span_t *first, const char *name,
                   err_t *err) {
    char shown[200], sign[8];
    const uint8_t *line = first->text, *end = memchr(line, '\n', (size_t)(study->end - line));
    size_t length = (size_t)((end ? end : study->end) - line);
    length -= length && line[length - 1] == '\r';
    guess_shown(shown, sizeof shown, (const char *)line, length);
    guess_name_delimiter(sign, found->way.delimiter);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: %s may divide its lines into %zu columns, or be a part of its links ('%s'): "
                   "nothing tells; say which by --with delimiter=%s or --with delimiter=none",
                   name, sign, found->columns, shown, sign);
}

bool guess_check_links(study_t *study, const structure_t *found, const char *name, err_t *err) {
    static _Thread_local links_t links;
    const char sign = found->way.delimiter;
    bool divided = false;
    if ((sign != ',' && sign != ';') || found->way.wide[0] || found->columns < 2)
        return true;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    memset(&links, 0, sizeof links);
    guess_column_begin(&links.last);
    for (size_t i = 0; i < study->count && !divided; i++) {
        if (study->records[i].fields != found->columns || (found->comment && study->records[i].hash))
            continue;
        if (!guess_split(study, sign, i, err))
            return false;
        look_at_record(&study->split, &links, &divided);
    }
    /* links of several sites hardly hold as many commas each */
    const bool of_sites = links.elsewhere > 1 && 2 * links.elsewhere > links.records;
    return divided || of_sites || SOME_ENDED * links.ended >= links.records || links.dates == links.records ||
           is_of_values(found, &links) || refuse(study, found, &links.first, name, err);
}

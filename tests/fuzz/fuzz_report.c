/* Any document, and any report that is made by the calls of report.h, makes a page whose tags are balanced and all of
 * which are ours: the same document with other characters in the place of those that markup is made of has the very same
 * tags. Read here by a reader that knows nothing of how pages are made. An input that begins with R is such calls. */
#include "base/chars.h"
#include "base/text.h"
#include "odd_bson.h"
#include "report/html.h"
#include "report/json.h"
#include "report/report.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a reader of pages ---- */

enum { DEEPEST = 64, LONGEST = 16 };

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* &amp; &lt; &gt; &quot; &#39; and nothing else */
static void skip_entity(const char **at) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(*at, known[i], strlen(known[i])) == 0) {
            *at += strlen(known[i]);
            return;
        }
    const bool is_entity = false; /* an '&' that begins nothing */
    LAB_MUST(is_entity);
}

static void skip_text(const char **at, char end) {
    while (**at && **at != end) {
        LAB_MUST(**at == '\n' || (unsigned char)**at >= ' ');
        if (**at == '&')
            skip_entity(at);
        else
            ++*at;
    }
}

/* Writes "tag attribute attribute;" to the trail. */
static void read_tag(const char **at, text_t *trail, char stack[DEEPEST][LONGEST], size_t *depth) {
    static const char *const alone[] = {"meta"};
    char name[LONGEST];
    size_t length = 0;
    const bool closing = (*at)[1] == '/';
    *at += 1 + closing;
    while (is_letter(**at)) {
        LAB_MUST(length + 1 < LONGEST);
        name[length++] = *(*at)++;
    }
    name[length] = 0;
    LAB_MUST(length > 0);
    text_print(trail, "%s%s", closing ? "/" : "", name);
    bool empty = false;
    while (**at != '>') {
        if (**at == '/') {
            ++*at;
            empty = true;
            LAB_MUST(**at == '>');
            break;
        }
        LAB_MUST(**at == ' ' && !closing);
        const char *from = ++*at;
        while (is_letter(**at))
            ++*at;
        LAB_MUST(*at > from && (*at)[0] == '=' && (*at)[1] == '"');
        text_print(trail, " %.*s", (int)(*at - from), from);
        LAB_MUST(strncasecmp(from, "on", 2) != 0 && strncmp(from, "src", 3) != 0 &&
                 strncmp(from, "href", 4) != 0 && strncmp(from, "style=", 6) != 0);
        *at += 2;
        skip_text(at, '"');
        LAB_MUST(**at == '"');
        ++*at;
    }
    ++*at;
    text_append(trail, ";");
    LAB_MUST(strcmp(name, "script") != 0);
    if (closing) {
        LAB_MUST(*depth > 0 && strcmp(stack[*depth - 1], name) == 0);
        --*depth;
    } else if (!empty && strcmp(name, alone[0]) != 0) {
        LAB_MUST(*depth < DEEPEST);
        memcpy(stack[(*depth)++], name, length + 1);
    }
    if (!closing && strcmp(name, "style") == 0) {
        *at = strstr(*at, "</style>");
        LAB_MUST(*at);
    }
}

static char *read_page(const char *page, size_t length) {
    static const char doctype[] = "<!DOCTYPE html>\n";
    char stack[DEEPEST][LONGEST];
    size_t depth = 0;
    text_t trail = {.length = 0};
    LAB_MUST(strlen(page) == length && utf8_valid((const uint8_t *)page, length));
    LAB_MUST(strncmp(page, doctype, strlen(doctype)) == 0);
    const char *at = page + strlen(doctype);
    while (*at) {
        if (*at == '<')
            read_tag(&at, &trail, stack, &depth);
        else
            skip_text(&at, '<');
    }
    LAB_MUST(depth == 0);
    return text_take_or_end(&trail);
}

/* ---- the same document, without what markup is made of ---- */

/* Others that take as many characters each, and that no compared document has (may_be_compared). */
static char *tame(const char *text) {
    text_t out = {.length = 0};
    static const char wild[] = "<>&\"'";
    for (; *text; text++) {
        const char *found = strchr(wild, *text);
        if (found)
            text_print(&out, "\xEE\x80%c", (char)(0x81 + (found - wild)));
        else
            text_append_bytes(&out, text, 1);
    }
    return text_take_or_end(&out);
}

static void copy_tamed(const bson_t *from, bson_t *to) {
    bson_iter_t at, inner;
    bson_t child, source;
    if (!bson_iter_init(&at, from))
        return;
    while (bson_iter_next(&at)) {
        char *key = tame(bson_iter_key(&at));
        const uint8_t *bytes;
        uint32_t length;
        if (BSON_ITER_HOLDS_UTF8(&at)) {
            char *text = tame(bson_iter_utf8(&at, NULL));
            BSON_APPEND_UTF8(to, key, text);
            free(text);
        } else if ((BSON_ITER_HOLDS_DOCUMENT(&at) || BSON_ITER_HOLDS_ARRAY(&at)) &&
                   bson_iter_recurse(&at, &inner)) {
            if (BSON_ITER_HOLDS_DOCUMENT(&at))
                bson_iter_document(&at, &length, &bytes);
            else
                bson_iter_array(&at, &length, &bytes);
            bson_init(&child);
            const bool whole = bson_init_static(&source, bytes, length);
            if (whole)
                copy_tamed(&source, &child);
            if (!whole)
                BSON_APPEND_NULL(to, key);
            else if (BSON_ITER_HOLDS_DOCUMENT(&at))
                BSON_APPEND_DOCUMENT(to, key, &child);
            else
                bson_append_array(to, key, -1, &child);
            bson_destroy(&child);
        } else {
            bson_append_iter(to, key, -1, &at);
        }
        free(key);
    }
}

static bool is_utf8(const char *text) {
    return utf8_valid((const uint8_t *)text, strlen(text));
}

/* bson_validate does not see what is wrong in documents within documents. */
static bool has_utf8_alone(bson_iter_t at) {
    bson_iter_t inner;
    while (bson_iter_next(&at)) {
        if (!is_utf8(bson_iter_key(&at)) ||
            (BSON_ITER_HOLDS_UTF8(&at) && !is_utf8(bson_iter_utf8(&at, NULL))))
            return false;
        if ((BSON_ITER_HOLDS_DOCUMENT(&at) || BSON_ITER_HOLDS_ARRAY(&at)) && bson_iter_recurse(&at, &inner) &&
            !has_utf8_alone(inner))
            return false;
    }
    return true;
}

/* A part of a character may be found in what stands in the place of a sign of markup; and a document may have such a
 * one itself, also by an escape of JSON. */
static bool may_be_compared(const bson_t *document) {
    bson_iter_t at;
    return !memmem(bson_get_data(document), document->len, "\xEE\x80", 2) && bson_iter_init(&at, document) &&
           has_utf8_alone(at);
}

static void check_tags(const bson_t *document, const char *trail) {
    size_t length;
    bson_t tamed = BSON_INITIALIZER;
    copy_tamed(document, &tamed);
    char *page = html_print(&tamed, &length), *expected = read_page(page, length);
    LAB_MUST(strcmp(expected, trail) == 0);
    free(page);
    free(expected);
    bson_destroy(&tamed);
}

static void check(const bson_t *document) {
    size_t length;
    char *page = html_print(document, &length), *trail = read_page(page, length);
    if (may_be_compared(document))
        check_tags(document, trail);
    char *json = json_print(document, &length);
    LAB_MUST(strlen(json) == length && utf8_valid((const uint8_t *)json, length));
    free(json);
    free(page);
    free(trail);
}

/* ---- reports that are made call by call ---- */

/* Up to 64 bytes, which last for four calls. (What is drawn is drawn in one order, whoever compiles it: calls in the
 * arguments of a call have none.) */
static const char *text_of(odd_t *odd) {
    static char rooms[4][65];
    static size_t room;
    int length;
    const char *text = odd_text(odd, &length);
    room = (room + 1) % 4;
    return memcpy(rooms[room], text, 65);
}

static const char *unit_of(odd_t *odd) {
    static const char *const units[] = {"",      "bytes",       "s",       "ms",    "us", "%",
                                        "cores", "documents/s", "bytes/s", "files", "s/s"};
    const size_t which = odd_below(odd, 12);
    return which < 11 ? units[which] : text_of(odd);
}

static double number_of(odd_t *odd) {
    return odd_byte(odd) & 1 ? odd_double(odd) : (double)odd_below(odd, 100);
}

static void one_call(report_t *report, odd_t *odd) {
    const size_t call = odd_below(odd, 11);
    const char *name = text_of(odd);
    switch (call) {
    case 0: {
        const double value = number_of(odd);
        report_figure(report, name, value, unit_of(odd));
        return;
    }
    case 1:
        report_figure_text(report, name, text_of(odd));
        return;
    case 2:
        report_column(report, name, unit_of(odd));
        return;
    case 3: {
        const double most = number_of(odd);
        report_bar_column(report, name, unit_of(odd), most);
        return;
    }
    case 4:
        report_row(report);
        return;
    case 5:
        report_number(report, number_of(odd));
        return;
    case 6:
        report_word(report, *name ? name : NULL);
        return;
    case 7:
        report_series(report, name);
        return;
    case 8: {
        const double x = number_of(odd);
        report_point(report, x, number_of(odd));
        return;
    }
    case 9: {
        const double from = number_of(odd);
        report_band(report, odd_byte(odd) & 1 ? "phase" : "checkpoint", name, from, from + 1);
        return;
    }
    default: {
        const report_phase_t phase = {name,           number_of(odd), number_of(odd),
                                      number_of(odd), number_of(odd), number_of(odd)};
        report_phase(report, &phase);
    }
    }
}

static void make_report(odd_t odd) {
    report_t *report = report_new("load");
    const char *target = text_of(&odd), *where = text_of(&odd);
    report_head(report, target, where, text_of(&odd));
    report_say(report, 5, "%s", text_of(&odd));
    report_set_text(report, "again", text_of(&odd));
    report_set_number(report, "n", number_of(&odd));
    while (odd.left) {
        const report_kind_t kind = (report_kind_t)odd_below(&odd, REPORT_KINDS);
        const char *title = text_of(&odd), *note = text_of(&odd), *unit = unit_of(&odd);
        report_begin(report, kind, title, *note ? note : NULL);
        if (kind == REPORT_LINES || kind == REPORT_PERCENTILES)
            report_axes(report, title, unit, note, unit_of(&odd));
        if (kind == REPORT_TEXT)
            report_line(report, text_of(&odd));
        while (odd.left && odd_byte(&odd) & 15)
            one_call(report, &odd);
        report_end(report);
    }
    check(report_document(report));
    report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bson_t document, *parsed;
    if (size && data[0] == 'R')
        make_report((odd_t){data + 1, size - 1});
    if (size > 1 << 16)
        return 0;
    if (bson_init_static(&document, data, size) && bson_validate(&document, BSON_VALIDATE_NONE, NULL))
        check(&document);
    if ((parsed = bson_new_from_json(data, (ssize_t)size, NULL))) {
        check(parsed);
        bson_destroy(parsed);
    }
    return 0;
}

/* A result of any document makes a page of UTF-8 whose tags are balanced, in which no '<' or '&' begins anything else, and
 * which has no script, no handler and nothing from elsewhere. Read here by a reader that knows nothing of how pages are made. */
#include "base/chars.h"
#include "odd_bson.h"
#include "report/inner.h"
#include "server/bson_read.h"

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

static void read_tag(const char **at, char stack[DEEPEST][LONGEST], size_t *depth) {
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
        LAB_MUST(strncasecmp(from, "on", 2) != 0 && strncmp(from, "src", 3) != 0 &&
                 strncmp(from, "href", 4) != 0 && strncmp(from, "style=", 6) != 0);
        *at += 2;
        skip_text(at, '"');
        LAB_MUST(**at == '"');
        ++*at;
    }
    ++*at;
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

static void read_page(const char *page, size_t length) {
    static const char doctype[] = "<!DOCTYPE html>\n";
    char stack[DEEPEST][LONGEST];
    size_t depth = 0;
    LAB_MUST(strlen(page) == length && utf8_valid((const uint8_t *)page, length));
    LAB_MUST(strncmp(page, doctype, strlen(doctype)) == 0);
    const char *at = page + strlen(doctype);
    while (*at) {
        if (*at == '<')
            read_tag(&at, stack, &depth);
        else
            skip_text(&at, '<');
    }
    LAB_MUST(depth == 0);
}

/* ---- a result of any document: views of each of its fields, which are named as they are ---- */

enum { MOST_FIELDS = 12, MOST_COLUMNS = 12, VIEWS = 5 };

typedef struct {
    result_view_t views[VIEWS * MOST_FIELDS + 1];
    result_column_t columns[MOST_FIELDS][MOST_COLUMNS + 1];
} shown_t;

/* Keys of the first document of a list. */
static size_t take_columns(const bson_t *document, const char *list, result_column_t *columns) {
    bson_t first;
    bson_iter_t at;
    size_t count = 0;
    if (!bson_read_list(document, list, &at) || !bson_read_next(&at, &first) || !bson_iter_init(&at, &first))
        return 0;
    for (; count < MOST_COLUMNS && bson_iter_next(&at); count++)
        columns[count] = (result_column_t){
            .key = bson_iter_key(&at), .title = bson_iter_key(&at), .most = count % 2 ? BAR_LARGEST : 0};
    return count;
}

static result_view_t *add_views(result_view_t *view, const bson_t *document, const char *key,
                                result_column_t *columns) {
    const size_t count = take_columns(document, key, columns);
    *view++ = (result_view_t)LINE(SHOW_PAGE | SHOW_CARE, NULL, key, .command = key);
    *view++ = (result_view_t)LINE(SHOW_PAGE, key, key, .each = key);
    const result_view_t table = {
        .shown = SHOW_PAGE, .words = key, .list = key, .title = key, .columns = columns};
    for (size_t i = 0; i < (count > 1 ? 3 : 2 * count); i++) {
        *view = table;
        view->each = i == 1 ? key : NULL;
        view++->bands = i == 2 ? key : NULL;
    }
    return view;
}

static char *page_of(const bson_t *document, size_t *length) {
    const err_t fine = {.text = ""};
    result_t *result = result_new("load", NULL);
    shown_t shown = {.views = {{0}}};
    result_view_t *view = shown.views;
    bson_iter_t at;
    bson_destroy(&result->document);
    bson_copy_to(document, &result->document);
    result_answer(result, "{title}", 0, &fine, "{sentence} {n|file}", "");
    if (bson_iter_init(&at, &result->document))
        for (size_t i = 0; i < MOST_FIELDS && bson_iter_next(&at); i++)
            view = add_views(view, &result->document, bson_iter_key(&at), shown.columns[i]);
    result->views = shown.views;
    char *page = page_print(result, length);
    result_free(result);
    return page;
}

static void check(const bson_t *document) {
    size_t length;
    char *page = page_of(document, &length);
    read_page(page, length);
    free(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bson_t document, *parsed;
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

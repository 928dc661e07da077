/* Values of a suite, as BSON: see suite.h. */
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json.h"
#include "query/suite/suite.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_BYTES = 16 << 20, MOST_NAMES = 128 }; /* a document of a server has no more bytes */

typedef struct {
    const yaml_tree_t *tree;
    const bson_t *params; /* or NULL */
    err_t *err;
} reader_t;

#define COMPLAIN(at, ...) yaml_tree_complain(reader->tree, at, reader->err, __VA_ARGS__)

/* ---- scalars ---- */

/* Words that mean a value in some language are none, whatever their case; nor are constants of a class (Math.PI). */
static bool is_word(const char *text) {
    static const char *const meant[] = {"true", "false", "null",     "none",   "nil",   "undefined",
                                        "nan",  "inf",   "infinity", "minkey", "maxkey"};
    const char *at = text + strspn(text, "$");
    for (size_t i = 0; i < COUNT(meant); i++)
        if (strcasecmp(text, meant[i]) == 0)
            return false;
    if ((!isalpha((unsigned char)*at) && *at != '_') || (isupper((unsigned char)*at) && strchr(at, '.')))
        return false;
    while (isalnum((unsigned char)*at) || (*at && strchr("_.$-", *at)))
        at++;
    return !*at;
}

static bool append_json(const reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node,
                        const char *json) {
    err_t why;
    bson_iter_t at;
    text_t whole = {0};
    text_print(&whole, "{\"\": %s}", json);
    char *const text = text_take(&whole, reader->err);
    bson_t *const made = text ? json_document(text, false, &why) : NULL;
    /* in requests undefined stands for a parameter that is not known yet */
    const bool ok = made && bson_iter_init(&at, made) && bson_iter_next(&at) && bson_count_keys(made) == 1 &&
                    !BSON_ITER_HOLDS_UNDEFINED(&at) && element_append(to, key, &at);
    if (text && !made && why.status != STATUS_USAGE)
        *reader->err = why;
    else if (text && !ok)
        COMPLAIN(node, "'%.100s' is no value (%s)%s", json,
                 !made                        ? why.text
                 : bson_count_keys(made) == 1 ? "write null"
                                              : "a comma ends a value",
                 node->kind == YAML_ITEM_SCALAR
                     ? ": put a text in quotes, and write a date like {$date: 2014-01-31}"
                     : "");
    bson_destroy(made);
    free(text);
    return ok;
}

/* /pattern/options. The pattern stays as it is written: \/ is the same as / in a regular expression. */
static bool append_regex(bson_t *to, const char *key, const yaml_item_t *node) {
    const char *end = node->text + 1;
    while (*node->text == '/' && *end && *end != '/')
        end += *end == '\\' && end[1] ? 2 : 1;
    if (*node->text != '/' || *end != '/' || end == node->text + 1 || end[1 + strspn(end + 1, "ilmsux")])
        return false;
    char *const pattern = strndup(node->text + 1, (size_t)(end - node->text) - 1);
    const bool ok = pattern && bson_append_regex(to, key, -1, pattern, end + 1);
    free(pattern);
    return ok;
}

static bool append_scalar(const reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    if (node->quoted || is_word(node->text))
        return bson_append_utf8(to, key, -1, node->text, (int)node->length);
    return append_regex(to, key, node) || append_json(reader, to, key, node, node->text);
}

/* ---- maps that mean a value ---- */

/* bare: its numbers have no quotes in JSON. */
static const struct {
    const char *key;
    bool bare;
} extended[] = {{"$date", false},       {"$oid", false},          {"$numberInt", false},
                {"$numberLong", false}, {"$numberDouble", false}, {"$numberDecimal", false},
                {"$timestamp", true},   {"$minKey", true},        {"$maxKey", true},
                {"$binary", false},     {"$uuid", false},         {"$regularExpression", false}};

static bool print_json(const reader_t *reader, text_t *json, const yaml_item_t *node, bool bare) {
    const bool list = node->kind == YAML_ITEM_LIST;
    if (node->kind == YAML_ITEM_SCALAR) {
        if (strlen(node->text) != node->length)
            return COMPLAIN(node, "this contains the character \\0");
        if (bare && !node->quoted)
            text_append(json, node->text);
        else
            ejson_append_text(json, node->text);
        return true;
    }
    text_append(json, list ? "[" : "{");
    for (const yaml_item_t *child = node->first; child; child = child->next) {
        text_append(json, child == node->first ? "" : ", ");
        if (!list)
            ejson_append_text(json, child->key);
        text_append(json, list ? "" : ": ");
        if (!print_json(reader, json, child, bare))
            return false;
    }
    text_append(json, list ? "]" : "}");
    return true;
}

/* A date may be a day, or have no offset, as in ISODate("2014-01-31"). */
static bool append_extended(const reader_t *reader, bson_t *to, const char *key, const yaml_item_t *map,
                            bool bare) {
    const bool date = strcmp(map->first->key, "$date") == 0 && map->first->kind == YAML_ITEM_SCALAR;
    text_t json = {0};
    text_append(&json, date ? "ISODate(" : "");
    bool ok = print_json(reader, &json, date ? map->first : map, bare);
    text_append(&json, date ? ")" : "");
    ok = ok && (!json.lacking || err_memory(reader->err, json.lacking)) &&
         append_json(reader, to, key, map, json.bytes);
    text_free(&json);
    return ok;
}

static bool append_param(const reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const char *names[MOST_NAMES], *const name = node->kind == YAML_ITEM_SCALAR ? node->text : "";
    size_t count = 0;
    bson_iter_t at;
    if (reader->params && bson_iter_init_find(&at, reader->params, name))
        return bson_append_iter(to, key, -1, &at);
    for (bool more = reader->params && bson_iter_init(&at, reader->params);
         more && count < MOST_NAMES && bson_iter_next(&at);)
        names[count++] = bson_iter_key(&at);
    return COMPLAIN(node, "there is no parameter '%s' here%s", name, suggestion(name, names, count).text);
}

/* ---- maps and lists ---- */

static bool append_children(const reader_t *reader, bson_t *to, const yaml_item_t *node);

static bool append(const reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const bool list = node->kind == YAML_ITEM_LIST;
    bson_t inner;
    if (node->kind == YAML_ITEM_SCALAR)
        return append_scalar(reader, to, key, node);
    if (!list && node->count == 1 && strcmp(node->first->key, "$param") == 0)
        return append_param(reader, to, key, node->first);
    for (size_t i = 0; !list && node->count == 1 && i < COUNT(extended); i++)
        if (strcmp(node->first->key, extended[i].key) == 0)
            return append_extended(reader, to, key, node, extended[i].bare);
    if (list)
        bson_append_array_unsafe_begin(to, key, -1, &inner);
    else
        bson_append_document_begin(to, key, -1, &inner);
    const bool ok = append_children(reader, &inner, node);
    return (list ? bson_append_array_end(to, &inner) : bson_append_document_end(to, &inner)) && ok;
}

/* A parameter may be there often: what is short to write can be very large. */
static bool append_children(const reader_t *reader, bson_t *to, const yaml_item_t *node) {
    uint32_t number = 0;
    for (const yaml_item_t *child = node->first; child; child = child->next) {
        char digits[16];
        const char *key = child->key;
        if (node->kind == YAML_ITEM_LIST)
            bson_uint32_to_string(number++, &key, digits, sizeof digits);
        if (!append(reader, to, key, child))
            return false;
        if (to->len > MOST_BYTES)
            return COMPLAIN(child, "this makes a document of more than %d MB", MOST_BYTES >> 20);
    }
    return true;
}

bool value_append(bson_t *to, const char *key, const yaml_item_t *node, const yaml_tree_t *tree,
                  const bson_t *params, err_t *err) {
    return append(&(reader_t){tree, params, err}, to, key, node);
}

bool value_document(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree, const bson_t *params,
                    err_t *err) {
    bson_init(document);
    return append_children(&(reader_t){tree, params, err}, document, node);
}

bool value_parse(bson_t *to, const char *key, const char *text, err_t *err) {
    yaml_tree_t *tree = yaml_tree_parse(text, strlen(text), key, err);
    const bool ok = tree && value_append(to, key, yaml_tree_root(tree), tree, NULL, err);
    yaml_tree_destroy(tree);
    return ok;
}

/* ---- numbers of any type ---- */

bool numeric_double(const bson_iter_t *at, double *number) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (BSON_ITER_HOLDS_NUMBER(at)) {
        *number = bson_iter_as_double(at);
        return true;
    }
    if (!bson_iter_decimal128(at, &decimal))
        return false;
    bson_decimal128_to_string(&decimal, text);
    number_read(text, strlen(text), number);
    return strpbrk(text, "NI") || /* NaN, Infinity */
           (isfinite(*number) && (*number != 0 || strspn(text, "-0.") == strcspn(text, "E")));
}

bool numeric_whole(const bson_iter_t *at, int64_t *whole) {
    static const double MOST_EXACT = 0x1p53;
    double number;
    *whole = bson_iter_as_int64(at);
    if (BSON_ITER_HOLDS_INT32(at) || BSON_ITER_HOLDS_INT64(at))
        return true;
    if (!numeric_double(at, &number) || !(fabs(number) <= MOST_EXACT) || number != rint(number))
        return false;
    *whole = (int64_t)number;
    return true;
}

/* A schema becomes the tree of columns: once for each stream, before any batch is read. Whatever a document cannot have is refused
 * here, with the column. */
#include "base/chars.h"
#include "base/text.h"
#include "format/columns/columns_inner.h"

#include <bson/bson.h>
#include <errno.h>

enum { SECOND = 1000, DAY = 86400 * SECOND /* milliseconds */ };

/* The table of types: docs/types.md has it for users. An order matters only where one format begins another one. */
static const type_t types[] = {
    {"n", KIND_NULL, BSON_TYPE_NULL, .buffers = 0},
    {"b", KIND_BOOLEAN, BSON_TYPE_BOOL, .buffers = 2},
    {"c", KIND_WHOLE, BSON_TYPE_INT32, .buffers = 2, .width = 1},
    {"C", KIND_WHOLE, BSON_TYPE_INT32, .buffers = 2, .width = 1, .is_unsigned = true},
    {"s", KIND_WHOLE, BSON_TYPE_INT32, .buffers = 2, .width = 2},
    {"S", KIND_WHOLE, BSON_TYPE_INT32, .buffers = 2, .width = 2, .is_unsigned = true},
    {"i", KIND_WHOLE, BSON_TYPE_INT32, .buffers = 2, .width = 4},
    {"I", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 4, .is_unsigned = true},
    {"l", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 8},
    {"L", KIND_LARGE, BSON_TYPE_INT64, .buffers = 2, .width = 8, .is_unsigned = true},
    {"e", KIND_NUMBER, BSON_TYPE_DOUBLE, .buffers = 2, .width = 2},
    {"f", KIND_NUMBER, BSON_TYPE_DOUBLE, .buffers = 2, .width = 4},
    {"g", KIND_NUMBER, BSON_TYPE_DOUBLE, .buffers = 2, .width = 8},
    {"d:", KIND_DECIMAL, BSON_TYPE_DECIMAL128, .buffers = 2},
    {"u", KIND_TEXT, BSON_TYPE_UTF8, .buffers = 3, .width = 4},
    {"U", KIND_TEXT, BSON_TYPE_UTF8, .buffers = 3, .width = 8},
    {"vu", KIND_TEXT, BSON_TYPE_UTF8, .buffers = 3, .width = VIEW},
    {"z", KIND_BYTES, BSON_TYPE_BINARY, .buffers = 3, .width = 4},
    {"Z", KIND_BYTES, BSON_TYPE_BINARY, .buffers = 3, .width = 8},
    {"vz", KIND_BYTES, BSON_TYPE_BINARY, .buffers = 3, .width = VIEW},
    {"w:", KIND_FIXED, BSON_TYPE_BINARY, .buffers = 2},
    {"tdD", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 4, .scale = DAY},
    {"tdm", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 8, .scale = 1},
    {"tss:", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 8, .scale = SECOND},
    {"tsm:", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 8, .scale = 1},
    {"tsu:", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 8, .scale = -1000},
    {"tsn:", KIND_MOMENT, BSON_TYPE_DATE_TIME, .buffers = 2, .width = 8, .scale = -1000000},
    {"tts", KIND_CLOCK, BSON_TYPE_UTF8, .buffers = 2, .width = 4, .scale = 1},
    {"ttm", KIND_CLOCK, BSON_TYPE_UTF8, .buffers = 2, .width = 4, .scale = 1000},
    {"ttu", KIND_CLOCK, BSON_TYPE_UTF8, .buffers = 2, .width = 8, .scale = 1000000},
    {"ttn", KIND_CLOCK, BSON_TYPE_UTF8, .buffers = 2, .width = 8, .scale = 1000000000},
    {"tDs", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 8},
    {"tDm", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 8},
    {"tDu", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 8},
    {"tDn", KIND_WHOLE, BSON_TYPE_INT64, .buffers = 2, .width = 8},
    {"+l", KIND_LIST, BSON_TYPE_ARRAY, .buffers = 2, .width = 4, .children = 1},
    {"+L", KIND_LIST, BSON_TYPE_ARRAY, .buffers = 2, .width = 8, .children = 1},
    {"+vl", KIND_LIST, BSON_TYPE_ARRAY, .buffers = 3, .width = 4, .children = 1},
    {"+vL", KIND_LIST, BSON_TYPE_ARRAY, .buffers = 3, .width = 8, .children = 1},
    {"+w:", KIND_FIXED_LIST, BSON_TYPE_ARRAY, .buffers = 1, .children = 1},
    {"+s", KIND_STRUCT, BSON_TYPE_DOCUMENT, .buffers = 1, .children = ANY_CHILDREN},
    {"+m", KIND_MAP, BSON_TYPE_DOCUMENT, .buffers = 2, .width = 4, .children = 1},
    {"+r", KIND_RUNS, .children = 2},
    {"+us:", KIND_SPARSE, .buffers = 1, .width = 1, .children = ANY_CHILDREN},
    {"+ud:", KIND_DENSE, .buffers = 2, .width = 1, .children = ANY_CHILDREN},
};

/* The type of a format; *more: what follows after its ':'. NULL: there is none. */
static const type_t *find(const char *format, const char **more) {
    for (size_t i = 0; i < COUNT(types); i++) {
        const size_t length = strlen(types[i].format);
        *more = format + length;
        if (strncmp(format, types[i].format, length) == 0 &&
            (types[i].format[length - 1] == ':' || !format[length]))
            return &types[i];
    }
    return NULL;
}

/* A number of a format, within bounds, and the comma after it. */
static bool take_number(const char **at, int64_t least, int64_t most, int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    if (end == *at || errno || *number < least || *number > most || (*end && *end != ','))
        return false;
    *at = *end ? end + 1 : end;
    return true;
}

/* The next key or value of a schema's metadata: a length and its bytes. */
static const char *take_word(const char **at, int32_t *length) {
    memcpy(length, *at, sizeof *length);
    const char *word = *at + sizeof *length;
    *at = word + (*length > 0 ? *length : 0);
    return word;
}

/* The name of the extension whose values are stored so; to be freed. NULL: there is none, or memory is out. */
static char *extension_of(const struct ArrowSchema *schema) {
    static const char wanted[] = "ARROW:extension:name";
    const char *at = schema->metadata;
    int32_t count, length;
    if (!at)
        return NULL;
    memcpy(&count, at, sizeof count);
    for (at += sizeof count; count > 0; count--) {
        const char *key = take_word(&at, &length);
        const bool found = length == (int32_t)strlen(wanted) && memcmp(key, wanted, (size_t)length) == 0;
        const char *value = take_word(&at, &length);
        if (found && length > 0)
            return strndup(value, (size_t)length);
    }
    return NULL;
}

/* Identifiers that BSON has types for. Of another extension the storage is stored, which columns_notes says. */
static void read_extension(const struct ArrowSchema *schema, column_t *column) {
    column->sum.extension = extension_of(schema);
    const bool uuid = column->sum.extension && strcmp(column->sum.extension, "arrow.uuid") == 0 &&
                      column->size == 16,
               id = column->sum.extension && strcmp(column->sum.extension, "pymongoarrow.objectid") == 0 &&
                    column->size == 12;
    if (column->kind != KIND_FIXED || !(uuid || id))
        return;
    column->bson = id ? BSON_TYPE_OID : BSON_TYPE_BINARY;
    column->subtype = BSON_SUBTYPE_UUID;
    free(column->sum.extension);
    column->sum.extension = NULL;
}

/* ---- names ---- */

/* A field of a struct or a union adds its name to the path; what is in a list, or stands for another column, does not. */
static bool take_name(const char *name, const column_t *within, column_t *column, err_t *err) {
    const bool adds = within && within->type->children == ANY_CHILDREN;
    const char *before = within && within->sum.path ? within->sum.path : "";
    const size_t length = strlen(name);
    uint8_t *key = calloc(1, length + KEY_SHORT);
    column->key = (column_key_t){key, length, true};
    if (!key ||
        asprintf(&column->sum.path, "%s%s%s", before, adds && *before ? "." : "", adds ? name : "") < 0) {
        column->sum.path = NULL;
        return err_memory(err, length);
    }
    memcpy(key, name, length);
    return true;
}

/* Of two of one name the first one comes first. */
static int by_name(const void *a, const void *b) {
    const column_t *one = *(const column_t *const *)a, *other = *(const column_t *const *)b;
    const int order = strcmp((const char *)one->key.bytes, (const char *)other->key.bytes);
    return order ? order : (one > other) - (one < other);
}

/* Each field of a document has a name of its own, which is UTF-8. */
static bool check_names(const column_t *column, err_t *err) {
    const size_t count = column->child_count;
    const column_t *const first = column->children, **sorted = calloc(count + 1, sizeof *sorted);
    bool ok = sorted || err_memory(err, count * sizeof *sorted);
    for (size_t i = 0; ok && i < count; i++) {
        sorted[i] = &first[i];
        ok = utf8_valid(first[i].key.bytes, first[i].key.length) ||
             err_set(err, STATUS_INPUT, "the name of column %zu is not UTF-8: rename it", i + 1);
    }
    if (ok)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; ok && i < count; i++)
        ok = strcmp((const char *)sorted[i - 1]->key.bytes, (const char *)sorted[i]->key.bytes) != 0 ||
             err_set(err, STATUS_INPUT,
                     "%s%scolumns %td and %td are both called '%s': a document has each name once, so "
                     "rename one of them",
                     column->sum.path, *column->sum.path ? ": " : "", sorted[i - 1] - first + 1,
                     sorted[i] - first + 1, (const char *)sorted[i]->key.bytes);
    free(sorted);
    return ok;
}

/* ---- the tree ---- */

static bool refuse(const column_t *column, const char *format, err_t *err) {
    const bool interval = strncmp(format, "ti", 2) == 0;
    return err_set(err, STATUS_INPUT, "column '%s' %s '%s', which %s: cast it, or leave it out",
                   column->sum.path, interval ? "is an interval," : "has the Arrow type", format,
                   interval ? "no type of a document holds" : "is not known here");
}

/* What follows the ':' of a format. */
static bool read_parameters(const char *more, column_t *column) {
    int64_t digits, bits = 128, id;
    switch (column->kind) {
    case KIND_DECIMAL: /* precision, scale, bits */
        if (!take_number(&more, 1, 76, &digits) || !take_number(&more, -6000, 6000, &column->size) ||
            (*more && !take_number(&more, 32, 256, &bits)) || bits & (bits - 1))
            return false;
        column->width = (uint8_t)(bits / 8);
        return true;
    case KIND_FIXED:
    case KIND_FIXED_LIST:
        return take_number(&more, 0, INT32_MAX, &column->size);
    case KIND_MOMENT:
        column->sum.unzoned = column->type->format[1] == 's' && !*more;
        return true;
    case KIND_SPARSE:
    case KIND_DENSE:
        if (!(column->codes = malloc(COLUMN_CODES)))
            return false;
        memset(column->codes, -1, COLUMN_CODES);
        for (size_t i = 0; *more; i++) {
            if (!take_number(&more, 0, COLUMN_CODES - 1, &id) || i >= column->child_count)
                return false;
            column->codes[id] = (int8_t)i;
        }
        return true;
    default:
        return true;
    }
}

/* Is the value of each of them a text? */
static bool is_text(const column_t *column) {
    while (column->kind == KIND_DICTIONARY || column->kind == KIND_RUNS)
        column = &column->children[column->child_count - 1]; /* what is pointed into, or the values of runs */
    return column->kind == KIND_TEXT;
}

static void rename_key(column_t *column, const char *name) {
    column->key.length = strlen(name);
    memcpy((void *)column->key.bytes, name, KEY_SHORT < strlen(name) ? 0 : strlen(name) + 1);
}

/* The columns that it is made of have the kinds that it needs. A map whose keys are no texts is a list of pairs. */
static bool fits(column_t *column) {
    const column_t *first = column->children;
    switch (column->kind) {
    case KIND_RUNS:
        return first->kind == KIND_WHOLE && !first->type->is_unsigned && first->width > 1;
    case KIND_MAP:
        if (first->kind != KIND_STRUCT || first->child_count != 2)
            return false;
        rename_key(&first->children[0], "key");
        rename_key(&first->children[1], "value");
        column->children->keeps_nulls = true;
        if (!is_text(first->children)) {
            column->kind = KIND_LIST;
            column->bson = BSON_TYPE_ARRAY;
        }
        return true;
    default:
        return true;
    }
}

static bool make(const struct ArrowSchema *schema, const column_t *within, int level, column_t *column,
                 err_t *err) {
    const char *format = schema && schema->format ? schema->format : "", *more;
    const type_t *type = find(format, &more);
    if (!take_name(schema && schema->name ? schema->name : "", within, column, err))
        return false;
    if (level == COLUMN_LEVELS)
        return err_set(err, STATUS_INPUT,
                       "column '%.200s' is nested deeper than the 180 levels that a server stores",
                       column->sum.path);
    if (!type || (schema->dictionary && type->kind != KIND_WHOLE && type->kind != KIND_LARGE))
        return refuse(column, format, err);
    column->kind = schema->dictionary ? KIND_DICTIONARY : type->kind;
    column->type = type;
    column->bson = type->bson;
    column->width = type->width;
    if (schema->n_children < 0 || (schema->n_children && !schema->children) ||
        (type->children != ANY_CHILDREN && schema->n_children != type->children))
        return refuse(column, format, err);
    column->child_count = schema->dictionary ? 1 : (size_t)schema->n_children;
    if (!(column->children = calloc(column->child_count + 1, sizeof *column->children)))
        return err_memory(err, column->child_count * sizeof *column->children);
    for (size_t i = 0; i < column->child_count; i++)
        if (!make(schema->dictionary ? schema->dictionary : schema->children[i], column, level + 1,
                  &column->children[i], err))
            return false;
    if (!read_parameters(more, column) || !fits(column))
        return refuse(column, format, err);
    read_extension(schema, column);
    return column->kind != KIND_STRUCT || check_names(column, err);
}

bool tree_make(const struct ArrowSchema *schema, column_t *root, err_t *err) {
    const char *format = schema->format ? schema->format : "";
    if (strcmp(format, "+s") != 0)
        return err_set(err, STATUS_INPUT,
                       "this is a stream of single values ('%.100s'), not of rows with columns: give a table "
                       "or a data frame",
                       format);
    return make(schema, NULL, 0, root, err);
}

void tree_free(column_t *column) {
    for (size_t i = 0; column->children && i < column->child_count; i++)
        tree_free(&column->children[i]);
    free(column->children);
    free(column->codes);
    free(column->sum.extension);
    free(column->sum.path);
    free((void *)column->key.bytes);
}

#include "base/yaml_tree.h"
#include "base/chars.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

enum { DEEPEST = 32, MOST_NODES = 200000, MOST_KEYS = 20000 };

typedef struct slab {
    struct slab *next;
    char bytes[];
} slab_t;

struct yaml_tree {
    slab_t *slabs;
    yaml_item_t *root;
    char *name;
    size_t nodes;
    const char *text; /* only while it is read */
    size_t length;
    const size_t *added; /* only while it is read */
    size_t added_count;
};

void *yaml_tree_keep(yaml_tree_t *tree, size_t bytes, err_t *err) {
    slab_t *slab = calloc(1, sizeof *slab + bytes);
    if (!slab) {
        err_memory(err, bytes);
        return NULL;
    }
    slab->next = tree->slabs;
    tree->slabs = slab;
    return slab->bytes;
}

bool yaml_tree_complain(const yaml_tree_t *tree, const yaml_item_t *at, err_t *err, const char *fmt, ...) {
    char sentence[1200], shown[2 * sizeof sentence];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    /* keys and values may contain line ends */
    escape_text(shown, sizeof shown, sentence, strlen(sentence));
    return err_set(err, STATUS_USAGE, "%s:%d:%d: %s", tree->name, at->line, at->column, shown);
}

/* The place in the text that the user wrote. */
static yaml_item_t item_at(const yaml_tree_t *tree, yaml_mark_t mark) {
    yaml_item_t item = {.line = (int)mark.line + 1, .column = (int)mark.column + 1};
    for (size_t i = 0; i < tree->added_count; i++)
        item.column -= tree->added[i] < mark.index && tree->added[i] >= mark.index - mark.column;
    return item;
}

static yaml_item_t *make_node(yaml_tree_t *tree, yaml_item_kind_t kind, yaml_mark_t mark, err_t *err) {
    const yaml_item_t at = item_at(tree, mark);
    if (++tree->nodes > MOST_NODES) {
        yaml_tree_complain(tree, &at, err, "too large for a format or suite file");
        return NULL;
    }
    yaml_item_t *node = yaml_tree_keep(tree, sizeof *node, err);
    if (node) {
        *node = at;
        node->kind = kind;
    }
    return node;
}

/* The events of scalars, lists and maps begin with these members. */
static bool has_anchor_or_tag(const yaml_event_t *event) {
    return (event->type == YAML_SCALAR_EVENT || event->type == YAML_SEQUENCE_START_EVENT ||
            event->type == YAML_MAPPING_START_EVENT) &&
           (event->data.scalar.anchor || event->data.scalar.tag);
}

static bool next_event(yaml_tree_t *tree, yaml_parser_t *parser, yaml_event_t *event, err_t *err) {
    if (yaml_parser_parse(parser, event)) {
        const yaml_item_t at = item_at(tree, event->start_mark);
        if (event->type == YAML_ALIAS_EVENT || has_anchor_or_tag(event)) {
            yaml_event_delete(event);
            return yaml_tree_complain(
                tree, &at, err,
                "anchors (&name), aliases (*name) and tags (!name) are not supported here: write the "
                "value out");
        }
        return true;
    }
    if (parser->error == YAML_MEMORY_ERROR)
        return err_memory(err, tree->length);
    const bool ended =
        parser->tokens.head != parser->tokens.tail && parser->tokens.head->type == YAML_STREAM_END_TOKEN;
    yaml_mark_t mark = ended && parser->context ? parser->context_mark : parser->problem_mark;
    if (parser->error == YAML_READER_ERROR) { /* bytes that are not text: libyaml gives only their offset */
        size_t until = parser->problem_offset < tree->length ? parser->problem_offset : tree->length;
        mark = (yaml_mark_t){.index = 0};
        for (size_t i = 0; i < until; i++) {
            const bool begins = ((unsigned char)tree->text[i] & 0xC0) != 0x80; /* a character */
            mark.index += begins;
            mark.column = tree->text[i] == '\n' ? 0 : mark.column + begins;
            mark.line += tree->text[i] == '\n';
        }
    }
    const yaml_item_t at = item_at(tree, mark);
    return err_set(err, STATUS_USAGE, "%s:%d:%d: not YAML: %s%s%s", tree->name, at.line, at.column,
                   parser->problem ? parser->problem : "unreadable", parser->context ? " " : "",
                   parser->context ? parser->context : "");
}

/* For YAML nothing is null, and so is what a mistake leaves: in {k:FORD} all of "k:FORD" is the key. */
static bool is_nothing(const yaml_item_t *node) {
    return node->kind == YAML_ITEM_SCALAR && !node->quoted && !node->length;
}

/* The place of the item's key. */
static yaml_item_t key_of(const yaml_item_t *node) {
    return (yaml_item_t){.line = node->key_line, .column = node->key_column};
}

static bool complain_of_nothing(yaml_tree_t *tree, const yaml_item_t *node, err_t *err) {
    const yaml_item_t at = key_of(node);
    if (!node->key)
        return yaml_tree_complain(tree, node, err, "a value is missing here; null is written as null");
    return yaml_tree_complain(
        tree, &at, err,
        "the key '%.60s' has no value: write 'KEY: VALUE', with a blank after the colon; null is written as "
        "null",
        node->key);
}

static yaml_item_t *read_scalar(yaml_tree_t *tree, const yaml_event_t *event, err_t *err) {
    const size_t length = event->data.scalar.length;
    yaml_item_t *node = make_node(tree, YAML_ITEM_SCALAR, event->start_mark, err);
    char *text = node ? yaml_tree_keep(tree, length + 1, err) : NULL;
    if (!text)
        return NULL;
    memcpy(text, event->data.scalar.value, length);
    node->text = text;
    node->length = length;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return node;
}

static bool read_items(yaml_tree_t *tree, yaml_parser_t *parser, yaml_item_t *node, int depth, err_t *err);

/* Recursion is bounded by DEEPEST. Takes ownership of the event. */
static yaml_item_t *read_node(yaml_tree_t *tree, yaml_parser_t *parser, yaml_event_t *event, int depth,
                              err_t *err) {
    const yaml_item_t at = item_at(tree, event->start_mark);
    const bool map = event->type == YAML_MAPPING_START_EVENT, scalar = event->type == YAML_SCALAR_EVENT;
    yaml_item_t *node = NULL;
    if (scalar)
        node = read_scalar(tree, event, err);
    else if (!map && event->type != YAML_SEQUENCE_START_EVENT)
        yaml_tree_complain(tree, &at, err, "a value was expected here");
    else if (depth >= DEEPEST)
        yaml_tree_complain(tree, &at, err, "nested deeper than %d levels", DEEPEST);
    else
        node = make_node(tree, map ? YAML_ITEM_MAP : YAML_ITEM_LIST, event->start_mark, err);
    yaml_event_delete(event);
    return node && (scalar || read_items(tree, parser, node, depth, err)) ? node : NULL;
}

static bool set_key(const yaml_tree_t *tree, const yaml_item_t *map, yaml_item_t *item,
                    const yaml_item_t *key, err_t *err) {
    const yaml_item_t *before = yaml_item_get(map, key->text);
    item->key = key->text;
    item->key_line = key->line;
    item->key_column = key->column;
    if (before)
        return yaml_tree_complain(tree, key, err, "'%s' is there twice (first in line %d)", key->text,
                                  before->key_line);
    return map->count < MOST_KEYS ||
           yaml_tree_complain(tree, key, err, "too large: a map of more than %d keys", MOST_KEYS);
}

static const yaml_item_t *read_key(yaml_tree_t *tree, yaml_parser_t *parser, yaml_event_t *event, int depth,
                                   err_t *err) {
    const yaml_item_t *key = read_node(tree, parser, event, depth + 1, err);
    if (!key || (key->kind == YAML_ITEM_SCALAR && strlen(key->text) == key->length && !is_nothing(key)))
        return key;
    yaml_tree_complain(tree, key, err, "a key must be a plain word");
    return NULL;
}

static bool read_items(yaml_tree_t *tree, yaml_parser_t *parser, yaml_item_t *node, int depth, err_t *err) {
    yaml_item_t **tail = &node->first;
    yaml_event_t event;
    for (; next_event(tree, parser, &event, err); node->count++) {
        if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return true;
        }
        const yaml_item_t *key = NULL;
        if (node->kind == YAML_ITEM_MAP &&
            (!(key = read_key(tree, parser, &event, depth, err)) || !next_event(tree, parser, &event, err)))
            return false;
        yaml_item_t *item = read_node(tree, parser, &event, depth + 1, err);
        if (!item || (key && !set_key(tree, node, item, key, err)))
            return false;
        if (is_nothing(item))
            return complain_of_nothing(tree, item, err);
        *tail = item;
        tail = &item->next;
    }
    return false;
}

static bool read_document(yaml_tree_t *tree, yaml_parser_t *parser, err_t *err) {
    yaml_event_t event;
    while (next_event(tree, parser, &event, err)) {
        const yaml_event_type_t type = event.type;
        const yaml_item_t at = item_at(tree, event.start_mark);
        const bool begins = type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT;
        if (!tree->root && !begins && type != YAML_STREAM_END_EVENT) {
            if (!(tree->root = read_node(tree, parser, &event, 0, err)))
                return false;
            continue;
        }
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return tree->root || err_set(err, STATUS_USAGE, "%s:1:1: the file is empty", tree->name);
        if (tree->root && begins)
            return yaml_tree_complain(tree, &at, err, "a second document in one file is not supported");
    }
    return false;
}

yaml_tree_t *yaml_tree_parse(const char *text, size_t length, const char *name, err_t *err) {
    return yaml_tree_parse_typed(text, length, NULL, 0, name, err);
}

yaml_tree_t *yaml_tree_parse_typed(const char *text, size_t length, const size_t *added, size_t count,
                                   const char *name, err_t *err) {
    yaml_tree_t *tree = calloc(1, sizeof *tree);
    yaml_parser_t parser;
    if (tree)
        *tree = (yaml_tree_t){
            .name = strdup(name), .text = text, .length = length, .added = added, .added_count = count};
    if (!tree || !tree->name || !yaml_parser_initialize(&parser)) {
        err_memory(err, sizeof *tree);
        yaml_tree_destroy(tree);
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    bool ok = read_document(tree, &parser, err);
    yaml_parser_delete(&parser);
    if (!ok) {
        yaml_tree_destroy(tree);
        return NULL;
    }
    return tree;
}

void yaml_tree_destroy(yaml_tree_t *tree) {
    if (!tree)
        return;
    while (tree->slabs) {
        slab_t *next = tree->slabs->next;
        free(tree->slabs);
        tree->slabs = next;
    }
    free(tree->name);
    free(tree);
}

const yaml_item_t *yaml_tree_root(const yaml_tree_t *tree) {
    return tree->root;
}

const yaml_item_t *yaml_item_get(const yaml_item_t *map, const char *key) {
    if (!map || map->kind != YAML_ITEM_MAP)
        return NULL;
    for (const yaml_item_t *node = map->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

bool yaml_tree_only_keys(const yaml_tree_t *tree, const yaml_item_t *map, const char *const *keys,
                         size_t count, err_t *err) {
    for (const yaml_item_t *node = map->first; node; node = node->next) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], node->key) != 0)
            i++;
        if (i < count)
            continue;
        const yaml_item_t at = key_of(node);
        const suggestion_t near = suggestion(node->key, keys, count);
        if (near.text[0])
            return yaml_tree_complain(tree, &at, err, "'%s' is not known here%s", node->key, near.text);
        char known[512] = "";
        for (i = 0; i < count && strlen(known) + strlen(keys[i]) + 4 < sizeof known; i++) {
            strcat(known, i ? ", " : "");
            strcat(known, keys[i]);
        }
        return yaml_tree_complain(tree, &at, err, "'%s' is not known here; known are: %s", node->key, known);
    }
    return true;
}

bool yaml_tree_int(const yaml_tree_t *tree, const yaml_item_t *node, int64_t least, int64_t most,
                   int64_t *out, err_t *err) {
    char *end = NULL;
    errno = 0;
    bool digits = node->kind == YAML_ITEM_SCALAR && node->length && strlen(node->text) == node->length &&
                  strspn(node->text, "+-0123456789") == node->length;
    long long value = digits ? strtoll(node->text, &end, 10) : 0;
    if (!end || *end || errno || value < least || value > most)
        return yaml_tree_complain(tree, node, err, "a whole number from %lld to %lld was expected%s%.40s%s",
                                  (long long)least, (long long)most, node->text ? ", not '" : "",
                                  node->text ? node->text : "", node->text ? "'" : "");
    *out = value;
    return true;
}

bool yaml_tree_bool(const yaml_tree_t *tree, const yaml_item_t *node, bool *out, err_t *err) {
    enum { YES = 3 };
    static const char *const words[] = {"yes", "true", "on", "no", "false", "off"};
    for (size_t i = 0; i < COUNT(words) && node->kind == YAML_ITEM_SCALAR; i++)
        if (strcasecmp(node->text, words[i]) == 0) {
            *out = i < YES;
            return true;
        }
    return yaml_tree_complain(tree, node, err, "yes or no was expected");
}

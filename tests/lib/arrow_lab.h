/* arrow_lab: streams of Arrow made by hand. An array is a constant, arrow_part_t; each buffer of it is copied into memory of
 * exactly its size, so that AddressSanitizer sees whoever reads beyond it. */
#ifndef TIPPLE_TESTS_ARROW_LAB_H
#define TIPPLE_TESTS_ARROW_LAB_H

#include "tipple/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARROW_UNUSED __attribute__((unused))

typedef struct {
    const void *bytes; /* NULL: there is no buffer */
    size_t size;
} arrow_bytes_t;

/* A buffer of values, of bits, of a text. */
#define ARROW(type, ...)                                                                                     \
    {                                                                                                        \
        (const type[]){__VA_ARGS__}, sizeof(const type[]) {                                                  \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define ARROW_TEXT(text)                                                                                     \
    { (text), sizeof(text) - 1 }
#define ARROW_NONE                                                                                           \
    { NULL, 0 }

enum { ARROW_BUFFERS = 6 };

typedef struct arrow_part {
    const char *format, *name, *metadata;
    int64_t length, nulls, offset;
    int64_t count; /* of buffers */
    arrow_bytes_t buffers[ARROW_BUFFERS];
    int64_t child_count;
    const struct arrow_part *children, *dictionary;
} arrow_part_t;

/* A column, or a part of one; with nulls, the first of its buffers says which values are there. */
#define ARROW_PART(is, called, values, missing, ...)                                                         \
    {                                                                                                        \
        .format = (is), .name = (called), .length = (values), .nulls = (missing),                            \
        .count = sizeof(arrow_bytes_t[]){__VA_ARGS__} / sizeof(arrow_bytes_t), .buffers = {                  \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static void arrow_release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    schema->release = NULL;
}

static void arrow_make_schema(const arrow_part_t *part, struct ArrowSchema *schema) {
    *schema = (struct ArrowSchema){.format = part->format,
                                   .name = part->name,
                                   .metadata = part->metadata,
                                   .n_children = part->child_count,
                                   .children = calloc((size_t)part->child_count + 1, sizeof(void *)),
                                   .release = arrow_release_schema};
    for (int64_t i = 0; i < part->child_count; i++) {
        schema->children[i] = malloc(sizeof *schema);
        arrow_make_schema(&part->children[i], schema->children[i]);
    }
    if (part->dictionary)
        arrow_make_schema(part->dictionary, schema->dictionary = malloc(sizeof *schema));
}

static void arrow_release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < (int64_t)(intptr_t)array->private_data >> 8; i++) {
        array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    for (int64_t i = 0; i < ((intptr_t)array->private_data & 255); i++)
        free((void *)array->buffers[i]);
    if (array->dictionary)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

/* What is to be released is in private_data, whatever a test makes of the rest. */
static void arrow_make_array(const arrow_part_t *part, struct ArrowArray *array) {
    *array = (struct ArrowArray){.length = part->length,
                                 .null_count = part->nulls,
                                 .offset = part->offset,
                                 .n_buffers = part->count,
                                 .n_children = part->child_count,
                                 .buffers = calloc(ARROW_BUFFERS, sizeof(void *)),
                                 .children = calloc((size_t)part->child_count + 1, sizeof(void *)),
                                 .private_data = (void *)(intptr_t)(part->child_count << 8 | part->count),
                                 .release = arrow_release_array};
    for (int64_t i = 0; i < part->count; i++)
        if (part->buffers[i].bytes) {
            void *copy = malloc(part->buffers[i].size);
            array->buffers[i] = copy ? memcpy(copy, part->buffers[i].bytes, part->buffers[i].size) : NULL;
        }
    for (int64_t i = 0; i < part->child_count; i++) {
        array->children[i] = malloc(sizeof *array);
        arrow_make_array(&part->children[i], array->children[i]);
    }
    if (part->dictionary)
        arrow_make_array(part->dictionary, array->dictionary = malloc(sizeof *array));
}

/* Gives these batches, and then its end; or a failure with these words. */
typedef struct {
    const arrow_part_t *batches; /* of which the first one has the schema */
    size_t count, at;
    const char *fails;
    void (*change)(struct ArrowArray *batch, size_t at); /* before a batch is given; or NULL */
    int released;
} arrow_source_t;

static int arrow_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    const arrow_source_t *source = stream->private_data;
    if (!source->count)
        return EIO;
    arrow_make_schema(source->batches, schema);
    return 0;
}

static int arrow_get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    arrow_source_t *source = stream->private_data;
    *array = (struct ArrowArray){.release = NULL};
    if (source->at == source->count)
        return source->fails ? EIO : 0;
    arrow_make_array(&source->batches[source->at], array);
    if (source->change)
        source->change(array, source->at);
    source->at++;
    return 0;
}

static const char *arrow_last_error(struct ArrowArrayStream *stream) {
    return ((arrow_source_t *)stream->private_data)->fails;
}

static void arrow_release_stream(struct ArrowArrayStream *stream) {
    ((arrow_source_t *)stream->private_data)->released++;
    stream->release = NULL;
}

ARROW_UNUSED static struct ArrowArrayStream arrow_stream(arrow_source_t *source) {
    return (struct ArrowArrayStream){arrow_get_schema, arrow_get_next, arrow_last_error, arrow_release_stream,
                                     source};
}

#endif

/* fuzz_columns: arrays of Arrow whose lengths, offsets, indexes, counts of nulls, buffers and children are whatever the input says.
 * Each buffer has exactly the bytes that an array with these numbers must have, so that AddressSanitizer sees a read beyond it.
 * What is made of them is BSON, and the same a second time. */
#include "arrow_lab.h"
#include "bson_lab.h"
#include "format/columns/columns.h"
#include "format/cut/ends.h"
#include "format_laws.h"

#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PARTS = 64, MOST_BYTES = 4096, MOST_LENGTH = 12, DEPTH = 5 };

typedef struct {
    const uint8_t *at, *end;
    arrow_part_t parts[MOST_PARTS]; /* children are next to each other */
    size_t used;
    uint8_t bytes[MOST_BYTES];
    size_t bytes_used;
} draw_t;

static unsigned draw(draw_t *from, unsigned below) {
    return from->at < from->end ? *from->at++ % below : 0;
}

static int64_t draw_length(draw_t *from) {
    static const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, (INT64_C(1) << 48) + 1, INT64_C(1) << 62};
    const unsigned drawn = draw(from, 256);
    return drawn < 2 * sizeof odd / sizeof *odd ? odd[drawn / 2] : drawn % MOST_LENGTH;
}

/* A buffer of the input's bytes; whole numbers of it are small, mostly. */
static void add_buffer(draw_t *from, arrow_part_t *part, size_t size, unsigned width) {
    arrow_bytes_t *buffer = &part->buffers[part->count++];
    *buffer = (arrow_bytes_t){.bytes = NULL};
    if (size > MOST_BYTES - from->bytes_used || draw(from, 30) == 29)
        return;
    uint8_t *bytes = from->bytes + from->bytes_used;
    from->bytes_used += size;
    memset(bytes, 0, size);
    for (size_t i = 0; i < size; i += width) {
        const unsigned drawn = draw(from, 256);
        if (drawn > 250)
            memset(bytes + i, 0xFF, width < size - i ? width : size - i);
        else
            bytes[i] = (uint8_t)(width > 1 ? drawn % 24 : drawn);
    }
    *buffer = (arrow_bytes_t){bytes, size};
}

static int64_t number_of(const arrow_part_t *part, int64_t at, unsigned width) {
    const arrow_bytes_t *buffer = &part->buffers[1];
    int32_t narrow;
    int64_t wide;
    if (!buffer->bytes || (size_t)(at + 1) * width > buffer->size)
        return 0;
    memcpy(&wide, (const uint8_t *)buffer->bytes + at * width - (width == 4 && at ? 4 : 0), 8);
    memcpy(&narrow, (const uint8_t *)buffer->bytes + at * width, 4);
    return width == 8 ? wide : narrow;
}

/* How the buffers of a format are: bits for nulls, values of this width (in bits), or offsets; then bytes, or sizes. */
typedef struct {
    const char *format;
    char
        kind; /* v: values, o: offsets of bytes, V: views, l: lists, L: views of lists, s: struct, f: lists of two, n: null, r, u, d */
    unsigned width;
} buffers_t;

static const buffers_t shapes[] = {
    {"n", 'n', 0},         {"b", 'v', 1},
    {"c", 'v', 8},         {"C", 'v', 8},
    {"s", 'v', 16},        {"i", 'v', 32},
    {"l", 'v', 64},        {"L", 'v', 64},
    {"e", 'v', 16},        {"f", 'v', 32},
    {"g", 'v', 64},        {"d:38,2", 'v', 128},
    {"d:9,2,32", 'v', 32}, {"d:76,0,256", 'v', 256},
    {"u", 'o', 4},         {"U", 'o', 8},
    {"z", 'o', 4},         {"Z", 'o', 8},
    {"vu", 'V', 128},      {"vz", 'V', 128},
    {"w:3", 'v', 24},      {"w:0", 'v', 0},
    {"tdD", 'v', 32},      {"tdm", 'v', 64},
    {"tss:", 'v', 64},     {"tsn:UTC", 'v', 64},
    {"tts", 'v', 32},      {"ttn", 'v', 64},
    {"tDs", 'v', 64},      {"+l", 'l', 4},
    {"+L", 'l', 8},        {"+vl", 'L', 4},
    {"+vL", 'L', 8},       {"+w:2", 'f', 0},
    {"+w:0", 'f', 0},      {"+s", 's', 0},
    {"+m", 'l', 4},        {"+r", 'r', 0},
    {"+us:0,5", 'u', 0},   {"+ud:5,0", 'd', 0},
    {"tiD", 'v', 64},      {"", 'n', 0},
};

static void draw_part(draw_t *from, arrow_part_t *part, const char *format, int depth);

static void draw_children(draw_t *from, arrow_part_t *part, unsigned count, const char *format, int depth) {
    if (from->used + count > MOST_PARTS || depth == DEPTH)
        return;
    arrow_part_t *children = &from->parts[from->used];
    from->used += count;
    for (unsigned i = 0; i < count; i++)
        draw_part(from, &children[i], format, depth + 1);
    part->children = children;
    part->child_count = draw(from, 40) == 39 ? count - 1 : count;
}

static void draw_part(draw_t *from, arrow_part_t *part, const char *format, int depth) {
    static const char *const names[] = {"a", "b", "c", "_id", "", "a name of more than 16 bytes", "\xFF"};
    const buffers_t *shape = &shapes[draw(from, sizeof shapes / sizeof *shapes)];
    for (size_t i = 0; format && i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].format, format) == 0)
            shape = &shapes[i];
    *part = (arrow_part_t){.format = shape->format,
                           .name = names[draw(from, sizeof names / sizeof *names)],
                           .length = draw_length(from),
                           .offset = draw(from, 8) ? 0 : draw_length(from)};
    part->nulls = draw(from, 4) ? -1 : draw_length(from);
    const bool usual =
        part->length >= 0 && part->length < MOST_LENGTH && part->offset >= 0 && part->offset < MOST_LENGTH;
    const size_t values = usual ? (size_t)(part->length + part->offset) : 0;
    const char kind = shape->kind;
    const bool bits = kind != 'n' && kind != 'r' && kind != 'u' && kind != 'd';
    if (bits && draw(from, 2))
        add_buffer(from, part, (values + 7) / 8, 1);
    else
        part->count += bits; /* no bits for nulls */
    if (kind == 'v')
        add_buffer(from, part, (values * shape->width + 7) / 8, shape->width < 8 ? 1 : shape->width / 8);
    if (kind == 'o' || kind == 'l')
        add_buffer(from, part, (values + 1) * shape->width, shape->width);
    if (kind == 'o') {
        const int64_t end = number_of(part, (int64_t)values, shape->width);
        add_buffer(from, part, end > 0 && end < MOST_BYTES ? (size_t)end : 0, 1);
    }
    if (kind == 'L') {
        add_buffer(from, part, values * shape->width, shape->width);
        add_buffer(from, part, values * shape->width, shape->width);
    }
    if (kind == 'V') {
        add_buffer(from, part, values * 16, 4);
        add_buffer(from, part, 20, 1);
        const int64_t there = part->buffers[2].bytes ? 20 : 0;
        part->buffers[part->count++] = (arrow_bytes_t){from->bytes + from->bytes_used, sizeof there};
        if (from->bytes_used + sizeof there > MOST_BYTES)
            part->buffers[part->count - 1] = (arrow_bytes_t){.bytes = NULL};
        else
            memcpy(from->bytes + from->bytes_used, &there, sizeof there);
        from->bytes_used += from->bytes_used + sizeof there > MOST_BYTES ? 0 : sizeof there;
    }
    if (kind == 'u' || kind == 'd')
        add_buffer(from, part, values, 1);
    if (kind == 'd')
        add_buffer(from, part, values * 4, 4);
    if (kind == 'l' || kind == 'L' || kind == 'f')
        draw_children(from, part, 1, strcmp(part->format, "+m") == 0 ? "+s" : NULL, depth);
    else if (kind == 's' || kind == 'u' || kind == 'd')
        draw_children(from, part, 2, NULL, depth);
    else if (kind == 'r')
        draw_children(from, part, 2, draw(from, 2) ? "i" : "s", depth);
    if (kind == 'v' && draw(from, 6) == 0 && from->used < MOST_PARTS && depth < DEPTH) {
        arrow_part_t *dictionary = &from->parts[from->used++];
        draw_part(from, dictionary, NULL, depth + 1);
        part->dictionary = dictionary;
    }
    if (draw(from, 50) == 49 && part->count)
        part->count--;
}

/* A hash of the documents. */
static uint64_t read_all(const draw_t *from, columns_how_t how) {
    uint64_t hash = 0;
    columns_sums_t sums = {.how = how};
    arrow_source_t source = {.batches = &from->parts[0], .count = 1};
    struct ArrowArrayStream stream = arrow_stream(&source);
    err_t err;
    const uint8_t *bytes;
    size_t length;
    frame_t *frame = columns_open(&stream, &sums, &err);
    if (frame) {
        while (columns_next(frame, &bytes, &length, &err) > 0) {
            hash = XXH3_64bits_withSeed(bytes, length, hash);
            for (size_t at = 0; at < length;) {
                uint32_t document;
                bson_walk_t walk;
                memcpy(&document, bytes + at, sizeof document);
                LAW(document <= length - at, bytes, length, bytes + at, 4);
                LAW(bson_walk(bytes + at, document, false, &walk), bytes, length, bytes + at, document);
                at += document;
            }
        }
    }
    columns_close(frame);
    columns_tell(&sums, "rows");
    columns_sums_free(&sums);
    LAW(source.released == 1, NULL, 0, NULL, 0);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static draw_t from;
    law_quiet();
    if (!size)
        return 0;
    memset(&from, 0, sizeof from);
    from.at = data + 1;
    from.end = data + size;
    from.used = 1;
    draw_part(&from, &from.parts[0], "+s", 0);
    const columns_how_t how = {.keep_nulls = data[0] & 1, .bad = data[0] >> 1 & 3};
    LAW(read_all(&from, how) == read_all(&from, how), data, size, NULL, 0);
    return 0;
}

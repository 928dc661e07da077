#include "generate/isd/isd_picture.h"
#include "generate/write/digits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    OP_END,
    OP_LITERAL,  /* at: of its text; width: its length */
    OP_NUMBER,   /* at: which */
    OP_RANGE,    /* low, span */
    OP_TEXT,     /* at: which */
    OP_CHOICE,   /* at: of its first alternative */
    OP_QUALITY,  /* at: of its first alternative */
    OP_SEQUENCE, /* format: its letter */
    OP_IF,       /* at: which number, format: the relation, low: its other side, width: 1 for not, jump */
    OP_CHANCE,   /* low: of 1024, jump */
    OP_JUMP,
    OP_REMARK,
    OP_REMARK_END,
} code_t;

typedef struct {
    uint8_t code, width, format;
    uint16_t missing; /* of 1024 */
    uint16_t at, jump;
    int32_t low;
    uint32_t span;
} op_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    isd_text_t text;
} alternative_t;

struct isd_picture {
    op_t *ops;
    alternative_t *alternatives;
    char *text;
    size_t op_count, op_room, alternative_count, alternative_room, text_size, text_room;
};

#define NAME(name) #name,
static const char *const number_names[] = {ISD_NUMBERS(NAME)};
static const char *const text_names[] = {ISD_TEXTS(NAME)};

/* The mix of quality codes around the usual one of a source, as measured. */
static const struct {
    char usual;
    const char *mix;
} qualities[] = {
    {'1', "1*9960|2*12|0*16|5*8|3*2|6*2"},
    {'5', "5*9935|1*34|6*16|A*4|4*4|7*2|2*2|P|U|R"},
    {'4', "4*9950|6*20|5*20|U*6|7*4"},
    {'0', "0*100"},
    {'9', "9*100"},
};

/* ---- putting ---- */

static inline char *put_copies(char *to, char what, unsigned count) {
    memset(to, what, count);
    return to + count;
}

static char *put_padded(char *to, int32_t number, unsigned width) {
    char text[24];
    char *end = text;
    if (number < 0)
        *end++ = '-';
    end = digits_put(end, (uint32_t)abs(number));
    size_t length = (size_t)(end - text);
    if (length < width)
        to = put_copies(to, ' ', width - (unsigned)length);
    memcpy(to, text, length);
    return to + length;
}

static char *put_hundredths(char *to, int32_t number, unsigned width) {
    char text[24];
    char *end = text;
    if (number < 0)
        *end++ = '-';
    end = digits_put(end, (uint32_t)abs(number) / 100);
    *end++ = '.';
    end = digits_put_last(end, (uint32_t)abs(number) % 100, 2);
    size_t length = (size_t)(end - text);
    if (length < width)
        to = put_copies(to, ' ', width - (unsigned)length);
    memcpy(to, text, length);
    return to + length;
}

static char *put_missing(char *to, const op_t *op) {
    switch (op->format) {
    case '+':
        *to = '+';
        return put_copies(to + 1, '9', op->width - 1u);
    case 'b':
        *to = ' ';
        return put_copies(to + 1, '9', op->width - 1u);
    case 's':
    case 'm':
    case '/':
        return put_copies(to, '/', op->width);
    default:
        return put_copies(to, '9', op->width);
    }
}

static inline char *put_number(char *to, const op_t *op, int32_t number) {
    uint32_t size = (uint32_t)abs(number);
    bool negative = number < 0;
    switch (op->format) {
    case '+':
        *to = negative ? '-' : '+';
        return digits_put_last(to + 1, size, op->width - 1u);
    case 's':
        *to = negative ? '1' : '0';
        return digits_put_last(to + 1, size, op->width - 1u);
    case 'b':
        *to = negative ? '-' : ' ';
        return digits_put_last(to + 1, size, op->width - 1u);
    case '-':
        if (!negative)
            return digits_put_last(to, size, op->width);
        *to = '-';
        return digits_put_last(to + 1, size, op->width - 1u);
    case 'm':
        *to = 'M';
        return digits_put_last(to + negative, size, op->width);
    case 'p':
        return put_padded(to, number, op->width);
    case 'd':
        return put_hundredths(to, number, op->width);
    default:
        return digits_put_last(to, size, op->width);
    }
}

static inline char *put_text(char *to, const isd_text_t *text) {
    memcpy(to, text->text, sizeof text->text);
    return to + text->length;
}

static inline char *put_alternative(char *to, const alternative_t *first, uint64_t bits) {
    while ((bits & 0xffff) >= first->below)
        first++;
    return put_text(to, &first->text);
}

static inline bool holds(const op_t *op, int32_t number) {
    switch (op->format) {
    case '=':
        return number == op->low;
    case '<':
        return number != ISD_MISSING && number < op->low;
    case '>':
        return number > op->low;
    default:
        return number != 0 && number != ISD_MISSING;
    }
}

char *isd_picture_put(const isd_picture_t *picture, isd_scene_t *scene, char *to) {
    int32_t number;
    for (const op_t *op = picture->ops;; op++) {
        switch ((code_t)op->code) {
        case OP_END:
            return to;
        case OP_LITERAL: {
            const char *from = picture->text + op->at;
            memcpy(to, from, 16);
            if (__builtin_expect(op->width > 16, 0))
                memcpy(to + 16, from + 16, op->width - 16u);
            to += op->width;
            break;
        }
        case OP_NUMBER:
            number = scene->number[op->at];
            if (op->missing && isd_scene_happens(scene, op->missing))
                number = ISD_MISSING;
            scene->missing = number == ISD_MISSING;
            to = scene->missing ? put_missing(to, op) : put_number(to, op, number);
            break;
        case OP_RANGE:
            number = op->low + (int32_t)isd_scene_below(scene, op->span);
            scene->missing = op->missing && isd_scene_happens(scene, op->missing);
            to = scene->missing ? put_missing(to, op) : put_number(to, op, number);
            break;
        case OP_TEXT:
            scene->missing = false;
            to = put_text(to, &scene->text[op->at]);
            break;
        case OP_QUALITY:
            if (scene->missing) {
                *to++ = '9';
                break;
            }
            /* fall through */
        case OP_CHOICE:
            scene->missing = false;
            to = put_alternative(to, picture->alternatives + op->at, isd_scene_bits(scene));
            break;
        case OP_SEQUENCE:
            *to++ = (char)op->format;
            to = digits_put_last(to, ++scene->sequence[op->format - 'A'], 2);
            break;
        case OP_IF:
            if (holds(op, scene->number[op->at]) == op->width)
                op = picture->ops + op->jump - 1;
            break;
        case OP_CHANCE:
            if (!isd_scene_happens(scene, (uint32_t)op->low))
                op = picture->ops + op->jump - 1;
            break;
        case OP_JUMP:
            op = picture->ops + op->jump - 1;
            break;
        case OP_REMARK:
            to += 3;
            scene->remark = to;
            break;
        case OP_REMARK_END: {
            char length[8];
            digits_put_last(length, (uint32_t)(to - scene->remark), 3);
            memcpy(scene->remark - 3, length, 3);
            break;
        }
        }
    }
}

/* ---- reading a picture ---- */

typedef struct {
    isd_picture_t *picture;
    const char *whole, *at;
    err_t *err;
} reader_t;

static bool wrong(const reader_t *reader, const char *what) {
    return err_set(reader->err, STATUS_USAGE, "a picture has %s at '%.30s'", what, reader->at);
}

/* The items with room for so many, or NULL: then the old ones are still there. */
static void *grown(void *items, size_t *room, size_t count, size_t size, err_t *err) {
    if (items && count <= *room)
        return items;
    size_t more = 2 * count + 16;
    void *bigger = realloc(items, more * size);
    if (bigger)
        *room = more;
    else
        err_memory(err, more * size);
    return bigger;
}

static bool add_op(reader_t *reader, op_t op) {
    isd_picture_t *p = reader->picture;
    op_t *ops = grown(p->ops, &p->op_room, p->op_count + 1, sizeof *ops, reader->err);
    if (!ops)
        return false;
    p->ops = ops;
    ops[p->op_count++] = op;
    return true;
}

static bool add_literal(reader_t *reader, const char *from, size_t length) {
    isd_picture_t *p = reader->picture;
    enum { MOST = 250, SLACK = 16 };
    for (size_t part; length; from += part, length -= part) {
        part = length < MOST ? length : MOST;
        char *text = grown(p->text, &p->text_room, p->text_size + part + SLACK, 1, reader->err);
        if (!text)
            return false;
        p->text = text;
        if (!add_op(reader, (op_t){.code = OP_LITERAL, .at = (uint16_t)p->text_size, .width = (uint8_t)part}))
            return false;
        memcpy(text + p->text_size, from, part);
        memset(text + p->text_size + part, 0, SLACK);
        p->text_size += part;
    }
    return true;
}

/* "text*share|text*share"; a share that is not given is 1. */
static bool add_alternatives(reader_t *reader, const char *from, size_t length, uint8_t code) {
    isd_picture_t *p = reader->picture;
    size_t first = p->alternative_count;
    uint64_t sum = 0, below = 0;
    for (const char *end = from + length; from <= end;) {
        const char *bar = memchr(from, '|', (size_t)(end - from)), *stop = bar ? bar : end;
        const char *star = memchr(from, '*', (size_t)(stop - from)), *last = star ? star : stop;
        uint32_t share = star ? (uint32_t)strtoul(star + 1, NULL, 10) : 1;
        alternative_t one = {.below = share, .text = {.length = (uint8_t)(last - from)}};
        if ((size_t)(last - from) > sizeof one.text.text)
            return wrong(reader, "too long a text");
        memcpy(one.text.text, from, one.text.length);
        alternative_t *all =
            grown(p->alternatives, &p->alternative_room, p->alternative_count + 1, sizeof one, reader->err);
        if (!all)
            return false;
        p->alternatives = all;
        p->alternatives[p->alternative_count++] = one;
        sum += share;
        from = stop + 1;
    }
    for (size_t i = first; i < p->alternative_count; i++) {
        below += p->alternatives[i].below;
        p->alternatives[i].below = (uint32_t)((below << 16) / sum);
    }
    return add_op(reader, (op_t){.code = code, .at = (uint16_t)first});
}

static bool find(const reader_t *reader, const char *const *names, size_t count, const char *name,
                 size_t length, uint16_t *which) {
    for (*which = 0; *which < count; ++*which)
        if (strlen(names[*which]) == length && memcmp(names[*which], name, length) == 0)
            return true;
    return wrong(reader, "an unknown name");
}

/* ":+5?3": the sign, the width, the share that is missing. */
static bool read_format(const reader_t *reader, const char *from, const char *end, op_t *op) {
    if (from == end || *from++ != ':')
        return wrong(reader, "no format");
    if (from < end && strchr("+-sbmpd/", *from))
        op->format = (uint8_t)*from++;
    char *rest;
    unsigned long width = strtoul(from, &rest, 10);
    if (rest == from || width < 1 || width > 9)
        return wrong(reader, "no width");
    op->width = (uint8_t)width;
    if (*rest == '?')
        op->missing = (uint16_t)strtoul(rest + 1, &rest, 10);
    return rest == end || wrong(reader, "something behind a format");
}

static bool read_hole(reader_t *reader) { /* at: behind the brace */
    const char *from = reader->at, *end = strchr(from, '}'), *colon;
    op_t op = {.code = OP_NUMBER};
    if (!end)
        return wrong(reader, "an open brace");
    size_t length = (size_t)(end - from);
    reader->at = end + 1;
    if (*from == '$') {
        op.code = OP_TEXT;
        return find(reader, text_names, ISD_TEXT_COUNT, from + 1, length - 1, &op.at) && add_op(reader, op);
    }
    if (*from == '#')
        return add_op(reader, (op_t){.code = OP_SEQUENCE, .format = (uint8_t)from[1]});
    if (*from == '~') {
        for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++)
            if (qualities[i].usual == from[1])
                return add_alternatives(reader, qualities[i].mix, strlen(qualities[i].mix), OP_QUALITY);
        return wrong(reader, "an unknown quality");
    }
    if (memchr(from, '|', length))
        return add_alternatives(reader, from, length, OP_CHOICE);
    colon = memchr(from, ':', length);
    if (!colon)
        return wrong(reader, "no format");
    if (islower((unsigned char)*from)) {
        if (!find(reader, number_names, ISD_NUMBER_COUNT, from, (size_t)(colon - from), &op.at))
            return false;
    } else {
        char *rest;
        op.code = OP_RANGE;
        op.low = (int32_t)strtol(from, &rest, 10);
        if (strncmp(rest, "..", 2) != 0)
            return wrong(reader, "no range");
        long high = strtol(rest + 2, &rest, 10);
        if (rest != colon || high < op.low)
            return wrong(reader, "no range");
        op.span = (uint32_t)(high - op.low) + 1;
    }
    return read_format(reader, colon, end, &op) && add_op(reader, op);
}

static bool read_condition(reader_t *reader) {
    const char *from = reader->at, *end = from + strcspn(from, "&?");
    op_t op = {.code = OP_IF};
    if (!*end)
        return wrong(reader, "an open condition");
    if (*from == '~') {
        op.code = OP_CHANCE;
        op.low = (int32_t)strtol(from + 1, NULL, 10);
    } else {
        op.width = *from == '!';
        from += op.width;
        size_t length = strcspn(from, "=<>&?");
        if (!find(reader, number_names, ISD_NUMBER_COUNT, from, length, &op.at))
            return false;
        if (from + length < end) {
            op.format = (uint8_t)from[length];
            op.low = (int32_t)strtol(from + length + 1, NULL, 10);
        }
    }
    reader->at = end;
    return add_op(reader, op);
}

static bool read_part(reader_t *reader, unsigned depth);

/* "[rain&~300?yes|no]": conditions that jump to the other part. */
static bool read_branch(reader_t *reader, unsigned depth) {
    isd_picture_t *p = reader->picture;
    size_t first = p->op_count, conditions, jump;
    do {
        reader->at++; /* the bracket or the & */
        if (!read_condition(reader))
            return false;
    } while (*reader->at == '&');
    conditions = p->op_count;
    reader->at++;
    if (!read_part(reader, depth + 1))
        return false;
    jump = p->op_count;
    if (*reader->at == '|') {
        reader->at++;
        if (!add_op(reader, (op_t){.code = OP_JUMP}) || !read_part(reader, depth + 1))
            return false;
        p->ops[jump].jump = (uint16_t)p->op_count;
        jump++;
    }
    for (size_t i = first; i < conditions; i++)
        p->ops[i].jump = (uint16_t)jump;
    if (*reader->at != ']')
        return wrong(reader, "an open bracket");
    reader->at++;
    return true;
}

static bool read_remark(reader_t *reader, bool *open) {
    *open = !*open;
    reader->at++;
    if (!*open)
        return add_op(reader, (op_t){.code = OP_REMARK_END});
    const char *kind = reader->at;
    if (strlen(kind) < 3)
        return wrong(reader, "a remark without a kind");
    reader->at += 3;
    return add_literal(reader, kind, 3) && add_op(reader, (op_t){.code = OP_REMARK});
}

static bool read_part(reader_t *reader, unsigned depth) {
    bool open = false;
    for (;;) {
        size_t plain = strcspn(reader->at, depth ? "{[]^|" : "{[^");
        if (!add_literal(reader, reader->at, plain))
            return false;
        reader->at += plain;
        bool ok;
        switch (*reader->at) {
        case '{':
            reader->at++;
            ok = read_hole(reader);
            break;
        case '[':
            ok = depth < 8 ? read_branch(reader, depth) : wrong(reader, "too many brackets");
            break;
        case '^':
            ok = read_remark(reader, &open);
            break;
        default:
            return open ? wrong(reader, "an open remark") : depth || !*reader->at;
        }
        if (!ok)
            return false;
    }
}

isd_picture_t *isd_picture_new(const char *text, err_t *err) {
    reader_t reader = {.picture = calloc(1, sizeof(isd_picture_t)), .whole = text, .at = text, .err = err};
    if (!reader.picture) {
        err_memory(err, sizeof(isd_picture_t));
        return NULL;
    }
    if (read_part(&reader, 0) && add_op(&reader, (op_t){.code = OP_END}))
        return reader.picture;
    isd_picture_destroy(reader.picture);
    return NULL;
}

void isd_picture_destroy(isd_picture_t *picture) {
    if (!picture)
        return;
    free(picture->ops);
    free(picture->alternatives);
    free(picture->text);
    free(picture);
}

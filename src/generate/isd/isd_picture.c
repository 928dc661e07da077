#include "generate/isd/isd_picture.h"
#include "base/grow.h"
#include "generate/shared/whole.h"
#include "generate/shared/digits.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum {
    OP_END,
    OP_LITERAL,  /* at: of its text; span: its length */
    OP_NUMBER,   /* at: which */
    OP_RANGE,    /* low, span */
    OP_TEXT,     /* at: which */
    OP_CHOICE,   /* at: of its first alternative */
    OP_QUALITY,  /* at: of its first alternative */
    OP_SEQUENCE, /* relation: its letter */
    OP_IF,       /* at: which number, relation, low: its other side, width: 1 for not, jump */
    OP_CHANCE,   /* low: of 1024, jump */
    OP_JUMP,
    OP_REMARK,
    OP_REMARK_END,
} code_t;

/* How a number is written: a sign before it, which may take a place of its width, and what stands for none. */
static const struct {
    char name, minus, plus, first, filler;
    bool inside;
} formats[] = {
    {'+', '-', '+', '+', '9', true}, {'-', '-', 0, '9', '9', true},  {'b', '-', ' ', ' ', '9', true},
    {'s', '1', '0', '/', '/', true}, {'m', 'M', 0, '/', '/', false}, {'/', 0, 0, '/', '/', false},
    {0, 0, 0, '9', '9', false},
};

/* (number * times + plus) / by, rounded, and of that the rest of `rest`. */
static const struct {
    char name;
    int32_t times, plus, by, rest;
} conversions[] = {
    {'F', 18, 3200, 100, INT32_MAX},
    {'C', 1, 0, 10, INT32_MAX},
    {'I', 10000, 0, 33864, INT32_MAX},
    {'i', 100, 0, 254, INT32_MAX},
    {'M', 1151, 0, 1000, INT32_MAX},
    {'x', 10, 0, 1, INT32_MAX},
    {'k', 1, 0, 1, 1000},
    {'T', 1, 0, 1, 10000},
};

/* The mix of quality codes around the usual one of a source, as measured; r: of the reference network. */
static const struct {
    char usual;
    const char *mix;
} qualities[] = {
    {'1', "1*9960|2*12|0*16|5*8|3*2|6*2"},
    {'5', "5*9935|1*34|6*16|A*4|4*4|7*2|2*2|P|U|R"},
    {'4', "4*9950|6*20|5*20|U*6|7*4"},
    {'r', "1*40|3"},
};

typedef struct {
    uint8_t code, width, conversion, format; /* the conversion from 1 */
    char relation;
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

enum { OPS = 1 << 14, ALTERNATIVES = 1 << 12, TEXT_BYTES = 1 << 16, SLACK = 16 };

struct isd_pictures {
    size_t op_count, alternative_count, text_size;
    uint16_t mixes[COUNT(qualities)]; /* the first alternative of each; 0: not yet */
    op_t ops[OPS];
    alternative_t alternatives[ALTERNATIVES];
    char text[TEXT_BYTES + SLACK];
};

#define NAME(name) #name,
static const char *const number_names[] = {ISD_NUMBERS(NAME)};
static const char *const text_names[] = {ISD_TEXTS(NAME)};

/* ---- putting ---- */

static inline char *put_number(char *to, const op_t *op, int32_t number) {
    unsigned width = op->width;
    if (number == ISD_MISSING) {
        memset(to, formats[op->format].filler, width);
        *to = formats[op->format].first;
        return to + width;
    }
    if (op->conversion) {
        const size_t by = op->conversion - 1u;
        int64_t scaled = (int64_t)number * conversions[by].times + conversions[by].plus;
        number = whole_rounded(scaled, conversions[by].by) % conversions[by].rest;
    }
    char sign = number < 0 ? formats[op->format].minus : formats[op->format].plus;
    if (sign) {
        *to++ = sign;
        width -= formats[op->format].inside;
    }
    return digits_put_last(to, (uint32_t)abs(number), width);
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

static inline char *put_literal(char *to, const char *from, size_t width) {
    memcpy(to, from, SLACK);
    if (__builtin_expect(width > SLACK, 0))
        memcpy(to + SLACK, from + SLACK, width - SLACK);
    return to + width;
}

static inline bool holds(const op_t *op, const isd_scene_t *scene) {
    int32_t number = scene->number[op->at];
    switch (op->relation) {
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

static inline int32_t number_of(const op_t *op, isd_scene_t *scene) {
    if (op->missing && isd_scene_happens(scene, op->missing))
        return ISD_MISSING;
    return op->code == OP_NUMBER ? scene->number[op->at]
                                 : op->low + (int32_t)isd_scene_below(scene, op->span);
}

char *isd_picture_put(const isd_pictures_t *pictures, isd_picture_t picture, isd_scene_t *scene, char *to) {
    char length[8];
    int32_t number;
    for (const op_t *op = pictures->ops + picture;; op++) {
        switch ((code_t)op->code) {
        case OP_END:
            return to;
        case OP_LITERAL:
            to = put_literal(to, pictures->text + op->at, op->span);
            break;
        case OP_NUMBER:
        case OP_RANGE:
            number = number_of(op, scene);
            scene->missing = number == ISD_MISSING;
            to = put_number(to, op, number);
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
            to = put_alternative(to, pictures->alternatives + op->at, isd_scene_bits(scene));
            break;
        case OP_SEQUENCE:
            *to++ = op->relation;
            to = digits_put_last(to, ++scene->sequence[op->relation - 'A'], 2);
            break;
        case OP_IF:
            op = holds(op, scene) == op->width ? pictures->ops + op->jump : op;
            break;
        case OP_CHANCE:
            op = isd_scene_happens(scene, (uint32_t)op->low) ? op : pictures->ops + op->jump;
            break;
        case OP_JUMP:
            op = pictures->ops + op->jump;
            break;
        case OP_REMARK:
            scene->remark = to += 3;
            break;
        case OP_REMARK_END:
            digits_put_last(length, (uint32_t)(to - scene->remark), 3);
            memcpy(scene->remark - 3, length, 3);
            break;
        }
    }
}

/* ---- reading a picture: each returns false at what is none ---- */

typedef struct {
    isd_pictures_t *all;
    const char *at;
    char usual;
} reader_t;

static bool add_op(reader_t *reader, op_t op) {
    if (reader->all->op_count == OPS)
        return false;
    reader->all->ops[reader->all->op_count++] = op;
    return true;
}

static bool add_literal(reader_t *reader, size_t length) {
    isd_pictures_t *all = reader->all;
    if (length > TEXT_BYTES - all->text_size)
        return false;
    memcpy(all->text + all->text_size, reader->at, length);
    op_t op = {.code = OP_LITERAL, .at = (uint16_t)all->text_size, .span = (uint32_t)length};
    all->text_size += length;
    reader->at += length;
    return !length || add_op(reader, op);
}

/* "text*share|text*share"; a share that is not given is 1. */
static bool add_alternatives(reader_t *reader, const char *from, uint8_t code, uint16_t *at) {
    isd_pictures_t *all = reader->all;
    size_t first = all->alternative_count;
    uint32_t sum = 0;
    for (bool more = true; more; more = *from++ == '|') {
        size_t length = strcspn(from, "*|}");
        if (all->alternative_count == ALTERNATIVES || length > sizeof all->alternatives->text.text)
            return false;
        alternative_t *one = &all->alternatives[all->alternative_count++];
        one->text.length = (uint8_t)length;
        memcpy(one->text.text, from, length);
        from += length;
        sum += *from == '*' ? (uint32_t)strtoul(from + 1, (char **)&from, 10) : 1;
        one->below = sum;
    }
    for (size_t i = first; i < all->alternative_count; i++)
        all->alternatives[i].below = (uint32_t)(((uint64_t)all->alternatives[i].below << 16) / sum);
    *at = (uint16_t)first;
    return add_op(reader, (op_t){.code = code, .at = *at});
}

static bool add_quality(reader_t *reader, char usual) {
    for (size_t i = 0; i < COUNT(qualities); i++)
        if (qualities[i].usual == usual)
            return reader->all->mixes[i]
                       ? add_op(reader, (op_t){.code = OP_QUALITY, .at = reader->all->mixes[i]})
                       : add_alternatives(reader, qualities[i].mix, OP_QUALITY, &reader->all->mixes[i]);
    return false;
}

static bool find(const char *const *names, size_t count, const char *name, size_t length, uint16_t *which) {
    for (*which = 0; *which < count; ++*which)
        if (strlen(names[*which]) == length && memcmp(names[*which], name, length) == 0)
            return true;
    return false;
}

/* "/F:+5?3": the conversion, the format, the width, the share that is missing. */
static bool read_format(const char *from, const char *end, op_t *op) {
    if (*from == '/') {
        do
            if (op->conversion++ == COUNT(conversions))
                return false;
        while (conversions[op->conversion - 1].name != from[1]);
        from += 2;
    }
    if (*from++ != ':')
        return false;
    while (formats[op->format].name && formats[op->format].name != *from)
        op->format++;
    from += formats[op->format].name != 0;
    op->width = (uint8_t)(*from++ - '0');
    if (*from == '?')
        op->missing = (uint16_t)strtoul(from + 1, (char **)&from, 10);
    return op->width >= 1 && op->width <= 9 && from == end;
}

static bool read_number(reader_t *reader, const char *from, const char *end) {
    op_t op = {.code = OP_NUMBER};
    size_t length = strcspn(from, "/:}");
    int low, high, used = 0;
    if (!islower((unsigned char)*from)) {
        if (sscanf(from, "%d..%d%n", &low, &high, &used) != 2 || (size_t)used != length || high < low)
            return false;
        op = (op_t){.code = OP_RANGE, .low = low, .span = (uint32_t)(high - low) + 1};
    } else if (!find(number_names, ISD_NUMBER_COUNT, from, length, &op.at)) {
        return false;
    }
    return read_format(from + length, end, &op) && add_op(reader, op);
}

static bool read_hole(reader_t *reader) {
    const char *from = reader->at + 1, *end = strchr(from, '}');
    op_t op = {.code = OP_TEXT};
    if (!end)
        return false;
    size_t length = (size_t)(end - from);
    reader->at = end + 1;
    switch (*from) {
    case '$':
        return find(text_names, ISD_TEXT_COUNT, from + 1, length - 1, &op.at) && add_op(reader, op);
    case '#':
        return add_op(reader, (op_t){.code = OP_SEQUENCE, .relation = from[1]});
    case '~':
        return add_quality(reader, length == 1 ? reader->usual : from[1]);
    default:
        return memchr(from, '|', length) ? add_alternatives(reader, from, OP_CHOICE, &op.at)
                                         : read_number(reader, from, end);
    }
}

static bool read_condition(reader_t *reader) {
    const char *from = ++reader->at;
    op_t op = {.code = OP_IF, .width = *from == '!'};
    reader->at += strcspn(from, "&?");
    if (*from == '~') {
        op = (op_t){.code = OP_CHANCE, .low = (int32_t)strtol(from + 1, NULL, 10)};
    } else {
        from += op.width;
        size_t length = strcspn(from, "=<>&?");
        if (!find(number_names, ISD_NUMBER_COUNT, from, length, &op.at))
            return false;
        op.relation = from[length];
        op.low = *reader->at ? (int32_t)strtol(from + length + 1, NULL, 10) : 0;
    }
    return *reader->at && add_op(reader, op);
}

static bool read_part(reader_t *reader, bool inside);

/* "[rain&~300?yes|no]": conditions that jump to the other part. A jump is to the op before the next. */
static bool read_branch(reader_t *reader) {
    isd_pictures_t *all = reader->all;
    size_t first = all->op_count;
    do
        if (!read_condition(reader))
            return false;
    while (*reader->at == '&');
    size_t conditions = all->op_count;
    reader->at++;
    if (!read_part(reader, true))
        return false;
    size_t jump = all->op_count;
    if (*reader->at == '|') {
        reader->at++;
        if (!add_op(reader, (op_t){.code = OP_JUMP}) || !read_part(reader, true))
            return false;
        all->ops[jump++].jump = (uint16_t)(all->op_count - 1);
    }
    for (size_t i = first; i < conditions; i++)
        all->ops[i].jump = (uint16_t)(jump - 1);
    return *reader->at == ']' && reader->at++;
}

static bool read_part(reader_t *reader, bool inside) {
    for (bool open = false, ok = true; ok;) {
        ok = add_literal(reader, strcspn(reader->at, inside ? "{[]^|" : "{[^"));
        if (ok && *reader->at == '{') {
            ok = read_hole(reader);
        } else if (ok && *reader->at == '[') {
            ok = read_branch(reader);
        } else if (ok && *reader->at == '^') {
            reader->at++;
            open = !open;
            ok = (!open || (strlen(reader->at) > 3 && add_literal(reader, 3))) &&
                 add_op(reader, (op_t){.code = open ? OP_REMARK : OP_REMARK_END});
        } else {
            return ok && !open && (inside || !*reader->at);
        }
    }
    return false;
}

bool isd_picture_read(isd_pictures_t *pictures, const char *text, char usual, isd_picture_t *picture,
                      err_t *err) {
    reader_t reader = {.all = pictures, .at = text, .usual = usual};
    *picture = (isd_picture_t)pictures->op_count;
    return (read_part(&reader, false) && add_op(&reader, (op_t){.code = OP_END})) ||
           err_set(err, STATUS_USAGE, "a picture cannot be understood at '%.30s'", reader.at);
}

isd_pictures_t *isd_pictures_new(err_t *err) {
    isd_pictures_t *pictures = calloc(1, sizeof *pictures);
    if (!pictures)
        return err_memory(err, sizeof *pictures), NULL;
    pictures->op_count = pictures->alternative_count = 1; /* the first op is an OP_END */
    return pictures;
}

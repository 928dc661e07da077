/* schema: what a format file says, read and checked.
 *
 * A format file is YAML: how records are cut, which fields they have, and which documents they become. A mistake in one is
 * reported with line, column and what was expected. The files of this room: schema_rows.c has the keys of format files, a row
 * each, and how the value of each is read; schema_read.c walks over them, and reads the keys that are made; schema_check.c has
 * what several keys must agree on; schema.c has the digest, which is a walk over the rows, too, and what others ask of a
 * schema; types.c has the words of types. docs/format-file.md is made of the rows (tests/core/test_format_keys.c).
 *
 *     format: mot                                    # its name
 *     about: one line for `tipple formats`
 *     record:
 *       delimiter: ["|", ",", "\t"]                   # each file uses one of these; or ["||"]; or blanks
 *       quote: '"'                                   # or none
 *       escape: [double, backslash]                  # how a quote is written inside quotes
 *       multiline: no                                # a line end always ends a record, also inside quotes
 *       quoted: needed                               # a field in quotes that it does not need is a reject
 *       header: [test_id, TESTID]                    # a line that begins with one of these; or yes, no, refuse
 *       header_line: "a,a,b"                         # or this very line; columns go by their place
 *       decimal: ","                                 # and thousands: "."; of all numbers
 *       exact: yes                                   # 007 and +7 are no numbers: they would lose something
 *       skip: 3                                      # lines before the header or the first record
 *       comment: "#"                                 # lines that begin with it are no records
 *       encoding: latin1                             # or windows-1252, utf-8-or-latin1, ...: see values.h
 *     surplus: {into: model, left: 9}                # too many fields: the 10th gets the surplus
 *     fields:
 *       - {name: testId, key: t, type: int, column: [test_id, TESTID], nulls: ["", "NULL"]}
 *       - {name: passed, type: boolean, true: [yes, Y], false: [no, N]}
 *     make:                                          # keys made from several fields, or from none
 *       - {year: {path: year, type: int}}            # 2024 of a folder year=2024
 *       - {name: join, from: [first, last], with: " "}
 *       - {at: join, from: [day, time], with: " ", type: date, pattern: DD/MM/YYYY hh:mm}
 *       - {source: constant, value: import-2024}
 *     timezone: Europe/Berlin                        # of dates with an hour and without an offset
 *     on_bad_value: reject                           # or text, null
 *     layouts:                                       # columns of files without a header; default: all fields
 *       - [testId, vehicleId, ...]
 *
 * Records of fixed width, followed by parts that begin with markers:
 *
 *     format: isd
 *     record: {fixed: 105}                           # characters that every record has
 *     document: [st, ts, usaf]                       # keys that come first; the rest as in the record
 *     fields:                                        # one after the other; dots make subdocuments
 *       - {name: count, width: 4, type: length}      # of what follows; stored only if it is wrong
 *       - {name: air.value, width: 5, type: number, sign: always, divide: 10, nulls: "+9999"}
 *     make:                                          # keys made from several fields
 *       - {st: first, from: [usaf, wban], with: [u, w]}
 *       - {ts: utc, from: [date, time]}
 *       - {position: point, from: [latitude, longitude]}
 *     tail:                                          # optional parts after the fixed part, in this order
 *       - {marker: ADD, sections: yes}
 *       - {marker: REM, name: remarks, repeat: [{name: kind, width: 3}, {name: text, lengthWidth: 3}]}
 *     sections:                                      # two capitals and a digit, then fields by width
 *       - {ids: AA1-AA4, name: rain, fields: [{name: hours, width: 2, type: int, nulls: "99"}]}
 *
 * Objects, which bring their own fields:
 *
 *     format: json
 *     record: {json: yes}                            # one a line, one after the other, or the elements of an array
 *     record: {bson: yes, validate: yes}             # or BSON documents, one after the other
 *
 * What holds for every schema_t that schema_parse returns:
 *
 * - It does not change, and all threads share it. Only schema_set_bad_value, schema_bind and the members that are no part of the
 *   format file change one, before anything is compiled from it. Its texts live in the tree of the file or in memory that it owns, as
 *   long as it does.
 * - `kind` says which members mean something: those up to `layouts` belong to delimited records, those from `fixed` to
 *   `sections` to records of fixed width. JSON has fields only where values get types; BSON has none.
 * - Names of fields are unique. No key is the beginning of another one at a dot ("a" and "a.b"). A subdocument
 *   stands at the place of its first field.
 * - What is made names fields by their index, and never another made key.
 * - A delimited schema has at least one layout, and its layouts have different numbers of columns. Fields of fixed width
 *   have no gaps between them, and are together as wide as `fixed`.
 * - Fields with `added` are the last ones, optional, and in a format whose columns a header names. They are in no layout.
 * - `digest` follows from everything that decides which document a record becomes, and from nothing else; once schema_bind has
 *   taken the collection's, the fields with `added` are not part of it. A record without their columns makes the same document
 *   with and without them. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_H

#include "base/err.h"
#include "base/text.h"
#include "base/yaml_tree.h"
#include "base/zone.h"
#include "format/values/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCHEMA_MOST_FIELDS = 2048,
    SCHEMA_MOST_DELIMITERS = 8,
    SCHEMA_MOST_LAYOUTS = 16,
    SCHEMA_MOST_PARTS = 7, /* in a tail */
    SCHEMA_MOST_SECTIONS = 254,
    SCHEMA_MOST_MADE = 16,
    SCHEMA_MOST_FROM = 4,
    SCHEMA_MOST_SKIPPED = 1000,
    SCHEMA_WIDEST_DELIMITER = 8,
    SCHEMA_WIDEST = 4096,     /* characters of a fixed part, a section or an entry */
    SCHEMA_LONGEST_MADE = 28, /* bytes of a key that is made */
    SCHEMA_ID = 3,            /* bytes of a section's identifier */
};

typedef enum {
    TYPE_TEXT,    /* unchanged */
    TYPE_TRIMMED, /* text without blanks at its ends */
    TYPE_INT,     /* int32, or int64 if necessary */
    TYPE_LONG,    /* always int64 */
    TYPE_NUMBER,  /* double */
    TYPE_DATE,    /* BSON date, by the patterns */
    TYPE_LENGTH,  /* how many characters follow the fixed part */
    /* not of records of fixed width: */
    TYPE_BOOLEAN,  /* by its words */
    TYPE_DECIMAL,  /* 128 bits */
    TYPE_OBJECTID, /* 24 hexadecimal digits */
    TYPE_UUID,     /* binary of subtype 4 */
    TYPE_BINARY,   /* base64, or hexadecimal digits */
    TYPE_JSON,     /* a text that is a value of JSON */
} field_type_t;
enum { FIELD_TYPES = TYPE_JSON + 1 };

/* What its records are. */
typedef enum { RECORDS_DELIMITED, RECORDS_FIXED, RECORDS_JSON, RECORDS_BSON } record_kind_t;
enum { RECORD_KINDS = RECORDS_BSON + 1 };

/* What becomes of a value that does not fit its field's type. */
typedef enum {
    BAD_VALUE_TEXT,   /* its text is stored */
    BAD_VALUE_NULL,   /* null is stored */
    BAD_VALUE_REJECT, /* its record is a reject */
    BAD_VALUES
} bad_value_t;

/* What becomes of a column that a header names and the format does not know. NEW_COLUMNS_USUAL: a guess refuses its file, another
 * format ignores the column. */
typedef enum { NEW_COLUMNS_USUAL, NEW_COLUMNS_ADD, NEW_COLUMNS_IGNORE, NEW_COLUMNS_REFUSE } new_columns_t;
enum { NEW_COLUMNS = NEW_COLUMNS_REFUSE + 1 };

typedef enum { SIGN_NEVER, SIGN_ALWAYS, SIGN_MINUS } sign_t;

typedef struct {
    const char *text;
    size_t length;
} schema_text_t;

typedef struct {
    const schema_text_t *items;
    size_t count;
} texts_t;

/* Which bytes are allowed at one place. */
typedef struct {
    uint64_t bits[4];
} byteset_t;

static inline bool byteset_has(const byteset_t *set, uint8_t byte) {
    return set->bits[byte >> 6] >> (byte & 63) & 1;
}

typedef struct {
    /* its place in the file: the first member of all structs of which a format file has lists */
    const yaml_item_t *at;
    const char *name; /* for people, and in --filter */
    const char *key;  /* in the document; dots make subdocuments */
    field_type_t type;
    texts_t columns;       /* its names in a header */
    texts_t nulls;         /* a field whose text is one of them is left out */
    char point, thousands; /* of numbers that are not plain: see numeral_t; else 0 */
    /* of numbers: zeros in front, plus signs and exponents such as 1e5, which a number does not keep, do not fit; of trimmed texts: those in
     * quotes keep their blanks; of objectid: capitals do not fit */
    bool exact;
    texts_t words[2];          /* for booleans: those for false, those for true */
    texts_t patterns;          /* for dates: YYYY MM DD hh mm ss SSS; anything else must be there as it is */
    const pattern_t *compiled; /* the same, one for each */
    int divide;                /* for numbers: the exponent of the power of ten: 10 -> 1; -1: times 10 */
    bool hex;                  /* of binary data: hexadecimal digits, not base64 */
    bool optional;             /* a header may lack it */
    /* the input with which it came after the format was bound, or ""; NULL: it was there */
    const char *added;
    bool needed; /* of a guess: a header must have it all the same. Not a part of the format file */

    /* for records of fixed width: */
    uint32_t offset; /* from the start of the record, the section's fields, or the entry */
    uint16_t width;  /* if the field has a length before it: how many digits that has */
    bool counted;    /* its length is before it (`lengthWidth`) */
    sign_t sign;
    const byteset_t *is; /* what its bytes must be in an entry; NULL: anything */
} field_t;

/* From MAKE_CONSTANT on from no fields, from MAKE_FILE on from the name of the input. */
typedef enum {
    MAKE_FIRST,
    MAKE_UTC,
    MAKE_POINT,
    MAKE_JOIN,
    MAKE_CONSTANT,
    MAKE_FILE,
    MAKE_FOLDER,
    MAKE_PATH
} make_kind_t;

/* What becomes of the text of MAKE_FIRST and MAKE_JOIN. These numbers are in the digests of formats. */
typedef enum { TEXT_AS_IS = 0, TEXT_LOWER = 1, TEXT_SHA256 = 4 } text_change_t;

/* A key made from fields. MAKE_FIRST: the first item that is there, after its prefix; the fields of an item are joined.
 * MAKE_JOIN: all items that are there. MAKE_CONSTANT: a text of the format. MAKE_FILE: the name of the input;
 * MAKE_FOLDER: its folder; MAKE_PATH: 2024 of a folder year=2024 in it, where `text` is year. The others: one field for each item. */
typedef struct {
    field_t field; /* its name and key, for filters, and of which type its text is */
    make_kind_t kind;
    text_change_t change;
    schema_text_t text; /* of MAKE_CONSTANT, MAKE_PATH; of MAKE_JOIN what is between the items */
    struct {
        const uint16_t *fields;
        size_t count;
        schema_text_t with;
    } from[SCHEMA_MOST_FROM];
    size_t from_count;
} make_t;

/* What follows the fixed part: a section, or a part, which is a marker and then sections, or entries of `fields`. */
typedef struct {
    const yaml_item_t *at;
    const char *name; /* its key, or that of its entries */
    const field_t *fields;
    size_t field_count;
    uint32_t width; /* of a section with its identifier; of an entry without its counted text */

    /* of a section: */
    struct {
        char first[SCHEMA_ID]; /* identifiers from first to last, by their digit */
        char last_digit;
    } ids[SCHEMA_MOST_FROM];
    size_t id_count;

    /* of a part: */
    schema_text_t marker;
    bool sections, leave_out;
    /* of sections: their identifiers are an array under this key, and not in the sections */
    const char *list;
} tail_list_t;

/* Is this (SCHEMA_ID bytes) one of the section's identifiers? */
static inline bool section_lists(const tail_list_t *section, const char *id) {
    for (size_t i = 0; i < section->id_count; i++)
        if (section->ids[i].first[0] == id[0] && section->ids[i].first[1] == id[1] &&
            id[2] >= section->ids[i].first[2] && id[2] <= section->ids[i].last_digit)
            return true;
    return false;
}

static inline bool section_several(const tail_list_t *section) {
    return section->id_count > 1 || section->ids[0].last_digit > section->ids[0].first[2];
}

typedef enum {
    HEADER_WORDS,
    HEADER_YES,
    HEADER_NO,
    HEADER_LINE, /* this very line; the columns are those of the layouts */
} header_t;

typedef struct {
    const uint16_t *fields; /* indexes into schema->fields */
    size_t count;
} layout_t;

enum { OWN_ID_MOST = 8, OWN_ID_ROOM = 2048 /* bytes of keys, and around them */ };

/* Which values of a document are its `_id`, where that is not the record's place: see record.h. */
typedef struct {
    const char *text; /* as the user gives it */
    bool kept;        /* what the document itself calls _id; the record's place where it has none */
    const char *paths[OWN_ID_MOST];
    size_t count;
} own_id_t;

typedef struct schema {
    const char *name, *about;
    record_kind_t kind;
    char delimiters[SCHEMA_MOST_DELIMITERS];
    size_t delimiter_count;
    schema_text_t wide; /* the only delimiter, if it has several characters: delimiters[0] is the first one */
    bool blanks;        /* any number of blanks and tabs is the only delimiter; delimiters[0] is a blank */
    char quote;         /* 0: none */
    bool escape_double, escape_backslash;
    bool escape_backslashes; /* with escape_backslash: a backslash before a backslash, too */
    bool validate;           /* BSON: keys and texts that are not UTF-8 make a reject */
    uint32_t arrow; /* BSON of Arrow's rows: the number of the table of types; a document with a symbol is a
                                reject, as src/format/columns writes it. 0: it is any BSON */
    bool multiline; /* records may contain line ends: JSON, BSON, or quoted fields, */
    bool any_lines; /* of these also lines that look like records themselves */
    bool quoted_needed; /* a field in quotes that it does not need is a reject */
    uint32_t skip;      /* lines at a file's start that are neither records nor header */
    char comment;       /* lines that begin with it are none either; 0: there are no such lines */
    header_t header;
    bool header_refused; /* with HEADER_NO: a file that seems to begin with a header is refused */
    texts_t header_words;
    schema_text_t header_line; /* of HEADER_LINE, in UTF-8 */
    char point, thousands;     /* of fields that do not say it, */
    bool exact;                /* as this one */
    encoding_t encoding;
    /* another encoding, as iconv calls it: a reader makes UTF-8 of the text; NULL: none */
    const char *charset;
    bad_value_t bad_value;
    const char *timezone; /* of dates by patterns that have an hour and no offset; NULL: UTC, */
    zone_t *zone;         /* and its rules */
    int surplus_field;    /* -1: none */
    size_t surplus_left;
    field_t *fields;
    size_t field_count;
    layout_t layouts[SCHEMA_MOST_LAYOUTS];
    size_t layout_count;
    bool usual_layouts; /* the file has none */

    uint32_t fixed; /* characters of the fixed part */
    texts_t document;
    make_t *made;
    size_t made_count;
    tail_list_t *parts, *sections;
    size_t part_count, section_count;

    bool guessed;       /* no user wrote it: what may be data, and is no record, is refused. Not a part of the
                     format file, nor of the digest */
    const own_id_t *id; /* NULL: the record's place. Not a part of the format file, nor of the digest */
    /* the user has said `bad_value`: by --on-bad-value, or in a format file of his own */
    bool bad_value_said;
    bad_value_t bound;         /* what the digest has for `bad_value`: see schema_bind */
    new_columns_t new_columns; /* nor is this, */
    texts_t left_out;          /* nor the names of columns that stay left out of this collection */

    char digest[33];      /* of the meaning of the file, so a changed comment does not change it */
    yaml_tree_t *tree;    /* owns all texts of the file, and what schema_own gives out */
    struct schema *wider; /* owned: those of which schema_extend has taken fields */
} schema_t;

void schema_destroy(schema_t *schema);

/* Whose values may not fit their type: the fields, and then what is made. */
static inline size_t schema_counted(const schema_t *schema) {
    return schema->field_count + schema->made_count;
}

static inline const field_t *schema_counted_field(const schema_t *schema, size_t index) {
    return index < schema->field_count ? &schema->fields[index]
                                       : &schema->made[index - schema->field_count].field;
}

/* Zeroed memory that lives as long as the schema; NULL: out of memory, and err has the sentence. */
static inline void *schema_own(schema_t *schema, size_t bytes, err_t *err) {
    return yaml_tree_keep(schema->tree, bytes, err);
}

/* Does each record bring fields of its own, which the format does not know? */
static inline bool schema_any_fields(const schema_t *schema) {
    return schema->kind == RECORDS_JSON || schema->kind == RECORDS_BSON;
}

static inline bool schema_is_wide(const schema_t *schema) {
    return schema->wide.length || schema->blanks;
}

/* Is the line that begins with this byte a comment? */
static inline bool schema_is_comment(const schema_t *schema, uint8_t first) {
    return schema->comment && first == (uint8_t)schema->comment;
}

/* True if documents name the input of their record. Then the record alone does not make its document. */
bool schema_tells_place(const schema_t *schema);

/* The text of MAKE_FILE, MAKE_FOLDER or MAKE_PATH; NULL: the name of the input has none. */
schema_text_t schema_place(const make_t *made, const char *file, size_t length);

/* Is the path the key itself, or that of a subdocument around it? */
static inline bool schema_leads_to(const char *path, size_t length, const char *key) {
    return strncmp(path, key, length) == 0 && (!key[length] || key[length] == '.');
}

/* True if no document has both keys: they are the same, or one of them is that of a subdocument around the other. */
static inline bool schema_keys_clash(const char *one, const char *other) {
    for (; *one && *one == *other; one++)
        other++;
    return *one ? *one == '.' && !*other : !*other || *other == '.';
}

/* A field by its name or its key, also a made one that can be compared; NULL: none. */
const field_t *schema_field(const schema_t *schema, const char *name);

/* Does a document have this path (with dots or without), outside arrays? Not for `_id`. If not, *near is the end of the sentence
 * that says so, with the path that was probably meant. */
bool schema_makes(const schema_t *schema, const char *path, suggestion_t *near);

/* Types by their words in format files: ours, and usual words of other tools, which no sentence lists. A row without a name ends a
 * table. */
typedef struct {
    const char *name;
    field_type_t type;
} schema_type_t;
extern const schema_type_t schema_types[], schema_foreign_types[];

/* The type of a word, among these, a bit for each; NULL: there is none. */
const schema_type_t *schema_type_find(const char *word, size_t length, uint32_t types);

const char *schema_type_name(field_type_t type);

/* Words in a sentence, "int, long, number": of these types, a bit for each; and of how a key is made of such records, by these
 * kinds. */
typedef struct {
    char text[160];
} words_t;
words_t schema_type_words(uint32_t types);

/* Which of the texts it is, from 0; -1: none. A text that is not UTF-8 may be one in the encoding. any_case: as names of columns. */
static inline int texts_find(const texts_t *texts, encoding_t encoding, const uint8_t *text, size_t length,
                             bool any_case) {
    for (size_t i = 0; i < texts->count; i++)
        if (encoding_same(encoding, texts->items[i].text, texts->items[i].length, text, length, any_case))
            return (int)i;
    return -1;
}
static inline int words_find(const texts_t *words, encoding_t encoding, const uint8_t *text, size_t length) {
    return texts_find(words, encoding, text, length, false);
}

/* NULL, or what is wrong with the key. */
const char *schema_key_problem(const char *key, size_t length);

/* What to do instead of a key or a word that was removed. NULL: the word was never known. */
const char *schema_gone(const char *word);

/* Reads a time zone by its name from the folder of zone files: that of TZDIR, or else the system's. NULL: it is not installed
 * (status 1, with the path), or no name. The caller frees it. */
zone_t *schema_read_zone(const char *name, err_t *err);

/* ---- values that do not fit their field's type ---- */

/* By bad_value_t: text, null, reject. */
extern const char *const schema_bad_values[BAD_VALUES];

/* Another choice than the format file's, before anything is compiled from the schema: then it is another format, with
 * its own digest. False: there is no choice (status 1). */
bool schema_set_bad_value(schema_t *schema, bad_value_t bad_value, err_t *err);

/* Takes the digest by which a collection is bound, if it is that of this format with any choice of bad_value, and without some
 * optional fields at its end, which become `added`. The collection keeps that choice in its digest; a later choice of the user's
 * is for new inputs only. Where the user has made none, it is that of the collection. False: it is another format, and unchanged. */
bool schema_bind(schema_t *schema, const char *digest);

/* ---- columns that come and go ---- */

/* By new_columns_t; the first is no word. */
extern const char *const schema_new_columns[NEW_COLUMNS];

/* True if a header names the columns, so that others can come and go. */
bool schema_is_named(const schema_t *schema);

/* The digest of the format without its fields from this one on, which are optional. */
bool schema_digest_of(const schema_t *schema, size_t fields, char digest[33]);

/* Appends the last fields of `wider`, the same format with more of them, and owns it. What points to the fields stays valid. */
bool schema_extend(schema_t *schema, schema_t *wider, err_t *err);

/* True for the name of a column that stays left out of the collection; as in a header, case does not count. */
bool schema_leaves_out(const schema_t *schema, encoding_t encoding, const uint8_t *name, size_t length);

/* A header must have the columns of the fields that make this path of a document. */
void schema_need(schema_t *schema, const char *path);

/* Makes the layouts of a format that has none: its first `count` fields, and the same without the optional ones at their end.
 * `fields`: the numbers of all fields. */
void schema_usual_layouts(schema_t *schema, const uint16_t *fields, size_t count);

/* ---- reading ---- */

/* Fills schema->digest. False: out of memory. */
bool schema_digest(schema_t *schema, err_t *err);

/* `name` is used in messages. NULL: err says what is wrong, and where. */
schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err);

/* One that was guessed, for this load or for an earlier one. */
schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err);

/* Opens a format by name: a built-in one, or a file of the user. name: "mot", or a path (it contains '/' or ends in .yaml or
 * .yml). For an unknown name, the sentence has the closest known one. Failure: status 1. */
schema_t *format_open(const char *name, err_t *err);

#endif

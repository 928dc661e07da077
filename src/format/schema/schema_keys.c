#include "format/schema/schema_keys.h"

#include <string.h>

#define FORMAT                                                                                               \
    { "format", "its name, in messages and in the catalog of a load; needed" }
#define ABOUT                                                                                                \
    { "about", "one line for `tipple formats`" }
#define BAD                                                                                                  \
    { "on_bad_value", "what becomes of values that do not fit their type: text, null, reject" }
#define NAME                                                                                                 \
    { "name", "its name, for people, `--filter` and other keys; needed" }
#define TYPE                                                                                                 \
    { "type", "a type, see below" }
#define POINT                                                                                                \
    { "decimal", "what is before the fraction of a number: `\",\"` or `\".\"`" }
#define MARKS                                                                                                \
    { "thousands", "what may be between groups of three digits: `\",\"`, `\".\"`, `\"'\"`, `\" \"` or none" }
#define EXACT                                                                                                \
    { "exact", "of numbers: yes, and zeros in front, plus signs and exponents do not fit" }
#define TRUE                                                                                                 \
    { "true", "`boolean`: the words for true, up to 8" }
#define FALSE                                                                                                \
    { "false", "`boolean`: the words for false, up to 8" }
#define DATES                                                                                                \
    { "pattern", "`date` and `datetime`: one pattern or up to 8" }
#define NULLS                                                                                                \
    { "nulls", "texts that mean \"no value\", up to 16" }
#define DIVIDE                                                                                               \
    { "divide", "`number` and `decimal`: divided by 1, 10, 100, ..." }

const schema_keys_t schema_keys[KEYS_PARTS] = {
    [KEYS_FILE] = {"A format file",
                   {FORMAT,
                    ABOUT,
                    {"record", "how a record is cut; needed"},
                    {"surplus", "delimited: rows with too many fields"},
                    {"fields", "what a record holds, in the order of the document; needed"},
                    {"layouts", "delimited: columns of files that have no header"},
                    {"document", "fixed width: keys that stand first"},
                    {"make", "keys made of several fields, or of none"},
                    {"tail", "fixed width: what can follow the fixed part"},
                    {"sections", "fixed width: pieces with an identifier in front"},
                    BAD}},
    [KEYS_JSON_FILE] = {"A format file with `record: {json: yes}`",
                        {FORMAT, ABOUT, {"record", "`{json: yes}`"}, {"fields", "types of values"}, BAD}},
    [KEYS_BSON_FILE] = {"A format file with `record: {bson: yes}`",
                        {FORMAT, ABOUT, {"record", "`{bson: yes}`"}}},
    [KEYS_RECORD] =
        {"`record` of delimited files",
         {{"delimiter", "the delimiters to choose from, one to eight ASCII characters, or one of "
                        "several characters, or blanks; needed"},
          {"quote", "the quote character, or none"},
          {"escape", "how a quote is written inside quotes: double, backslash, backslashes"},
          {"multiline",
           "may a quoted field contain line ends? `yes`: any; else none whose lines all look like records"},
          {"quoted", "which fields may be in quotes: `any`, or `needed`: only those that need them; others "
                     "are rejects"},
          {"header", "yes, no, refuse, or a list of words with which a header begins"},
          {"header_line", "instead of `header`: the very line that is the header; the columns are "
                          "told by their place"},
          {"encoding", "utf-8, latin1, windows-1252, utf-8-or-latin1 or utf-8-or-windows-1252"},
          POINT,
          MARKS,
          EXACT,
          {"skip", "how many lines stand before the header or the first record, and are no records"},
          {"comment", "the ASCII character with which lines begin that are no records"}}},
    [KEYS_FIELD] = {"A field of delimited files",
                    {NAME,
                     {"key", "its key in the document; dots make subdocuments"},
                     TYPE,
                     {"column", "its name in a header, or a list of names"},
                     NULLS,
                     DATES,
                     DIVIDE,
                     {"multiply", "`number` and `decimal`: multiplied by 1, 10, 100, ..."},
                     POINT,
                     MARKS,
                     {"exact", "of numbers: yes, and zeros in front, plus signs and exponents do not fit; of "
                               "`trimmed`: yes, and a text in quotes keeps its blanks; of `objectid`: yes, "
                               "and capitals do not fit"},
                     TRUE,
                     FALSE,
                     {"array", "what is between the elements of an array"},
                     {"encoding", "`binary`: base64 or hex"},
                     {"optional", "may a header lack the column?"}}},
    [KEYS_SURPLUS] = {"`surplus`",
                      {{"into", "the field that gets the surplus; needed"},
                       {"left", "how many fields are before it; needed"}}},
    [KEYS_MADE] = {"`make`, beside the key that is made and how",
                   {{"from", "1 to 4 items: fields, or lists of fields whose texts are put together"},
                    {"with", "a text between all items, or a list: what is before each"},
                    {"value", "`constant`: its text"},
                    {"type", "of the text that is made"},
                    DATES,
                    NULLS,
                    TRUE,
                    FALSE,
                    POINT,
                    MARKS}},
    [KEYS_JSON_FIELD] = {"A field of JSON",
                         {{"name", "a key, with dots through objects and arrays; needed"},
                          {"type", "a type but `binary` and `json`, see below; needed"},
                          DATES,
                          NULLS,
                          TRUE,
                          FALSE,
                          POINT,
                          MARKS}},
    [KEYS_FIXED_RECORD] = {"`record` of fixed width",
                           {{"fixed", "how many bytes stand in every record; needed"}}},
    [KEYS_FIXED_FIELD] = {"A field of fixed width",
                          {NAME,
                           {"key", "its key in the document; dots make subdocuments"},
                           {"type", "text, trimmed, int, number or length"},
                           {"width", "how many bytes it has; needed"},
                           {"lengthWidth", "instead: its length stands before it, in so many digits"},
                           {"sign", "of numbers: never, always or minus"},
                           DIVIDE,
                           {"multiply", "`int`: 10"},
                           {"is", "of entries: what it looks like, character by character"},
                           {"nulls", "one text of exactly this width that means \"no value\""}}},
    [KEYS_PART] = {"`tail`",
                   {{"marker", "1 to 8 characters; needed"},
                    {"name", "the key of its entries"},
                    {"sections", "yes: sections follow"},
                    {"list", "with sections: all identifiers as an array under this key"},
                    {"repeat", "the fields of an entry"},
                    {"leaveOut", "yes: walked over, but not stored"}}},
    [KEYS_SECTION] = {"`sections`",
                      {{"ids", "identifiers such as AA1-AA4, or a list of such ranges; needed"},
                       {"name", "their key; needed"},
                       {"fields", "what follows the identifier; needed"}}},
};

size_t schema_keys_of(keys_part_t part, const char *keys[KEYS_MOST]) {
    size_t count = 0;
    for (; count < KEYS_MOST && schema_keys[part].keys[count].key; count++)
        keys[count] = schema_keys[part].keys[count].key;
    return count;
}

static const struct {
    gone_part_t part;
    const char *word, *instead;
} gone[] = {
    {GONE_KEY, "like", "write the whole format: tipple formats --show NAME > my.yaml, and change that"},
    {GONE_KEY, "keys", "give each field its 'key'"},
    {GONE_KEY, "lookup",
     "load the second file into a collection of its own and join it by $lookup, or join the files first"},
    {GONE_MADE, "upper", "use lower, or $toUpper in a query"},
    {GONE_MADE, "md5", "use sha256"},
    {GONE_MADE, "xxh3", "use sha256"},
    {GONE_MADE, "offset", "the _id that tipple makes has the place of the record in it"},
    {GONE_BAD_VALUE, "skip-field", "use null, text or reject"},
    {GONE_BAD_VALUE, "stop", "use reject, and load with --max-rejects 0"},
};

const char *schema_gone(gone_part_t part, const char *word) {
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (gone[i].part == part && strcmp(gone[i].word, word) == 0)
            return gone[i].instead;
    return NULL;
}

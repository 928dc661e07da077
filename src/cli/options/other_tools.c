#include "cli/options/other_tools.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define IN_THE_URI  "the URI says it: --uri mongodb://HOST:PORT/DATABASE.COLLECTION"
#define NO_PASSWORD "it is in the URI; --uri-file FILE or TIPPLE_URI keep it off the command line"
#define THREADS     "--threads N (-j N) says how many batches are under way at once"
#define BY_KEY                                                                                               \
    "--id FIELD,... makes the _id of these fields, and --existing replace puts a record's document in the "  \
    "place of an older one"
#define COLUMN_NAMES                                                                                         \
    "the header names the columns; without one they are column_1, column_2, ..., and --type column_1:NAME: " \
    "gives another name. `tipple formats --guess FILE` writes a format file to edit"
#define OF_A_DUMP                                                                                            \
    "a URI without a collection takes each collection of a dump in turn; for some of them, name each "       \
    "in a URI of its own and give its file: dump/shop/orders.bson, or 'dump.archive!shop.orders'"
#define OTHER_NAME                                                                                           \
    "the URI says where to: a URI with a database alone moves all of a dump into it, and one with a "        \
    "collection takes one file: dump/shop/orders.bson, or 'dump.archive!shop.orders'"
#define DELIMITER                                                                                            \
    "The delimiter is guessed; where a file does not tell it, --delimiter ';' of load, parse and formats "   \
    "does"
#define TLS     "?tls=true in the URI says it"
#define TLS_CA  "?tls=true&tlsCAFile=FILE in the URI says it"
#define TLS_KEY "?tls=true&tlsCertificateKeyFile=FILE in the URI says it"
#define TLS_SECRET                                                                                           \
    "?tlsCertificateKeyFilePassword=... in the URI says it; --uri-file FILE or TIPPLE_URI keep it off the "  \
    "command line"
#define TLS_INVALID "?tls=true&tlsAllowInvalidCertificates=true in the URI says it"
#define TLS_NAMES   "?tls=true&tlsAllowInvalidHostnames=true in the URI says it"
#define RECOGNISED  "it is recognised by the first bytes of a file; leave it out"
#define NOTHING                                                                                              \
    "tipple takes the documents of a dump, and the options and indexes of its collections, and nothing else"

/* Sorted by tool, then as their manuals do, and at last those of no certain tool. Options that tipple has with the same
 * meaning are not here. */
static const struct {
    const char *tool, *name; /* tool NULL: of several, and `instead` is a whole sentence */
    char letter;
    const char *values; /* tipple has the option, but not with these values; each between blanks */
    const char *instead;
} rows[] = {
    {"mongoimport", "host", 0, NULL, IN_THE_URI},
    {"mongoimport", "port", 0, NULL, IN_THE_URI},
    {"mongoimport", "db", 'd', NULL, IN_THE_URI},
    {"mongoimport", "collection", 'c', NULL, IN_THE_URI},
    {"mongoimport", "username", 'u', NULL, "it is in the URI, with an @ between it and the host"},
    {"mongoimport", "password", 'p', NULL, NO_PASSWORD},
    {"mongoimport", "authenticationDatabase", 0, NULL, "?authSource=DATABASE in the URI says it"},
    {"mongoimport", "authenticationMechanism", 0, NULL, "?authMechanism=NAME in the URI says it"},
    {"mongoimport", "ssl", 0, NULL, TLS},
    {"mongoimport", "sslCAFile", 0, NULL, TLS_CA},
    {"mongoimport", "sslPEMKeyFile", 0, NULL, TLS_KEY},
    {"mongoimport", "sslPEMKeyPassword", 0, NULL, TLS_SECRET},
    {"mongoimport", "sslAllowInvalidCertificates", 0, NULL, TLS_INVALID},
    {"mongoimport", "sslAllowInvalidHostnames", 0, NULL, TLS_NAMES},
    {"mongoimport", "tlsInsecure", 0, NULL, "?tls=true&tlsInsecure=true in the URI says it"},
    {"mongoimport", "config", 0, NULL,
     "a file can hold the URI, with its password: --uri-file FILE; the other options are on the command "
     "line"},
    {"mongoimport", "file", 0, NULL,
     "files need no option: tipple load FILE... --uri mongodb://HOST/DATABASE.COLLECTION"},
    {"mongoimport", "type", 0, " csv tsv json CSV TSV JSON ",
     "mongoimport's --type says what a file is: tipple recognises delimited text, JSON and BSON by itself; "
     "leave it out (here --type NAME:TYPE says what a column is)"},
    {"mongoimport", "legacy", 0, NULL,
     "older forms of Extended JSON are recognised, value by value; leave it out"},
    {"mongoimport", "jsonArray", 0, NULL, "an array is recognised, and so are documents one after the other"},
    {"mongoimport", "headerline", 0, NULL,
     "tipple finds out whether the first line names the columns; --header yes or --header no says it"},
    {"mongoimport", "fields", 0, NULL, COLUMN_NAMES},
    {"mongoimport", "fieldFile", 0, NULL, COLUMN_NAMES},
    {"mongoimport", "columnsHaveTypes", 0, NULL,
     "types are recognised from the values; --type NAME:TYPE says one that is not as it should be"},
    {"mongoimport", "ignoreBlanks", 0, NULL, "a field without a value is always left out"},
    {"mongoimport", "parseGrace", 0, NULL,
     "--on-bad-value text, skip-field, reject or stop says it (autoCast, skipField, skipRow, stop)"},
    {"mongoimport", "useArrayIndexFields", 0, NULL,
     "--nested makes subdocuments of dots; arrays are made by `array:` in a format file"},
    {"mongoimport", "stopOnError", 0, NULL, "--max-rejects 0 stops at the first record that is rejected"},
    {"mongoimport", "maintainInsertionOrder", 0, NULL,
     "several threads insert at once, in no order; `tipple where ID` tells file and line of a document"},
    {"mongoimport", "mode", 0, NULL,
     "records are inserted, each once; --existing reject, keep or replace says what becomes of a record "
     "whose _id is there. Nothing is merged or deleted"},
    {"mongoimport", "upsert", 0, NULL, BY_KEY},
    {"mongoimport", "upsertFields", 0, NULL, BY_KEY},
    {"mongoimport", "numInsertionWorkers", 0, NULL, THREADS},
    {"mongoimport", "batchSize", 0, NULL, "--batch N (-b N)"},
    {"mongoimport", "writeConcern", 0, NULL,
     "loads write with w: majority and the journal; --unsafe takes what the URI says, such as ?w=1"},
    {"mongoimport", "bypassDocumentValidation", 0, NULL,
     "what the collection's validator refuses is rejected, told, and kept in the reject file"},
    {"mongorestore", "gzip", 0, NULL, RECOGNISED},
    {"mongorestore", "archive", 0, NULL,
     "an archive is an input as any other; one collection of it: 'dump.archive!shop.orders'"},
    {"mongorestore", "dir", 0, NULL, "a folder is an input as any other: tipple load dump/ --uri ..."},
    {"mongorestore", "nsInclude", 0, NULL, OF_A_DUMP},
    {"mongorestore", "nsExclude", 0, NULL, OF_A_DUMP},
    {"mongorestore", "nsFrom", 0, NULL, OTHER_NAME},
    {"mongorestore", "nsTo", 0, NULL, OTHER_NAME},
    {"mongorestore", "numParallelCollections", 0, NULL,
     "the collections of a dump are loaded one after the other; --threads N (-j N) says how many batches of "
     "one are under way at once"},
    {"mongorestore", "numInsertionWorkersPerCollection", 0, NULL, THREADS},
    {"mongorestore", "objcheck", 0, NULL, "--validate checks each document as a whole"},
    {"mongorestore", "dryRun", 0, NULL, "--dry-run"},
    {"mongorestore", "noIndexRestore", 0, NULL,
     "the indexes of a dump are built after the load; without its .metadata.json there are none"},
    {"mongorestore", "keepIndexVersion", 0, NULL,
     "an index of a dump keeps the version that the dump tells; leave it out"},
    {"mongorestore", "convertLegacyIndexes", 0, NULL,
     "an index is built as the dump tells it; what a server of today refuses, correct in the .metadata.json"},
    {"mongorestore", "oplogReplay", 0, NULL, NOTHING},
    {"mongorestore", "restoreDbUsersAndRoles", 0, NULL, NOTHING},
    {"mongorestore", "preserveUUID", 0, NULL, NOTHING},
    {"mongorestore", "noOptionsRestore", 0, NULL,
     "a collection that exists keeps its own options: create it before the load"},
    {"mongosh", "tls", 0, NULL, TLS},
    {"mongosh", "tlsCAFile", 0, NULL, TLS_CA},
    {"mongosh", "tlsCertificateKeyFile", 0, NULL, TLS_KEY},
    {"mongosh", "tlsCertificateKeyFilePassword", 0, NULL, TLS_SECRET},
    {"mongosh", "tlsAllowInvalidCertificates", 0, NULL, TLS_INVALID},
    {"mongosh", "tlsAllowInvalidHostnames", 0, NULL, TLS_NAMES},
    {NULL, "delimiter", 0, NULL, DELIMITER},
    {NULL, "delim", 0, NULL, DELIMITER},
    {NULL, "separator", 0, NULL, DELIMITER},
    {NULL, "sep", 0, NULL, DELIMITER},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *other_tools_hint(const char *name, bool is_letter) {
    static char says[400];
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].values || (is_letter ? *name != rows[i].letter : strcasecmp(name, rows[i].name) != 0))
            continue;
        if (rows[i].tool)
            snprintf(says, sizeof says, "%s's --%s: %s", rows[i].tool, rows[i].name, rows[i].instead);
        else
            snprintf(says, sizeof says, "%s", rows[i].instead);
        return says;
    }
    return NULL;
}

#define LOADS     "`tipple load FILE... --uri mongodb://HOST/DATABASE.COLLECTION` loads files"
#define OF_DUMPS  "`tipple load DUMP --uri mongodb://HOST` loads a dump of mongodump"
#define EXPORTS   "tipple only loads: mongoexport and mongodump write what a collection holds into files"
#define TAKES_OUT "`tipple forget INPUT --delete` takes an input out of a collection"
#define PLANS     "the script tools/plan of the source tree computes what a load takes and costs"
#define COMPARES  "`tipple verify FILE...` compares a collection with its files"

static const char *const commands[][2] = {
    {"import", LOADS},      {"insert", LOADS},     {"upload", LOADS},      {"mongoimport", LOADS},
    {"restore", OF_DUMPS},  {"export", EXPORTS},   {"dump", EXPORTS},      {"mongorestore", OF_DUMPS},
    {"mongodump", EXPORTS}, {"check", COMPARES},   {"validate", COMPARES}, {"mongoexport", EXPORTS},
    {"delete", TAKES_OUT},  {"remove", TAKES_OUT}, {"plan", PLANS},
};

const char *other_tools_command_hint(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcasecmp(name, commands[i][0]) == 0)
            return commands[i][1];
    return NULL;
}

const char *other_tools_value_hint(const char *name, const char *value) {
    char word[16];
    if (snprintf(word, sizeof word, " %s ", value) >= (int)sizeof word)
        return NULL;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].values && strcmp(name, rows[i].name) == 0 && strstr(rows[i].values, word))
            return rows[i].instead;
    return NULL;
}

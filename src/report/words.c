#include "report/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* As docs/glossary.md has them, in a few words. Found with an s or es behind them, too. */
static const char *const words[][2] = {
    {"acknowledged", "the server has confirmed that it has the documents"},
    {"already there", "the same document was in the collection before this load sent it"},
    {"batch", "documents that are sent to the server in one message"},
    {"block", "the records in 256 KiB of a file's text"},
    {"BSON", "the form in which MongoDB stores and sends documents"},
    {"cache", "the part of a server's memory that holds data of its disk"},
    {"catalog", "what tipple has noted of its loads, beside the collection"},
    {"changed", "a document is there, and is not what the file makes"},
    {"cheapest",
     "fewest threads, then the smallest batch, of the settings that are nearly as fast as the best"},
    {"checkpoint", "the server writes to its disk all that has changed since the last one"},
    {"chunk", "a range of a sharded collection, all of which is on one shard"},
    {"clustered", "the collection is stored in the order of its _id"},
    {"compressor", "what makes data smaller before they are written to disk"},
    {"deviation", "how much single values differ from their mean (standard deviation)"},
    {"drill", "a rehearsal of a reload: from nothing to a verified collection"},
    {"duplicated", "another document with the same _id is on another shard"},
    {"extra", "a document is there where no record of the file begins"},
    {"filtered", "records that --filter has left out"},
    {"fixed", "rejected records that a person has corrected, and --retry has loaded"},
    {"interval", "the true value lies in it in 95 of 100 cases"},
    {"lane", "a part of the _id that spreads documents over shards"},
    {"latency", "time from sending a request, or a batch (with a rate: from when it is due), until all of "
                "its reply is here"},
    {"missing", "a record of the file has no document"},
    {"percentile", "at 95: 95 of 100 took no longer"},
    {"p50", "half of the requests took no longer"},
    {"p95", "95 of 100 requests took no longer"},
    {"p99", "99 of 100 requests took no longer"},
    {"predicted", "computed beforehand, from samples of the files"},
    {"rejected", "no document could be made of the record, or the server refused it; the reject file has it"},
    {"replica", "another server with the same data"},
    {"round", "each measurement once; they take turns"},
    {"router", "mongos: programs connect to it, and it asks the shards"},
    {"scan", "a look at every document"},
    {"scratch collection", "made for trials next to the target, and dropped afterwards"},
    {"seed", "the number that chance begins with: the same one draws the same"},
    {"setting", "a combination of threads, batch and what else was varied"},
    {"shard", "a server, or several with the same data, that has a part of the documents"},
    {"shard key", "the fields that decide on which shard a document is"},
    {"skipped", "not looked at: earlier loads have done it, or it does not fit the format"},
    {"suite", "a file of queries, with what their answers must be"},
    {"thread", "each works beside the others; a loader thread has a connection of its own"},
    {"throttled", "slowed down on purpose, by --max-rate"},
    {"trial", "one load of a sample with one setting"},
    {"unequal", "a block has another number of documents, or of bytes, than expected"},
    {"unrelated", "a document that belongs to no file that was loaded"},
};

enum { WORDS = sizeof words / sizeof *words, DEEPEST = 16 };

static bool ends_word(const char *at) {
    if (*at == 'e' && at[1] == 's')
        at++;
    if (*at == 's')
        at++;
    return !isalnum((unsigned char)*at) && *at != '_';
}

static void find_in_text(const char *text, bool found[WORDS]) {
    for (const char *at = text; *at; at++) {
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            continue;
        for (size_t i = 0; i < WORDS; i++) {
            const size_t length = strlen(words[i][0]);
            found[i] |= strncasecmp(at, words[i][0], length) == 0 && ends_word(at + length);
        }
    }
}

/* In what a page shows of a document: texts, and the names of settings. */
static void find(const bson_t *document, int depth, bool names, bool found[WORDS]) {
    bson_iter_t at;
    if (depth == DEEPEST || !bson_iter_init(&at, document))
        return;
    while (bson_iter_next(&at)) {
        const uint8_t *bytes;
        uint32_t length = 0;
        bson_t inner;
        if (names)
            find_in_text(bson_iter_key(&at), found);
        if (BSON_ITER_HOLDS_UTF8(&at))
            find_in_text(bson_iter_utf8(&at, NULL), found);
        else if (BSON_ITER_HOLDS_DOCUMENT(&at))
            bson_iter_document(&at, &length, &bytes);
        else if (BSON_ITER_HOLDS_ARRAY(&at))
            bson_iter_array(&at, &length, &bytes);
        if (length && bson_init_static(&inner, bytes, length))
            find(&inner, depth + 1, !depth && strcmp(bson_iter_key(&at), "settings") == 0, found);
    }
}

void words_put(markup_t *out, const bson_t *document) {
    bool found[WORDS] = {false}, any = false;
    find(document, 0, false, found);
    for (size_t i = 0; i < WORDS; i++) {
        if (!found[i])
            continue;
        markup_put(out, any ? "" : "<section class=\"glossary\">\n<h2>Words on this page</h2>\n<dl>\n");
        markup_print(out, "<div><dt>%s</dt><dd>", words[i][0]);
        markup_text(out, words[i][1]);
        markup_put(out, "</dd></div>\n");
        any = true;
    }
    if (any)
        markup_put(out, "</dl>\n</section>\n");
}

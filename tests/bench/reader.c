/* reader: someone who wants an answer now and then: finds documents by _id at a fixed pace, and says how
 * long each answer took.
 *
 *     reader --port P --of DATABASE.COLLECTION [--pace N] [--seconds S] [--seed N] FILE.bson
 *
 * FILE.bson holds the documents of the collection, with their _ids as 64-bit integers at their start (`tipple
 * parse
 * --emit bson --ids`); which one is wanted is drawn. N reads a second. A read that could not begin in time
 * because the one before it took too long is counted from the moment at which it should have begun. Prints
 * one line of JSON, with the microseconds of every read; exit status 1 if a document was not found. */
#include "wire.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ID_AT = 9, SECOND = 1000000000 };

typedef struct {
    uint16_t port;
    const char *database, *collection;
    uint32_t pace, seconds, seed;
    int64_t *ids;
    size_t id_count;
} reader_t;

static int64_t read64(const uint8_t *at) {
    return (int64_t)((uint64_t)read32(at) | (uint64_t)read32(at + 4) << 32);
}

static void learn_ids(reader_t *reader, const char *path) {
    size_t length;
    uint8_t *documents = read_file(path, &length);
    for (size_t at = 0; at < length; at += read32(documents + at)) {
        if (length - at < ID_AT + 8 || read32(documents + at) < ID_AT + 8 ||
            memcmp(documents + at + 4, "\x12_id", 5) != 0)
            die("%s: no document with a 64-bit _id at %zu", path, at);
        if ((reader->id_count & (reader->id_count - 1)) == 0)
            reader->ids =
                need(realloc(reader->ids, (reader->id_count ? 2 * reader->id_count : 1) * sizeof(int64_t)));
        reader->ids[reader->id_count++] = read64(documents + at + ID_AT);
    }
    free(documents);
    if (!reader->id_count)
        die("%s is empty", path);
}

/* {find, filter: {_id}, limit: 1, singleBatch: true}; its length. */
static size_t make_message(const reader_t *reader, uint8_t *message, int64_t id) {
    uint8_t *at = put32(put32(put32(put32(message + 4, 1), 0), OP_MSG), 0);
    *at++ = 0;
    uint8_t *body = at;
    at = put_text(body + 4, "find", reader->collection);
    uint8_t *filter = at = put_key(at, 0x03, "filter");
    at = put32(put_key(at + 4, 0x12, "_id"), (uint32_t)id);
    at = close_document(filter, put32(at, (uint32_t)((uint64_t)id >> 32)));
    at = put_bool(put32(put_key(at, 0x10, "limit"), 1), "singleBatch", true);
    at = close_document(body, put_text(at, "$db", reader->database));
    put32(message, (uint32_t)(at - message));
    return (size_t)(at - message);
}

static int64_t clock_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * SECOND + at.tv_nsec;
}

static void sleep_until(int64_t moment) {
    struct timespec until = {.tv_sec = moment / SECOND, .tv_nsec = moment % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

/* xorshift64*: any even one will do. */
static uint64_t draw(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static int measure(const reader_t *reader) {
    static uint8_t message[1024], reply[MOST_REPLY + 1];
    const int64_t between = SECOND / reader->pace;
    const uint64_t reads = (uint64_t)reader->pace * reader->seconds;
    uint64_t state = 88172645463325252u + reader->seed, missing = 0;
    int fd = dial(reader->port);
    int64_t due = clock_ns() + between;
    printf("{\"microseconds\":[");
    for (uint64_t i = 0; i < reads; i++, due += between) {
        int64_t began = due;
        if (clock_ns() < due) {
            sleep_until(due);
            began = clock_ns(); /* that this process woke late is not the server's doing */
        }
        size_t length = make_message(reader, message, reader->ids[draw(&state) % reader->id_count]);
        length = send_all(fd, message, length) ? receive(fd, reply) : 0;
        int64_t took = clock_ns() - began;
        if (!length)
            die("the server closed the connection, or its reply was too long");
        missing += memmem(reply, length, "\x12_id", 5) == NULL;
        printf("%s%lld", i ? "," : "", (long long)(took / 1000));
    }
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("],\"missing\":%llu,\"cpu_seconds\":%.6f}\n", (unsigned long long)missing,
           (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    close(fd);
    return missing != 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"port", 1, NULL, 'p'}, {"of", 1, NULL, 'o'},
                                            {"pace", 1, NULL, 'a'}, {"seconds", 1, NULL, 's'},
                                            {"seed", 1, NULL, 'e'}, {NULL, 0, NULL, 0}};
    reader_t reader = {.pace = 100, .seconds = 10, .seed = 1};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        char *dot = NULL;
        switch (option) {
        case 'p':
            reader.port = (uint16_t)number(optarg, 65535);
            break;
        case 'a':
            reader.pace = number(optarg, 100000);
            break;
        case 's':
            reader.seconds = number(optarg, 100000);
            break;
        case 'e':
            reader.seed = number(optarg, UINT32_MAX);
            break;
        case 'o':
            if ((dot = strchr(optarg, '.')))
                *dot = '\0';
            reader.database = optarg;
            reader.collection = dot ? dot + 1 : NULL;
            break;
        default:
            return 2;
        }
    }
    if (!reader.port || !reader.collection || optind != argc - 1 ||
        strlen(reader.database) + strlen(reader.collection) > 500)
        die("reader --port P --of DATABASE.COLLECTION [--pace N] [--seconds S] [--seed N] FILE.bson");
    learn_ids(&reader, argv[optind]);
    return measure(&reader);
}

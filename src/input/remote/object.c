/* Objects as they were seen, and readers of them.
 *
 *     object   [...............................................................]
 *                         offset                         until
 *     reader   dropped    [  range  ][  range  ][  range  ]      asked for when there is room
 *                         ^from  ^at        ^to
 *
 * The ranges of a reader are neighbours, in a ring. Each is asked for by a request of its own, and is held whole in memory,
 * so that no connection waits for another one; of what is not known to be wanted only one range is asked for. From a server
 * without ranges, the rest of the object is one range, of which memory holds a part at a time. */
#include "base/clock.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "input/file/fault.h"
#include "input/remote/remote.h"
#include "input/remote/s3.h"
#include "input/remote/transport.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SMALLEST = 64 * 1024, /* range */
    USUAL = 1 << 20,
    LARGEST = 8 << 20,
    VALIDATOR = 256,
    STEP_MS = 100,
};

typedef struct {
    uint64_t size;
    char etag[VALIDATOR]; /* "": none, or a weak one */
    char modified[VALIDATOR];
} seen_t;

struct remote_object {
    atomic_uint holders; /* besides the first */
    remote_place_t place;
    char *shown;
    seen_t seen;
    int64_t patience_ns;
    bool ranges;
    uint8_t *head; /* its first bytes, or NULL */
    size_t head_bytes;
};

/* ---- what an answer says of its object ---- */

/* *from and *to: of a 206 the range of it that comes; of a 200 all. False: it does not say how large the object is. */
static bool read_answer(const remote_answer_t *answer, seen_t *seen, uint64_t *from, uint64_t *to) {
    char value[VALIDATOR];
    unsigned long long first = 0, last = 0, size = 0;
    const bool part = answer->status == 206;
    *seen = (seen_t){.size = 0};
    if (transport_header(answer, "ETag", value, sizeof value) && strncmp(value, "W/", 2) != 0)
        strcpy(seen->etag, value);
    transport_header(answer, "Last-Modified", seen->modified, sizeof seen->modified);
    bool known = transport_header(answer, part ? "Content-Range" : "Content-Length", value, sizeof value);
    if (part)
        known = known && sscanf(value, "bytes %llu-%llu/%llu", &first, &last, &size) == 3 && first <= last &&
                last < size;
    else
        known = known && sscanf(value, "%llu", &size) == 1;
    *from = first;
    *to = part ? last + 1 : size;
    seen->size = size;
    return known;
}

static bool differ(const char *one, const char *other) {
    return *one && *other && strcmp(one, other) != 0;
}

/* All validators differ that both answers have. Another mirror has another ETag, or another time. */
static bool is_changed(const seen_t *then, const seen_t *now) {
    const int both = (*then->etag && *now->etag) + (*then->modified && *now->modified),
              different = differ(then->etag, now->etag) + differ(then->modified, now->modified);
    return then->size != now->size || (both && different == both);
}

static bool refuse_lie(const remote_object_t *object, uint64_t from, const remote_answer_t *answer,
                       err_t *err) {
    char value[VALIDATOR];
    transport_header(answer, "Content-Range", value, sizeof value);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: byte %llu was asked for, and the answer has other bytes or does not say which "
                   "(%s%.100s); a proxy or a cache may be at fault. Fetch the object, and load the file",
                   object->shown, (unsigned long long)from, *value ? "Content-Range: " : "no Content-Range",
                   value);
}

/* ---- objects ---- */

static _Atomic size_t heads_held; /* bytes */

/* Those that are not forgotten. After the last one, no key of S3 is kept. */
static _Atomic size_t objects;

static bool see(remote_object_t *object, remote_answer_t *answer, err_t *err) {
    uint64_t from, to;
    bool got = transport_fetch(&object->place, 0, REMOTE_HEAD, object->patience_ns, REMOTE_HEAD, answer, err);
    if (!got && answer->status == 416) { /* there is no first range, mostly because there are no bytes */
        transport_free_answer(answer);
        got = transport_fetch(&object->place, 0, 0, object->patience_ns, REMOTE_HEAD, answer, err);
    }
    if (!got)
        return false;
    object->ranges = answer->status == 206;
    const bool known = read_answer(answer, &object->seen, &from, &to);
    const uint64_t wanted = to < REMOTE_HEAD ? to : REMOTE_HEAD;
    if (object->ranges && (!known || from || answer->body.length != wanted))
        return refuse_lie(object, 0, answer, err);
    /* one whose length is not said was read to its end */
    object->seen.size = answer->length > object->seen.size ? answer->length : object->seen.size;
    if (!(object->head = realloc(answer->body.bytes, answer->body.length + 1)))
        return err_memory(err, REMOTE_HEAD);
    object->head_bytes = answer->body.length;
    answer->body = (text_t){.length = 0};
    atomic_fetch_add(&heads_held, object->head_bytes);
    return true;
}

remote_object_t *remote_see(const char *url, int64_t patience_ns, err_t *err) {
    remote_object_t *object = calloc(1, sizeof *object);
    remote_answer_t answer = {.status = 0};
    if (!object) {
        err_memory(err, sizeof *object);
        return NULL;
    }
    objects++;
    object->patience_ns = patience_ns;
    object->shown = remote_shown(url, err);
    const char *whole = object->shown ? url_whole(object->shown, err) : NULL;
    object->place = (remote_place_t){.scheme = url_scheme(url), .url = whole, .shown = object->shown};
    const bool ok = whole && see(object, &answer, err);
    transport_free_answer(&answer);
    if (!ok)
        remote_forget(object);
    return ok ? object : NULL;
}

void remote_settle(remote_object_t *object, uint64_t most) {
    if (most && atomic_load(&heads_held) <= most)
        return;
    atomic_fetch_sub(&heads_held, object->head_bytes);
    free(object->head);
    object->head = NULL;
    object->head_bytes = 0;
}

remote_object_t *remote_share(remote_object_t *object) {
    if (object)
        object->holders++;
    return object;
}

void remote_forget(remote_object_t *object) {
    if (!object || object->holders--)
        return;
    remote_settle(object, 0);
    free(object->shown);
    free(object);
    if (--objects == 0)
        s3_forget();
}

uint64_t remote_size(const remote_object_t *object) {
    return object->seen.size;
}

int64_t remote_modified_ns(const remote_object_t *object) {
    struct tm at = {.tm_sec = 0};
    const bool said = strptime(object->seen.modified, "%a, %d %b %Y %H:%M:%S", &at);
    return said ? timegm(&at) * INT64_C(1000000000) : 0;
}

bool remote_gives_ranges(const remote_object_t *object) {
    return object->ranges || object->seen.size <= object->head_bytes;
}

/* ---- ranges ---- */

typedef struct {
    remote_reader_t *reader;
    transfer_t *transfer;
    uint64_t from, at, to; /* [from, at) is in bytes */
    uint64_t pass;         /* bytes of the answer that come before `at` */
    uint64_t ends;         /* where its answer says that it ends, and nothing is taken after it */
    uint8_t *bytes;        /* reader->largest of them */
    bool seen;             /* the answer that comes was looked at */
    int64_t again_ns;      /* if no request is under way: when the next one is sent */
} range_t;

struct remote_reader {
    const remote_object_t *object;
    transport_t *transport;
    remote_pace_t pace;
    uint64_t began, until; /* with the first range; what is certainly wanted */
    size_t largest;
    bool in_order; /* the server gives no ranges */
    retry_t retry;
    range_t ranges[TRANSFERS];
    size_t first, count;
    err_t fault; /* of an answer that is refused */
};

static range_t *range_at(remote_reader_t *reader, size_t number) {
    return &reader->ranges[(reader->first + number) % TRANSFERS];
}

/* Checks the answer before its first byte is taken. */
static bool takes_answer(range_t *range, const remote_answer_t *answer) {
    remote_reader_t *reader = range->reader;
    uint64_t from, to;
    seen_t now;
    const bool known = read_answer(answer, &now, &from, &to), whole = answer->status == 200;
    range->seen = true;
    if (!known && whole)
        now.size = reader->object->seen.size;
    else if (!known)
        return refuse_lie(reader->object, range->at, answer, &reader->fault);
    if (is_changed(&reader->object->seen, &now))
        return fault_changed(&reader->fault, reader->object->shown);
    if (!whole && (from != range->at || to > range->to))
        return refuse_lie(reader->object, range->at, answer, &reader->fault);
    range->pass = whole ? range->at : 0;
    range->ends = to < range->to && !whole ? to : range->to;
    reader->in_order |= whole;
    return true;
}

static size_t take(void *context, remote_answer_t *answer, const uint8_t *bytes, size_t size) {
    range_t *range = context;
    if (!range->seen && !takes_answer(range, answer))
        return 0;
    const size_t passed = range->pass < size ? (size_t)range->pass : size,
                 held = (size_t)(range->at - range->from);
    const uint64_t wanted = range->ends - range->at;
    const size_t left = size - passed, taken = left < wanted ? left : (size_t)wanted;
    if (taken > range->reader->largest - held)
        return TRANSFER_LATER;
    memcpy(range->bytes + held, bytes + passed, taken);
    range->pass -= passed;
    range->at += taken;
    return passed + taken;
}

static bool ask(range_t *range, err_t *err) {
    remote_reader_t *reader = range->reader;
    const remote_place_t *place = &reader->object->place;
    remote_request_t request = {.from = reader->in_order ? 0 : range->at,
                                .to = reader->in_order ? 0 : range->to};
    range->seen = false;
    range->transfer->take = take;
    range->transfer->context = range;
    return place->scheme->prepare(place, &request, err) &&
           transfer_begin(reader->transport, range->transfer, &request, err);
}

static bool begin_range(remote_reader_t *reader, uint64_t from, uint64_t to, err_t *err) {
    const size_t slot = (reader->first + reader->count) % TRANSFERS;
    range_t *range = &reader->ranges[slot];
    if (!range->bytes && !(range->bytes = malloc(reader->largest)))
        return err_memory(err, reader->largest);
    *range = (range_t){.reader = reader,
                       .transfer = &reader->transport->transfers[slot],
                       .from = from,
                       .at = from,
                       .to = to,
                       .bytes = range->bytes};
    reader->count++;
    return ask(range, err);
}

static void drop_first(remote_reader_t *reader) {
    range_t *range = range_at(reader, 0);
    transfer_end(reader->transport, range->transfer);
    reader->first = (reader->first + 1) % TRANSFERS;
    reader->count--;
}

/* ---- readers ---- */

remote_reader_t *remote_open(const remote_object_t *object, const remote_pace_t *pace, err_t *err) {
    remote_reader_t *reader = calloc(1, sizeof *reader);
    if (!reader) {
        err_memory(err, sizeof *reader);
        return NULL;
    }
    reader->object = object;
    reader->retry.patience_ns = object->patience_ns;
    reader->pace = *pace;
    reader->pace.connections = pace->connections < TRANSFERS - 1 ? pace->connections : TRANSFERS - 1;
    reader->pace.connections += !reader->pace.connections;
    reader->largest = pace->ahead / (reader->pace.connections + 1);
    reader->largest = reader->largest < SMALLEST  ? SMALLEST
                      : reader->largest > LARGEST ? LARGEST
                                                  : reader->largest;
    reader->in_order = !object->ranges;
    return reader;
}

void remote_close(remote_reader_t *reader) {
    if (!reader)
        return;
    transport_give(reader->transport);
    for (size_t i = 0; i < TRANSFERS; i++)
        free(reader->ranges[i].bytes);
    free(reader);
}

void remote_read_until(remote_reader_t *reader, uint64_t offset) {
    reader->until = offset < reader->object->seen.size ? offset : reader->object->seen.size;
}

/* How long the next range is. What is certainly wanted is divided among the connections, in ranges that grow with what was
 * asked for since the reader began here: its first bytes do not wait for those that come with them. */
static size_t next_length(const remote_reader_t *reader, uint64_t from, size_t size) {
    const uint64_t known = reader->until > from ? reader->until - from : 0, passed = from - reader->began,
                   least = known < passed ? known : passed, share = least / reader->pace.connections;
    uint64_t length = share > USUAL ? share : USUAL;
    if (!known)
        length = size > SMALLEST ? size : SMALLEST;
    else if (length > known)
        length = known;
    return length < reader->largest ? (size_t)length : reader->largest;
}

/* Asks for as much as may be held. */
static bool ask_ahead(remote_reader_t *reader, uint64_t offset, size_t size, err_t *err) {
    const uint64_t end = reader->object->seen.size;
    size_t moving = 0;
    for (size_t i = 0; i < reader->count; i++)
        moving += range_at(reader, i)->at < range_at(reader, i)->to;
    while (reader->count <= reader->pace.connections && moving < reader->pace.connections) {
        const uint64_t next = reader->count ? range_at(reader, reader->count - 1)->to : offset;
        if (next >= end || (reader->count && (reader->in_order || next >= reader->until)))
            return true;
        const size_t length = next_length(reader, next, size);
        const uint64_t to = reader->in_order || length > end - next ? end : next + length;
        if (!begin_range(reader, next, to, err))
            return false;
        moving++;
    }
    return true;
}

/* A request has ended, or nothing came for too long: whatever lacks of its range is asked for again. */
static bool follow(remote_reader_t *reader, range_t *range, int64_t waits_since_ns, err_t *err) {
    transfer_t *transfer = range->transfer;
    const remote_answer_t *answer = &transfer->answer;
    const int64_t now_ns = clock_now_ns();
    if (range->again_ns > now_ns)
        return true;
    if (range->again_ns) {
        range->again_ns = 0;
        return ask(range, err);
    }
    const int64_t silent_ns =
        now_ns - (transfer->heard_ns > waits_since_ns ? transfer->heard_ns : waits_since_ns);
    if (transfer->moving && (silent_ns < reader->retry.silent_ns || transfer->waits))
        return true;
    if (transfer->moving) {
        transfer_end(reader->transport, transfer);
        transfer_break(transfer, "nothing came for %.1f s", (double)silent_ns / 1e9);
    }
    if (answer->status == 416)
        return fault_changed(err, reader->object->shown);
    if ((answer->status == 200 || answer->status == 206) && !range->seen)
        takes_answer(range, answer);
    if (reader->fault.status) {
        *err = reader->fault;
        return false;
    }
    if (range->seen && answer->status) /* a server may give less than it was asked for */
        transfer_break(transfer, "the answer ended too early");
    if (answer->status == 503 || answer->status == 429)
        reader->pace.connections -= reader->pace.connections > 1;
    return retry_judge(&reader->retry, &reader->object->place, answer, &range->again_ns, err);
}

/* Of a range that is longer than memory: what was read, or passed over, makes room. */
static void make_room(range_t *range, uint64_t offset) {
    if (range->to - range->from <= range->reader->largest || offset < range->at)
        return;
    range->from = range->at;
    transfer_go_on(range->transfer);
}

static bool wait_for(remote_reader_t *reader, range_t *range, uint64_t offset, err_t *err) {
    uint64_t had = range->at;
    retry_heard(&reader->retry);
    const int64_t since_ns = reader->retry.heard_ns;
    while (range->at <= offset) {
        make_room(range, offset);
        transport_wait(reader->transport, STEP_MS);
        if (range->at > had)
            retry_heard(&reader->retry);
        had = range->at;
        if (stop_signal())
            return fault_stopped(err, reader->object->shown, stop_signal());
        if (reader->pace.pool && pool_closed(reader->pace.pool)) { /* whoever closed it has said why */
            err->text[0] = '\0';
            return false;
        }
        for (size_t i = 0; i < reader->count; i++) {
            range_t *each = range_at(reader, i);
            if (each->at < each->to && !follow(reader, each, since_ns, err))
                return false;
        }
    }
    return true;
}

ssize_t remote_read(remote_reader_t *reader, void *out, size_t size, uint64_t offset, err_t *err) {
    const remote_object_t *object = reader->object;
    if (offset >= object->seen.size)
        return 0;
    if (offset < object->head_bytes) {
        const size_t left = object->head_bytes - (size_t)offset, n = size < left ? size : left;
        memcpy(out, object->head + offset, n);
        return (ssize_t)n;
    }
    if (!reader->transport && !(reader->transport = transport_take(err)))
        return -1;
    while (reader->count && (offset < range_at(reader, 0)->from || offset >= range_at(reader, 0)->to))
        drop_first(reader);
    if (!reader->count)
        reader->began = offset;
    if (!ask_ahead(reader, offset, size, err))
        return -1;
    range_t *range = range_at(reader, 0);
    transport_wait(reader->transport, 0);
    if (range->at <= offset && !wait_for(reader, range, offset, err))
        return -1;
    const uint64_t there = range->at - offset;
    const size_t n = size < there ? size : (size_t)there;
    memcpy(out, range->bytes + (offset - range->from), n);
    make_room(range, offset + n);
    return (ssize_t)n;
}

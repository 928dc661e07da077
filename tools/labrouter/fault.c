#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const KINDS[] = {
    [FAULT_NONE] = "none",
    [FAULT_DROP] = "drop",
    [FAULT_LOSE_REPLY] = "lose-reply",
    [FAULT_CUT] = "cut",
    [FAULT_DELAY] = "delay",
    [FAULT_DELAY_REPLY] = "delay-reply",
    [FAULT_NOT_PRIMARY] = "not-primary",
};

static const struct {
    const char *name;
    size_t offset;
} NUMBERS[] = {
    {"after", offsetof(fault_t, after)},
    {"count", offsetof(fault_t, count)},
    {"every", offsetof(fault_t, every)},
    {"ms", offsetof(fault_t, ms)},
};

static bool set_kind(fault_t *fault, const char *word, problem_t *problem) {
    for (size_t kind = 1; kind < sizeof KINDS / sizeof *KINDS; kind++)
        if (strcmp(word, KINDS[kind]) == 0) {
            fault->kind = (fault_kind_t)kind;
            return true;
        }
    return problem_set(problem, CODE_INVALID_OPTIONS,
                       "there is no fault '%s': use drop, lose-reply, cut, delay, delay-reply or not-primary",
                       word);
}

static bool set_number(fault_t *fault, const char *name, int64_t value, problem_t *problem) {
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (strcmp(name, NUMBERS[i].name) == 0 && value >= 0) {
            *(int64_t *)((char *)fault + NUMBERS[i].offset) = value;
            return true;
        }
    return problem_set(
        problem, CODE_INVALID_OPTIONS,
        "a fault has do, command, and the numbers after, count, every and ms, none below 0; not %s", name);
}

bool fault_parse(const char *words, fault_t *fault, problem_t *problem) {
    char copy[256], *rest = copy;
    *fault = (fault_t){.count = 1};
    snprintf(copy, sizeof copy, "%s", words);
    if (!set_kind(fault, strsep(&rest, ","), problem))
        return false;
    while (rest) {
        char *value = strsep(&rest, ","), *name = strsep(&value, "="), *end = "x";
        if (value && strcmp(name, "command") == 0) {
            snprintf(fault->command, sizeof fault->command, "%s", value);
            continue;
        }
        const int64_t number = value && *value ? strtoll(value, &end, 10) : -1;
        if (!set_number(fault, name, *end ? -1 : number, problem))
            return false;
    }
    return true;
}

bool fault_from_bson(const bson_t *document, fault_t *fault, problem_t *problem) {
    bson_iter_t iter;
    *fault = (fault_t){.count = 1};
    bson_iter_init(&iter, document);
    while (bson_iter_next(&iter)) {
        const char *key = bson_iter_key(&iter);
        if (strcmp(key, "do") == 0 && BSON_ITER_HOLDS_UTF8(&iter)) {
            if (!set_kind(fault, bson_iter_utf8(&iter, NULL), problem))
                return false;
        } else if (strcmp(key, "command") == 0 && BSON_ITER_HOLDS_UTF8(&iter)) {
            snprintf(fault->command, sizeof fault->command, "%s", bson_iter_utf8(&iter, NULL));
        } else if (!set_number(fault, key, BSON_ITER_HOLDS_NUMBER(&iter) ? bson_iter_as_int64(&iter) : -1,
                               problem)) {
            return false;
        }
    }
    return fault->kind != FAULT_NONE ||
           problem_set(problem, CODE_INVALID_OPTIONS, "a fault needs the field do");
}

bool faults_add(faults_t *faults, const fault_t *fault, problem_t *problem) {
    pthread_mutex_lock(&faults->lock);
    int at = 0; /* of one that has nothing left to do, if there is one */
    while (at < faults->fault_count && faults->faults[at].count)
        at++;
    const bool fits = at < MOST_FAULTS;
    if (fits) {
        faults->faults[at] = *fault;
        faults->fault_count += at == faults->fault_count;
    }
    pthread_mutex_unlock(&faults->lock);
    return fits || problem_set(problem, CODE_INVALID_OPTIONS, "there are %d faults already", MOST_FAULTS);
}

void faults_clear(faults_t *faults) {
    pthread_mutex_lock(&faults->lock);
    faults->fault_count = 0;
    pthread_mutex_unlock(&faults->lock);
}

static void count_message(faults_t *faults, const char *command) {
    int at = 0;
    while (at < faults->name_count && strcmp(faults->names[at].name, command) != 0)
        at++;
    if (at == faults->name_count) {
        if (at == MOST_NAMES)
            return;
        snprintf(faults->names[at].name, sizeof faults->names[at].name, "%.63s", command);
        faults->names[at].messages = 0;
        faults->name_count++;
    }
    faults->names[at].messages++;
}

static bool concerns(const fault_t *fault, const char *command) {
    static const char *const SPARED[] = {"hello", "isMaster", "ismaster", "labrouter"};
    if (fault->command[0])
        return strcmp(fault->command, command) == 0;
    for (size_t i = 0; i < sizeof SPARED / sizeof *SPARED; i++)
        if (strcmp(SPARED[i], command) == 0)
            return false;
    return true;
}

fault_t faults_take(faults_t *faults, const char *command) {
    fault_t taken = {.kind = FAULT_NONE};
    pthread_mutex_lock(&faults->lock);
    count_message(faults, command);
    for (int i = 0; i < faults->fault_count && !taken.kind; i++) {
        fault_t *fault = &faults->faults[i];
        if (!fault->count || !concerns(fault, command))
            continue;
        if (fault->after) {
            fault->after--;
            continue;
        }
        fault->count--;
        fault->after = fault->every > 1 ? fault->every - 1 : 0;
        fault->done++;
        taken = *fault;
    }
    pthread_mutex_unlock(&faults->lock);
    return taken;
}

void faults_connection(faults_t *faults, int change) {
    pthread_mutex_lock(&faults->lock);
    faults->connections += change > 0;
    faults->connections_now += change;
    pthread_mutex_unlock(&faults->lock);
}

void faults_report(faults_t *faults, bson_t *reply) {
    bson_t part, item;
    char key[16];
    pthread_mutex_lock(&faults->lock);
    bson_append_document_begin(reply, "messages", -1, &part);
    for (int i = 0; i < faults->name_count; i++)
        bson_append_int64(&part, faults->names[i].name, -1, faults->names[i].messages);
    bson_append_document_end(reply, &part);
    bson_append_int64(reply, "connections", -1, faults->connections);
    bson_append_int64(reply, "connectionsNow", -1, faults->connections_now);
    bson_append_array_unsafe_begin(reply, "faults", -1, &part);
    for (int i = 0; i < faults->fault_count; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_document_begin(&part, key, -1, &item);
        bson_append_utf8(&item, "do", -1, KINDS[faults->faults[i].kind], -1);
        bson_append_utf8(&item, "command", -1, faults->faults[i].command, -1);
        bson_append_int64(&item, "after", -1, faults->faults[i].after);
        bson_append_int64(&item, "count", -1, faults->faults[i].count);
        bson_append_int64(&item, "done", -1, faults->faults[i].done);
        bson_append_document_end(&part, &item);
    }
    bson_append_array_end(reply, &part);
    pthread_mutex_unlock(&faults->lock);
}

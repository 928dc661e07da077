/* fault: misbehaviour on request, and counts of what came by.
 *
 *     {labrouter: 1, fault: {do: "lose-reply", command: "insert", after: 2, count: 1}}
 *
 * lets two inserts pass and loses the reply of the third; with every: 10, count: 5 it would lose those of the
 * 3rd, 13th, ... 43rd. One connection's messages are not distinguished from another's. */
#ifndef LABROUTER_FAULT_H
#define LABROUTER_FAULT_H

#include "stream.h"

#include <bson/bson.h>
#include <pthread.h>

typedef enum {
    FAULT_NONE,
    FAULT_DROP,        /* closes the client's connection, the message goes nowhere */
    FAULT_LOSE_REPLY,  /* the servers do it, the client's connection closes without a reply */
    FAULT_CUT,         /* the servers do it, half of the reply arrives, then the connection closes */
    FAULT_DELAY,       /* waits before the message goes on */
    FAULT_DELAY_REPLY, /* waits before the reply goes back */
    FAULT_NOT_PRIMARY, /* answers NotWritablePrimary, the message goes nowhere */
} fault_kind_t;

typedef struct {
    fault_kind_t kind;
    char command[64]; /* "": any but hello and labrouter */
    int64_t after, count, every, ms, done;
} fault_t;

enum { MOST_FAULTS = 16, MOST_NAMES = 128 };

typedef struct {
    pthread_mutex_t lock;
    fault_t faults[MOST_FAULTS];
    int fault_count;
    struct {
        char name[64];
        int64_t messages;
    } names[MOST_NAMES];
    int name_count;
    int64_t connections, connections_now;
} faults_t;

/* "lose-reply,command=insert,after=2,count=1,ms=0" */
bool fault_parse(const char *words, fault_t *fault, problem_t *problem);
bool fault_from_bson(const bson_t *document, fault_t *fault, problem_t *problem);

bool faults_add(faults_t *faults, const fault_t *fault, problem_t *problem);
void faults_clear(faults_t *faults);

/* Counts a message and says what is to be done to it. */
fault_t faults_take(faults_t *faults, const char *command);
void faults_connection(faults_t *faults, int change);
void faults_report(faults_t *faults, bson_t *reply);

#endif

#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block in front of each allocation. Sizes are powers of two from 32 bytes on. */
typedef struct head {
    struct head *next, *before; /* of the free ones; under sanitizers of all */
    size_t size, class;
} head_t;

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif

#ifdef WATCHED

static head_t all = {.next = &all, .before = &all};

void *arena_malloc(size_t size) {
    head_t *head = malloc(sizeof *head + size);
    if (!head)
        abort();
    *head = (head_t){.next = all.next, .before = &all, .size = size};
    all.next->before = head;
    all.next = head;
    return head + 1;
}

void arena_free(void *at) {
    if (!at)
        return;
    head_t *head = (head_t *)at - 1;
    head->next->before = head->before;
    head->before->next = head->next;
    free(head);
}

void arena_reset(void) {
    while (all.next != &all)
        arena_free(all.next + 1);
}

#else

enum { CLASSES = 24, SMALLEST = 5 };
static const size_t ROOM = (size_t)256 << 20;
static char *memory;
static size_t used;
static head_t *free_ones[CLASSES];

void *arena_malloc(size_t size) {
    size_t class = 0;
    while (((size_t)1 << (class + SMALLEST)) < size)
        class ++;
    head_t *head = free_ones[class];
    if (head) {
        free_ones[class] = head->next;
    } else {
        if (!memory && !(memory = malloc(ROOM)))
            abort();
        const size_t bytes = sizeof *head + ((size_t)1 << (class + SMALLEST));
        if (used + bytes > ROOM) {
            fprintf(stderr, "simulate: a world needs more than %zu MiB\n", ROOM >> 20);
            abort();
        }
        head = (head_t *)(void *)(memory + used);
        used += bytes;
    }
    head->size = size;
    head->class = class;
    return head + 1;
}

void arena_free(void *at) {
    if (!at)
        return;
    head_t *head = (head_t *)at - 1;
    head->next = free_ones[head->class];
    free_ones[head->class] = head;
}

void arena_reset(void) {
    used = 0;
    memset(free_ones, 0, sizeof free_ones);
}

#endif

void *arena_calloc(size_t count, size_t size) {
    void *at = arena_malloc(count * size);
    memset(at, 0, count * size);
    return at;
}

void *arena_realloc(void *at, size_t size) {
    if (!at)
        return arena_malloc(size);
    const size_t old = ((head_t *)at - 1)->size;
#ifndef WATCHED
    if (size <= (size_t)1 << (((head_t *)at - 1)->class + SMALLEST)) {
        ((head_t *)at - 1)->size = size;
        return at;
    }
#endif
    void *larger = arena_malloc(size);
    memcpy(larger, at, old < size ? old : size);
    arena_free(at);
    return larger;
}

char *arena_strdup(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(arena_malloc(size), text, size);
}

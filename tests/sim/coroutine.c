#include "coroutine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 96 * 1024 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define BY_CONTEXT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BY_CONTEXT 1
#endif
#endif

#ifdef BY_CONTEXT
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#include <sanitizer/asan_interface.h>
#define CLEAN(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define CLEAN(at, size) ((void)0)
#endif
typedef ucontext_t collection_t;
#else
typedef void *collection_t;
#endif

struct coroutine {
    collection_t here, back;
    char *stack;
    void (*function)(void *);
    void *argument;
    bool ended;
};

static coroutine_t *running;

static void begin(void) {
    running->function(running->argument);
    running->ended = true;
    coroutine_yield();
    abort();
}

#ifdef BY_CONTEXT

static void switch_to(collection_t *from, collection_t *to) {
    swapcontext(from, to);
}

static void prepare(coroutine_t *coroutine) {
    CLEAN(coroutine->stack, STACK_BYTES); /* of calls that never returned */
    getcontext(&coroutine->here);
    coroutine->here.uc_stack.ss_sp = coroutine->stack;
    coroutine->here.uc_stack.ss_size = STACK_BYTES;
    coroutine->here.uc_link = NULL;
    makecontext(&coroutine->here, begin, 0);
}

#else

void tipple_sim_switch(void **from, void **to);
__asm__(".text\n.globl tipple_sim_switch\n.type tipple_sim_switch,@function\ntipple_sim_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq (%rsi), %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size tipple_sim_switch,.-tipple_sim_switch\n");

static void switch_to(collection_t *from, collection_t *to) {
    tipple_sim_switch(from, to);
}

static void prepare(coroutine_t *coroutine) {
    void (*const first)(void) = begin;
    uintptr_t top = ((uintptr_t)coroutine->stack + STACK_BYTES) & ~(uintptr_t)15;
    void **at = (void **)top;
    *--at = NULL; /* begin never returns; with this the stack is where a call would have left it */
    memcpy(--at, &first, sizeof first);
    for (int i = 0; i < 6; i++)
        *--at = NULL;
    coroutine->here = at;
}

#endif

coroutine_t *coroutine_new(void) {
    coroutine_t *coroutine = calloc(1, sizeof *coroutine);
    if (!coroutine || !(coroutine->stack = malloc(STACK_BYTES)))
        abort();
    return coroutine;
}

void coroutine_start(coroutine_t *coroutine, void (*function)(void *), void *argument) {
    coroutine->function = function;
    coroutine->argument = argument;
    coroutine->ended = false;
    prepare(coroutine);
}

void coroutine_resume(coroutine_t *coroutine) {
    coroutine_t *const before = running;
    running = coroutine;
    switch_to(&coroutine->back, &coroutine->here);
    running = before;
}

void coroutine_yield(void) {
    switch_to(&running->here, &running->back);
}

bool coroutine_has_ended(const coroutine_t *coroutine) {
    return coroutine->ended;
}

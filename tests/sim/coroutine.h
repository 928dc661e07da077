/* coroutine: functions with a stack of their own that give the control back in the middle of a call. A switch
 * is a few instructions (by swapcontext under sanitizers and on other processors). One thread. */
#ifndef TIPPLE_SIM_COROUTINE_H
#define TIPPLE_SIM_COROUTINE_H

#include <stdbool.h>

typedef struct coroutine coroutine_t;

coroutine_t *coroutine_new(void);
/* From its beginning, whatever it was in before. It runs when it is resumed. */
void coroutine_start(coroutine_t *coroutine, void (*function)(void *), void *argument);
/* Until it yields or returns. */
void coroutine_resume(coroutine_t *coroutine);
/* From within: back to whoever has resumed it. */
void coroutine_yield(void);
bool coroutine_has_ended(const coroutine_t *coroutine);

#endif

#include "load/threads/load_state.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"

#include <stdlib.h>

static const int64_t CONFIRMED_NAP_NS = 5000000;

/* Called when the pipeline has failed: wakes all that wait for settled blocks, or for the throttle. */
static void wake_all(void *context) {
    load_state_t *loading = context;
    pthread_mutex_lock(&loading->lock);
    pthread_cond_signal(&loading->changed);
    pthread_mutex_unlock(&loading->lock);
    throttle_close(loading->throttle);
}

/* The lock is held. */
static void settle_one(load_state_t *loading) {
    if (--loading->blocks == 0)
        pthread_cond_signal(&loading->changed);
}

static void block_is_gone(void *context) {
    load_state_t *loading = context;
    pthread_mutex_lock(&loading->lock);
    settle_one(loading);
    pthread_mutex_unlock(&loading->lock);
}

void load_state_init(load_state_t *loading) {
    pthread_mutex_init(&loading->lock, NULL);
    condition_init(&loading->changed);
    pthread_mutex_init(&loading->counting, NULL);
    pthread_mutex_init(&loading->catalog, NULL);
    pthread_mutex_lock(&loading->catalog);
    loading->news_end = &loading->news;
    loading->pipeline = (pipeline_t){.failed = wake_all, .settled = block_is_gone, .context = loading};
}

void load_state_free(load_state_t *loading) {
    for (news_t *news; (news = loading->news);) {
        loading->news = news->next;
        pipeline_free_block(&loading->pipeline, news->block);
        free(news);
    }
    load_state_close(loading);
    pthread_cond_destroy(&loading->changed);
    pthread_mutex_destroy(&loading->counting);
    pthread_mutex_destroy(&loading->catalog);
    pthread_mutex_destroy(&loading->lock);
}

bool load_state_is_fed(load_state_t *loading) {
    pthread_mutex_lock(&loading->lock);
    bool fed = loading->feeding_over;
    pthread_mutex_unlock(&loading->lock);
    return fed;
}

block_t *load_state_take_done(load_state_t *loading) {
    pthread_mutex_lock(&loading->lock);
    block_t *done = loading->done;
    loading->done = NULL;
    pthread_mutex_unlock(&loading->lock);
    return done;
}

void load_state_free_blocks(block_t *blocks) {
    while (blocks) {
        block_t *next = blocks->next;
        free(blocks->rejects);
        free(blocks);
        blocks = next;
    }
}

void load_state_add_block(load_state_t *loading) {
    pthread_mutex_lock(&loading->lock);
    loading->blocks++;
    pthread_mutex_unlock(&loading->lock);
}

void load_state_add_done(load_state_t *loading, block_t *block) {
    pthread_mutex_lock(&loading->lock);
    block->next = loading->done;
    loading->done = block;
    settle_one(loading);
    pthread_mutex_unlock(&loading->lock);
}

bool load_state_tell(load_state_t *loading, const news_t *what, err_t *err) {
    news_t *news = malloc(sizeof *news);
    if (!news)
        return err_memory(err, sizeof *news);
    *news = *what;
    pthread_mutex_lock(&loading->lock);
    news->next = NULL;
    *loading->news_end = news;
    loading->news_end = &news->next;
    pthread_mutex_unlock(&loading->lock);
    return true;
}

news_t *load_state_take_news(load_state_t *loading, bool *settled) {
    pthread_mutex_lock(&loading->lock);
    news_t *news = loading->news;
    *settled = !loading->blocks;
    loading->news = NULL;
    loading->news_end = &loading->news;
    pthread_mutex_unlock(&loading->lock);
    return news;
}

void load_state_end_feeding(load_state_t *loading) {
    pthread_mutex_lock(&loading->lock);
    loading->feeding_over = true;
    pthread_cond_signal(&loading->changed);
    pthread_mutex_unlock(&loading->lock);
}

bool load_state_enter(load_state_t *loading, err_t *err) {
    err->text[0] = '\0';
    pthread_mutex_lock(&loading->catalog);
    const bool open = !loading->over && !pipeline_failed(&loading->pipeline);
    if (!open)
        pthread_mutex_unlock(&loading->catalog);
    return open;
}

void load_state_leave(load_state_t *loading) {
    pthread_mutex_unlock(&loading->catalog);
}

void load_state_close(load_state_t *loading) {
    if (loading->over)
        return;
    loading->over = true;
    pthread_mutex_unlock(&loading->catalog);
}

bool load_state_wait_confirmed(load_state_t *loading, err_t *err) {
    const struct timespec pause = {.tv_nsec = CONFIRMED_NAP_NS};
    while (__builtin_expect(loading->lease_ns &&
                                clock_awake_or_not_ns() -
                                        atomic_load_explicit(&loading->confirmed_ns, memory_order_acquire) >=
                                    loading->lease_ns,
                            0)) {
        if (pipeline_failed(&loading->pipeline) || stop_signal())
            return stop_interrupted(err);
        nanosleep(&pause, NULL);
    }
    return true;
}

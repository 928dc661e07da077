#include "load/loading.h"

#include <stdlib.h>

void loading_fail(loading_t *loading, const err_t *err) {
    pthread_mutex_lock(&loading->lock);
    if (!loading->failed)
        loading->err = *err;
    loading->failed = true;
    pthread_mutex_unlock(&loading->lock);
    pool_close(loading->pool);
    queue_close(loading->queue);
    throttle_close(loading->throttle);
}

bool loading_failed(loading_t *loading) {
    pthread_mutex_lock(&loading->lock);
    bool failed = loading->failed;
    pthread_mutex_unlock(&loading->lock);
    return failed;
}

block_t *loading_take_done(loading_t *loading) {
    pthread_mutex_lock(&loading->lock);
    block_t *done = loading->done;
    loading->done = NULL;
    pthread_mutex_unlock(&loading->lock);
    return done;
}

void loading_free_blocks(block_t *blocks) {
    while (blocks) {
        block_t *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

void loading_add_done(loading_t *loading, block_t *block) {
    pthread_mutex_lock(&loading->lock);
    block->next = loading->done;
    loading->done = block;
    pthread_mutex_unlock(&loading->lock);
}

void loading_free_block(loading_t *loading, block_t *block) {
    if (block)
        pool_give(loading->pool, &block->buffer);
    free(block);
}

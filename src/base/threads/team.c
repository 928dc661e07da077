#include "base/threads/team.h"
#include "base/caller.h"
#include "base/grow.h"

#include <stdlib.h>

void team_init(team_t *team) {
    *team = (team_t){.count = 0};
    pthread_mutex_init(&team->lock, NULL);
}

bool team_start(team_t *team, void *(*work)(void *context), void *context, const char *remedy, err_t *err) {
    if (!GROW(team->threads, team->room, team->count + 1, err))
        return false;
    if (caller_start_thread(&team->threads[team->count], work, context) != 0)
        return err_set(err, STATUS_HOST, "no more than %zu threads can be made; %s", team->count, remedy);
    team->count++;
    return true;
}

void team_fail(team_t *team, const err_t *err) {
    pthread_mutex_lock(&team->lock);
    if (!team->failed)
        team->err = *err;
    team->failed = true;
    pthread_mutex_unlock(&team->lock);
}

bool team_failed(team_t *team) {
    return team->failed;
}

bool team_join(team_t *team, err_t *err) {
    for (size_t i = 0; i < team->count; i++)
        pthread_join(team->threads[i], NULL);
    free(team->threads);
    pthread_mutex_destroy(&team->lock);
    if (team->failed)
        *err = team->err;
    return !team->failed;
}

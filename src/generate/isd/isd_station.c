#include "generate/isd/isd_station.h"
#include "base/numbers/chance.h"
#include "generate/shared/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the numbers below the limit for each index below it: a step by a prime that does not divide it visits all. */
static uint32_t spread(uint32_t index, uint32_t limit, uint64_t key) {
    const uint64_t prime = 100003; /* above all limits */
    return (uint32_t)((index * prime + key % limit) % limit);
}

/* The kind of a rank: the shares lie side by side, so often that there is a rank for each station, and every kind has its
 * share to within one; where they begin is random. */
static const isd_kind_t *kind_of(const isd_kind_t *kinds, size_t count, uint32_t rank, uint32_t stations,
                                 uint64_t start) {
    uint64_t sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (uint64_t)kinds[k].share;
    uint64_t point = (rank * sum + ((start >> 32) * sum >> 32)) / stations;
    while (point >= (uint64_t)kinds->share)
        point -= (uint64_t)kinds++->share;
    return kinds;
}

/* Most ids end in 0, as most real ones do; when there are no more of these, the others follow. */
static uint32_t usaf_of(uint32_t index, const isd_kind_t *kind, uint64_t key) {
    uint32_t tens = (uint32_t)(kind->usaf_last - kind->usaf) / 10 + 1;
    return (uint32_t)kind->usaf + 10 * spread(index % tens, tens, key) + index / tens % 10;
}

/* `index` is its number: next to each other where they are of one kind; `shared` the key of all of them. */
static void name_station(isd_station_t *station, uint32_t index, uint64_t shared) {
    const isd_kind_t *kind = station->kind;
    uint32_t usaf = kind->usaf ? usaf_of(index, kind, shared) : 999999, wban = 99999;
    if (kind->wban)
        wban = (uint32_t)kind->wban + spread(index, (uint32_t)(kind->wban_last - kind->wban) + 1, shared);
    snprintf(station->ids, sizeof station->ids, "%06u%05u", usaf % 1000000, wban % 100000);
    if (strchr(kind->flags, 'A'))
        station->ids[0] = 'A';
    station->usaf = (int32_t)usaf / 10;
    bool any = *kind->call == '*';
    int begun = snprintf(station->call, sizeof station->call, "%s", any ? "" : kind->call);
    uint64_t letters = chance_bits(station->key, 20);
    for (int i = begun; i < 5; i++, letters /= 26)
        station->call[i] = i < (any ? 3 : 4) ? (char)('A' + letters % 26) : ' ';
}

static int32_t between(const isd_station_t *station, uint64_t place, int32_t low, int32_t high) {
    return low + (int32_t)(chance_bits(station->key, place) % (uint32_t)(high - low + 1));
}

/* Warm at the equator, with winters towards the poles, and colder above. Most stations lie low. */
static void place_station(isd_station_t *station) {
    const isd_kind_t *kind = station->kind;
    station->latitude = between(station, 1, kind->south, kind->north);
    station->longitude = between(station, 2, kind->west, kind->east);
    station->elevation = between(station, 3, kind->low, kind->high);
    if (station->elevation > 300)
        station->elevation = 300 + (station->elevation - 300) * between(station, 4, 0, 100) / 100;
    int32_t from_equator = whole_clamp(abs(station->latitude) / 1000, 0, 68);
    bool by_the_sea = station->latitude < 0 || kind->daily < 20;
    station->mean = 265 - from_equator * from_equator * 7 / 100 - station->elevation * 55 / 1000 +
                    between(station, 5, -15, 15);
    station->season = from_equator * (by_the_sea ? 12 : 26) / 10;
    station->daily = kind->daily * between(station, 6, 80, 120) / 100;
    station->damp = kind->damp * between(station, 7, 80, 120) / 100;
    station->wind = kind->wind * between(station, 8, 80, 120) / 100;
    station->zone = whole_rounded(station->longitude, 15000);
}

isd_station_t isd_station_of(const isd_kind_t *kinds, size_t kind_count, uint32_t number, uint32_t stations,
                             uint64_t key) {
    uint32_t rank = spread(number, stations, chance_bits(key, 2));
    isd_station_t station = {.key = chance_bits(key, 16 + (uint64_t)number)};
    station.kind = kind_of(kinds, kind_count, rank, stations, chance_bits(key, 1));
    name_station(&station, rank, chance_bits(key, 3));
    place_station(&station);
    return station;
}

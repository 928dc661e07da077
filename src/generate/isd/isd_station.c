#include "generate/isd/isd_station.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Near the golden section: multiples of it visit every number below the limit, far apart. */
static uint32_t step_within(uint32_t limit) {
    uint32_t step = (uint32_t)((uint64_t)limit * 618 / 1000);
    step = step ? step : 1;
    while (common_divisor(step, limit) != 1)
        step++;
    return step;
}

/* Station ranks are cut at the kinds' shares, from a random start: every kind has its share to within one. */
void isd_network_init(isd_network_t *network, uint32_t stations, uint64_t key) {
    *network = (isd_network_t){.stations = stations, .key = key, .step = step_within(stations)};
    uint64_t sum = 0, below = 0, start = chance_bits(key, 1) & 0xffff;
    for (const isd_kind_t *kind = isd_kinds; kind->name; kind++)
        sum += kind->share;
    uint32_t rank = 0;
    for (size_t k = 0; isd_kinds[k].name; k++) {
        network->first_rank[k] = rank;
        below += isd_kinds[k].share;
        while (rank < stations && (((uint64_t)rank << 16) + start) * sum < (below << 16) * stations)
            rank++;
        network->first_rank[k + 1] = rank;
    }
}

/* Most ids end in 0, as most real ones do; when there are no more of these, the others follow. */
static uint32_t id_of(uint32_t index, uint32_t first, uint32_t last, uint64_t key) {
    uint32_t tens = (last - first) % 1000000 / 10 + 1, shift = (uint32_t)(key % tens);
    if (index < tens)
        return first + 10 * (uint32_t)(((uint64_t)index * step_within(tens) + shift) % tens);
    index -= tens;
    return first + 10 * (index / 9) + 1 + index % 9;
}

static uint32_t presplit_id(uint32_t index, uint32_t first, uint32_t last, uint64_t key) {
    uint32_t count = (last - first) % 100000 + 1;
    return first + (uint32_t)(((uint64_t)index * step_within(count) + key % count) % count);
}

static int32_t between(uint64_t key, uint64_t place, int32_t low, int32_t high) {
    return low + (int32_t)(chance_bits(key, place) % (uint32_t)(high - low + 1));
}

/* `index` is its number among the stations of its kind, `shared` the key of all of them. */
static void name_station(isd_station_t *station, uint32_t index, uint64_t shared) {
    const isd_kind_t *kind = station->kind;
    char text[32], block[16];
    uint32_t usaf = kind->usaf ? id_of(index, kind->usaf, kind->usaf_last, shared) : 999999;
    uint32_t wban = kind->wban ? presplit_id(index, kind->wban, kind->wban_last, shared) : 99999;
    snprintf(station->ids, sizeof station->ids, "%06u%05u", usaf % 1000000, wban % 100000);
    if (kind->lettered)
        station->ids[0] = 'A';
    snprintf(block, sizeof block, "%.5s", station->ids);
    station->block = isd_text(block);
    station->call = isd_text("99999");
    if (!kind->icao)
        return;
    uint64_t letters = chance_bits(station->key, 20);
    size_t length = (size_t)snprintf(text, sizeof text, "%s", kind->icao), whole = length ? 4 : 3;
    for (; length < whole; length++, letters /= 26)
        text[length] = (char)('A' + letters % 26);
    text[length] = '\0';
    station->icao = isd_text(text);
    snprintf(block, sizeof block, "%-5.5s", text);
    station->call = isd_text(block);
}

/* Warm at the equator, with winters towards the poles, and colder above. */
static void place_station(isd_station_t *station) {
    const isd_kind_t *kind = station->kind;
    uint64_t key = station->key;
    char text[32];
    isd_climate_t *climate = &station->climate;
    int32_t latitude = between(key, 1, kind->south, kind->north), from_equator = abs(latitude) / 1000;
    int32_t longitude = between(key, 2, kind->west, kind->east);
    int32_t elevation = between(key, 3, kind->low, kind->high),
            height = elevation == ISD_NO_ELEVATION ? 0 : elevation;
    if (height > 300) /* most stations lie low */
        elevation = height = 300 + (height - 300) * between(key, 4, 0, 100) / 100;
    from_equator = from_equator > 68 ? 68 : from_equator;
    *climate = (isd_climate_t){
        .latitude = latitude,
        .longitude = longitude,
        .elevation = height,
        .mean = 265 - from_equator * from_equator * 7 / 100 - height * 55 / 1000 + between(key, 5, -15, 15),
        .season = from_equator * (latitude < 0 || kind->daily < 20 ? 12 : 26) / 10,
        .daily = kind->daily * between(key, 6, 80, 120) / 100,
        .damp = kind->damp * between(key, 7, 80, 120) / 100,
        .wind = kind->wind * between(key, 8, 75, 125) / 100,
        .still = kind->still,
        .cloud = kind->cloud + between(key, 9, -40, 40),
        .wet = kind->wet * between(key, 10, 80, 120) / 100,
        .hazy = kind->hazy * between(key, 11, 80, 120) / 100,
        .zone = longitude < 0 ? (longitude - 7500) / 15000 : (longitude + 7500) / 15000,
        .fahrenheit = kind->fahrenheit,
        .sun = kind->sun,
        .lofty = kind->lofty,
    };
    snprintf(text, sizeof text, "%+06d%+07d", (int)latitude, (int)longitude);
    station->position = isd_text(text);
    snprintf(text, sizeof text, "%+05d", (int)elevation);
    station->elevation = isd_text(text);
}

void isd_station_init(isd_station_t *station, const isd_network_t *network, uint32_t number) {
    uint32_t start = (uint32_t)(chance_bits(network->key, 2) % network->stations);
    uint32_t rank = (uint32_t)(((uint64_t)number * network->step + start) % network->stations);
    size_t kind = 0;
    while (rank >= network->first_rank[kind + 1])
        kind++;
    *station =
        (isd_station_t){.kind = &isd_kinds[kind], .key = chance_bits(network->key, 16 + (uint64_t)number)};
    name_station(station, rank - network->first_rank[kind], chance_bits(network->key, 3));
    place_station(station);
}

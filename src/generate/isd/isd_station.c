#include "generate/isd/isd_station.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* One of the numbers below the limit for each index below it: steps near the golden section visit all, far apart. */
static uint32_t spread(uint32_t index, uint32_t limit, uint64_t key) {
    uint32_t step = (uint32_t)((uint64_t)limit * 618 / 1000) + 1;
    while (common_divisor(step, limit) != 1)
        step++;
    return (uint32_t)(((uint64_t)index * step + key % limit) % limit);
}

/* Station ranks are cut at the kinds' shares, from a random start: every kind has its share to within one. */
void isd_network_init(isd_network_t *network, const isd_world_t *world, uint32_t stations, uint64_t key) {
    *network = (isd_network_t){.world = world, .stations = stations, .key = key};
    uint64_t sum = 0, below = 0;
    for (size_t k = 0; k < world->kinds; k++)
        sum += (uint64_t)world->kind[k].share;
    for (size_t k = 0; k < world->kinds; k++) {
        below += (uint64_t)world->kind[k].share;
        uint64_t start = below < sum ? chance_bits(key, 1) % sum : 0;
        network->first_rank[k + 1] = (uint32_t)((below * stations + start) / sum);
    }
}

/* Most ids end in 0, as most real ones do; when there are no more of these, the others follow. */
static uint32_t usaf_of(uint32_t index, const isd_kind_t *kind, uint64_t key) {
    uint32_t first = (uint32_t)kind->usaf, tens = (uint32_t)(kind->usaf_last - kind->usaf) / 10 + 1;
    if (index < tens)
        return first + 10 * spread(index, tens, key);
    return first + 10 * ((index - tens) / 9) + 1 + (index - tens) % 9;
}

/* `index` is its number among the stations of its kind, `shared` the key of all of them. */
static void name_station(isd_station_t *station, uint32_t index, uint64_t shared, isd_scene_t *scene) {
    const isd_kind_t *kind = station->kind;
    char text[16];
    uint32_t usaf = kind->usaf ? usaf_of(index, kind, shared) : 999999, wban = 99999;
    if (kind->wban)
        wban = (uint32_t)kind->wban + spread(index, (uint32_t)(kind->wban_last - kind->wban) + 1, shared);
    snprintf(station->ids, sizeof station->ids, "%06u%05u", usaf % 1000000, wban % 100000);
    if (strchr(kind->flags, 'A'))
        station->ids[0] = 'A';
    snprintf(text, sizeof text, "%.5s", station->ids);
    scene->text[ISD_T_block] = isd_text(text);
    scene->text[ISD_T_call] = isd_text("99999");
    if (*kind->call == '-')
        return;
    uint64_t letters = chance_bits(station->key, 20);
    bool any = *kind->call == '*';
    snprintf(text, sizeof text, "%s", any ? "" : kind->call);
    for (size_t length = strlen(text); length < (any ? 3 : 4); text[++length] = '\0', letters /= 26)
        text[length] = (char)('A' + letters % 26);
    scene->text[ISD_T_icao] = isd_text(text);
    snprintf(text + 8, 8, "%-5.5s", text);
    scene->text[ISD_T_call] = isd_text(text + 8);
}

static int32_t between(const isd_station_t *station, uint64_t place, int32_t low, int32_t high) {
    return low + (int32_t)(chance_bits(station->key, place) % (uint32_t)(high - low + 1));
}

static int32_t around(const isd_station_t *station, uint64_t place, int32_t number) {
    return number * between(station, place, 80, 120) / 100;
}

/* Warm at the equator, with winters towards the poles, and colder above. */
static void place_station(isd_station_t *station, isd_scene_t *scene) {
    const isd_kind_t *kind = station->kind;
    char text[16];
    int32_t latitude = between(station, 1, kind->south, kind->north), from_equator = abs(latitude) / 1000;
    int32_t longitude = between(station, 2, kind->west, kind->east);
    int32_t elevation = between(station, 3, kind->low, kind->high);
    int32_t height = elevation == ISD_NO_ELEVATION ? 0 : elevation;
    if (height > 300) /* most stations lie low */
        elevation = height = 300 + (height - 300) * between(station, 4, 0, 100) / 100;
    from_equator = from_equator > 68 ? 68 : from_equator;
    station->climate = (isd_climate_t){
        .latitude = latitude,
        .longitude = longitude,
        .elevation = height,
        .mean =
            265 - from_equator * from_equator * 7 / 100 - height * 55 / 1000 + between(station, 5, -15, 15),
        .season = from_equator * (latitude < 0 || kind->daily < 20 ? 12 : 26) / 10,
        .daily = around(station, 6, kind->daily),
        .damp = around(station, 7, kind->damp),
        .wind = around(station, 8, kind->wind),
        .still = kind->still,
        .cloud = kind->cloud + between(station, 9, -40, 40),
        .wet = around(station, 10, kind->wet),
        .hazy = around(station, 11, kind->hazy),
        .zone = (longitude + (longitude < 0 ? -7500 : 7500)) / 15000,
        .fahrenheit = strchr(kind->flags, 'F'),
        .sun = strchr(kind->flags, 'S'),
        .lofty = strchr(kind->flags, 'L'),
    };
    snprintf(text, sizeof text, "%+06d%+07d", (int)latitude, (int)longitude);
    scene->text[ISD_T_position] = isd_text(text);
    snprintf(text, sizeof text, "%+05d", (int)elevation);
    scene->text[ISD_T_elevation] = isd_text(text);
}

void isd_station_init(isd_station_t *station, const isd_network_t *network, uint32_t number,
                      isd_scene_t *scene) {
    uint32_t rank = spread(number, network->stations, chance_bits(network->key, 2));
    size_t kind = 0;
    while (rank >= network->first_rank[kind + 1])
        kind++;
    *station = (isd_station_t){.kind = &network->world->kind[kind],
                               .key = chance_bits(network->key, 16 + (uint64_t)number)};
    name_station(station, rank - network->first_rank[kind], chance_bits(network->key, 3), scene);
    place_station(station, scene);
}

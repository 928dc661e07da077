/* study/plan: each limit by itself, in numbers small enough to work out by hand. */
#include "study/plan/plan.h"
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A million documents of 1,000 bytes: a gigabyte. */
#define GIGABYTE .documents = 1e6, .document_bytes = 1000, .text_bytes = 500, .shards = 1, .replicas = 1

static plan_t plan_of(plan_spec_t spec) {
    plan_t plan;
    plan_work_out(&spec, &plan);
    return plan;
}

static void near(double got, double wanted) {
    if (fabs(got - wanted) > 1e-9 * fabs(wanted))
        fail_msg("%.12g is not %.12g", got, wanted);
}

TEST(nothing_known) {
    plan_t plan = plan_of((plan_spec_t){GIGABYTE});
    assert_int_equal(plan.limit, PLAN_LIMITS);
    assert_true(plan.load == 0 && plan.documents_per_second == 0);
    near(plan.bson, 1e9);
    near(plan.text, 5e8);
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++)
        assert_true(plan_ease(&plan, limit) == 1);
}

/* One thing known at a time, and what a gigabyte takes with it. */
TEST(each_limit) {
    const struct {
        plan_limit_t limit;
        plan_spec_t spec;
        double seconds;
    } cases[] = {
        /* 500 MB of text by 2 loaders of 50 MB/s */
        {PLAN_SOURCE, {GIGABYTE, .loaders = 2, .source_read = 50e6}, 5},
        /* 10 us a document are 10 s of CPU, on 2 x 5 cores */
        {PLAN_CLIENT_CPU, {GIGABYTE, .loaders = 2, .loader_cores = 5, .client_us = 10}, 1},
        /* and a rate in its place: 2 x 100k a second; 2 x 25 MB */
        {PLAN_CLIENT_CPU,
         {GIGABYTE, .loaders = 2, .loader_cores = 5, .client_us = 10, .loader_rate = {.documents = 100e3}},
         5},
        {PLAN_CLIENT_CPU, {GIGABYTE, .loaders = 2, .loader_rate = {.bytes = 25e6}}, 20},
        /* 1 Gb/s carries 125 MB/s */
        {PLAN_CLIENT_NETWORK, {GIGABYTE, .loaders = 4, .network = 125e6 / 4, .servers = 1}, 8},
        {PLAN_ROUTER, {GIGABYTE, .routers = 2, .router_cores = 4, .router_us = 80}, 10},
        {PLAN_ROUTER, {GIGABYTE, .routers = 2, .router_us = 80, .router_rate = {.documents = 250e3}}, 2},
        {PLAN_SHARD, {GIGABYTE, .shard_rate = {.documents = 10e3}}, 100},
        {PLAN_SERVER, {GIGABYTE, .loaders = 1, .cores = 4, .primary_us = 20, .client_us = 4}, 5},
        /* without loaders of their own, the servers' cores do that, too */
        {PLAN_SERVER, {GIGABYTE, .cores = 4, .primary_us = 20, .client_us = 4}, 6},
        {PLAN_SERVER, {GIGABYTE, .cores = 4, .primary_us = 20, .server_rate = {.bytes = 50e6}}, 20},
        /* 1 GB as 0.4 of data and 0.6 of journal */
        {PLAN_DISK, {GIGABYTE, .disk_write = 100e6, .stored_ratio = 0.4, .log_ratio = 0.6}, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_t plan = plan_of(cases[i].spec);
        near(plan.use[cases[i].limit], cases[i].seconds);
        if (cases[i].limit == PLAN_CLIENT_NETWORK) /* its one server's network is slower */
            continue;
        assert_int_equal(plan.limit, cases[i].limit);
        near(plan.load, cases[i].seconds);
        near(plan.documents_per_second, 1e6 / cases[i].seconds);
    }
}

/* Three members each: everybody receives each document once; the primary sends it twice. */
TEST(replicas) {
    plan_spec_t spec = {GIGABYTE,        .loaders = 1,      .network = 100e6,  .cores = 2,
                        .primary_us = 8, .secondary_us = 4, .stored_ratio = 1, .disk_write = 50e6};
    spec.replicas = 3;
    plan_t plan = plan_of(spec);
    near(plan.servers, 3);
    near(plan.use[PLAN_CLIENT_NETWORK], 10);
    near(plan.use[PLAN_SERVER_NETWORK], 20); /* 2 GB go out of the primary */
    near(plan.use[PLAN_SERVER], 4);
    near(plan.use[PLAN_DISK], 20);
    near(plan.stored, 3e9);
    near(plan.server_stored, 1e9);
    /* three shards of three on three servers: each has a primary and two secondaries of a third each */
    spec.shards = spec.servers = 3;
    plan = plan_of(spec);
    near(plan.members, 3);
    near(plan.use[PLAN_SERVER], (8 + 2 * 4) / 3.0 / 2);
    near(plan.use[PLAN_DISK], 20);
    near(plan.use[PLAN_SERVER_NETWORK], 10); /* 1 GB comes in, 2/3 go out */
}

/* The servers load: what is for oneself does not leave. */
TEST(loaders_on_the_servers) {
    plan_spec_t spec = {GIGABYTE, .network = 100e6};
    near(plan_of(spec).use[PLAN_SERVER_NETWORK], 0);
    spec.shards = 4;
    near(plan_of(spec).use[PLAN_SERVER_NETWORK], 1.875); /* 250 MB each, three quarters from elsewhere */
    near(plan_of(spec).use[PLAN_CLIENT_NETWORK], 0);
}

TEST(lanes) {
    const struct {
        double shards, least, most, largest;
    } cases[] = {{1, 1024, 1024, 1},           {4, 256, 256, 1}, {3, 341, 342, 342 * 3 / 1024.},
                 {216, 4, 5, 5 * 216 / 1024.}, {1024, 1, 1, 1},  {1000, 1, 2, 2000 / 1024.}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_spec_t spec = {GIGABYTE, .by_lanes = true, .loaders = 1, .cores = 1, .primary_us = 10};
        spec.shards = cases[i].shards;
        plan_t plan = plan_of(spec);
        near(plan.lanes_least, cases[i].least);
        near(plan.lanes_most, cases[i].most);
        near(plan.largest_shard, cases[i].largest);
        near(plan.use[PLAN_SERVER], 10 * cases[i].largest / cases[i].shards);
        spec.by_lanes = false;
        near(plan_of(spec).use[PLAN_SERVER], 10 / cases[i].shards);
    }
}

/* 10 shards on 4 servers: the fullest has 3 of them. */
TEST(uneven_servers) {
    plan_spec_t spec = {GIGABYTE, .servers = 4, .cores = 1, .loaders = 1, .primary_us = 10};
    spec.shards = 10;
    near(plan_of(spec).use[PLAN_SERVER], 3);
    spec.server_rate = (plan_rate_t){.documents = 1e5};
    near(plan_of(spec).use[PLAN_SERVER], 3);
}

TEST(placing) {
    plan_spec_t spec = {GIGABYTE, .shard_rate = {.documents = 1e6}};
    spec.shards = 64;
    plan_t plan = plan_of(spec);
    near(plan.placing, 0.2226);
    near(plan.load, 1 / 64. + 0.2226);
}

TEST(afterwards) {
    plan_spec_t spec = {GIGABYTE,
                        .index_us = 5,
                        .scan_us = 2,
                        .cores = 4,
                        .stored_ratio = 0.5,
                        .disk_read = 25e6,
                        .disk_write = 10e6,
                        .ram_bytes = 600e6,
                        .index_count = 2,
                        .indexes = {{"a:1", 7}, {"b:1", 87}}};
    plan_t plan = plan_of(spec);
    near(plan.index_bytes, 1e6 * (7 + 13 + 87 + 13));
    near(plan.indexes[0].seconds, 5); /* 20 MB are written in 2 s */
    assert_int_equal(plan.indexes[0].limit, PLAN_BY_CPU);
    near(plan.indexes[1].seconds, 10);
    assert_int_equal(plan.indexes[1].limit, PLAN_BY_WRITE);
    near(plan.index_seconds, 15);
    near(plan.scan.seconds, 2); /* 500 MB fit into memory */
    spec.ram_bytes = 400e6;
    plan = plan_of(spec);
    near(plan.scan.seconds, 20);
    assert_int_equal(plan.scan.limit, PLAN_BY_READ);
    spec.disk_read = 0;
    spec.shards = 8; /* on one server: 8 looks at an eighth each, on 4 cores */
    spec.servers = 1;
    near(plan_of(spec).scan.seconds, 0.5);
}

TEST(memory_and_price) {
    plan_spec_t spec = {GIGABYTE,          .shard_rate = {.documents = 1e6 / 7200},
                        .price = 3,        .disk_bytes = 3e8,
                        .stored_ratio = 1, .ram_bytes = 9. * (1 << 30)};
    plan_t plan = plan_of(spec);
    near(plan.cache, 4. * (1 << 30));
    near(plan.server_all, 1e9);
    near(plan.hour, 3);
    near(plan.cost, 6);
    near(plan.servers_needed, 4);
    spec.replicas = 3;
    spec.disk_bytes = 1e12;
    near(plan_of(spec).servers_needed, 3);
    spec.ram_bytes = 1 << 30;
    near(plan_of(spec).cache, 256 << 20);
}

/* Half of the time needs everything that takes more than half of it, and nothing else. */
TEST(halving) {
    plan_spec_t spec = {GIGABYTE,
                        .shard_rate = {.documents = 1e5},
                        .loaders = 1,
                        .loader_rate = {.documents = 125e3},
                        .disk_write = 250e6,
                        .stored_ratio = 1};
    plan_t plan = plan_of(spec);
    near(plan.load, 10);
    near(plan_ease(&plan, PLAN_SHARD), 2);
    near(plan_ease(&plan, PLAN_CLIENT_CPU), 1.6);
    near(plan_ease(&plan, PLAN_DISK), 1);
    spec.shard_rate.documents *= plan_ease(&plan, PLAN_SHARD);
    spec.loader_rate.documents *= plan_ease(&plan, PLAN_CLIENT_CPU);
    near(plan_of(spec).load, 5);
}

/* Chunks are laid out all the same: 1,000 shards take about 3.5 s of 13.5, so 10 s of a router must become
 * less than a half of it. With one of ten times the speed no router makes half of 4.5 s. */
TEST(halving_with_chunks) {
    plan_spec_t spec = {GIGABYTE, .routers = 1, .router_rate = {.documents = 1e5}};
    spec.shards = 1000;
    plan_t plan = plan_of(spec);
    const double whole = plan.load;
    assert_true(whole > 13 && whole < 14);
    spec.router_rate.documents *= plan_ease(&plan, PLAN_ROUTER);
    near(plan_of(spec).load, whole / 2);
    spec.router_rate.documents = 1e6;
    plan = plan_of(spec);
    assert_true(plan.load > 4 && plan.load < 5);
    near(plan_ease(&plan, PLAN_ROUTER), 1);
}

/* What is given stays; what is not is as measured. */
TEST(fill_in) {
    plan_spec_t spec = {GIGABYTE, .client_us = 7};
    plan_fill_in(&spec, "zlib", 0);
    near(spec.client_us, 7);
    near(spec.stored_ratio, 0.31);
    near(spec.primary_us, 1.70 + 3.8 + 3.8 + 7.4);
    near(spec.log_ratio, 0.44);
    plan_spec_t cluster = {GIGABYTE};
    cluster.shards = 2;
    plan_fill_in(&cluster, "none", 0.2);
    near(cluster.primary_us, 7.41 + 5.4);
    near(cluster.log_ratio, 0.5);
}

TEST(check) {
    const struct {
        plan_spec_t spec;
        const char *words;
    } cases[] = {
        {{.documents = 0, .document_bytes = 100, .shards = 1, .replicas = 1}, "there are no documents"},
        {{.documents = 1, .document_bytes = 4, .shards = 1, .replicas = 1}, "BSON takes 5"},
        {{.documents = 1, .document_bytes = 17 << 20, .shards = 1, .replicas = 1}, "16 MiB"},
        {{.documents = 1, .document_bytes = 100, .shards = 2, .replicas = 2, .servers = 5}, "1 of them"},
        {{.documents = 1, .document_bytes = 100, .shards = 2, .replicas = 3, .servers = 2}, "two copies"},
    };
    err_t err = {.text = ""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(plan_check(&cases[i].spec, &err));
        assert_int_equal(err.status, STATUS_USAGE);
        assert_non_null(strstr(err.text, cases[i].words));
    }
    plan_spec_t fine = {GIGABYTE, .servers = 1};
    assert_true(plan_check(&fine, &err));
}

/* labrouter: a router for test clusters, for hosts that have a mongod and no mongos. See --help. */
#include "labrouter/session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STOP_SECONDS = 3 };

static const char HELP[] =
    "labrouter --port P --via HOST:PORT[,...] --config HOST:PORT[,...] [options]\n"
    "\n"
    "A test tool: a router for a sharded cluster on this host, where there is a mongod and no mongos. To\n"
    "drivers it looks like a mongos; the routing code inside `mongod --shardsvr` (tried: 6.0) does it.\n"
    "Never use it for data that matter. It refuses transactions and change streams; findAndModify works\n"
    "only on collections that are not sharded; it is the only write that is done once when it comes twice.\n"
    "\n"
    "  --port P            where it listens; 0: a free port\n"
    "  --bind ADDRESS      an address of the loopback interface (127.0.0.1)\n"
    "  --via HOSTS         members of shards; the first that is a primary does the routing\n"
    "  --config HOSTS      members of the config server\n"
    "  --user U            where the cluster wants logins: who the router is; U needs the role __system\n"
    "  --password-file F   its password. The cluster itself is --user __system --password-file KEYFILE\n"
    "  --tls-cert F.pem    TLS on both sides: the certificate, with its key\n"
    "  --tls-ca F.pem      the authority that servers are held against\n"
    "  --fault FAULT       misbehave: WHAT[,command=NAME][,after=N][,count=N][,every=N][,ms=N], where WHAT "
    "is\n"
    "                        drop         close the connection, forward nothing\n"
    "                        lose-reply   close the connection when the servers have done it\n"
    "                        cut          send half of the reply, then close the connection\n"
    "                        delay, delay-reply   wait ms before the command, before the reply\n"
    "                        not-primary  answer NotWritablePrimary, forward nothing\n"
    "                      to count (1) messages, every N-th, once N have passed; may be given several "
    "times\n"
    "\n"
    "It prints one line when it listens. SIGTERM and SIGINT end it.\n"
    "\n"
    "  labrouter --port 27017 --via 127.0.0.1:27101,127.0.0.1:27102 --config 127.0.0.1:27100\n"
    "  labrouter ... --fault lose-reply,command=insert,after=10\n"
    "\n"
    "While it runs, the command labrouter, on any database, reports and sets the same:\n"
    "  {labrouter: 1}                 counts of messages and connections, what faults are left, who routes\n"
    "  {labrouter: 1, fault: {do: \"delay\", command: \"insert\", ms: 200, count: 5}}\n"
    "  {labrouter: 1, clear: true}    no more faults\n";

/* ---- clients ---- */

typedef struct client client_t;

typedef struct {
    router_t router;
    pthread_mutex_t lock; /* of the list */
    pthread_cond_t gone;
    client_t *clients;
} house_t;

struct client {
    house_t *house;
    client_t *next;
    int fd;
    int32_t number;
};

static void *client_run(void *argument) {
    client_t *client = argument;
    house_t *house = client->house;
    stream_t *stream = stream_accept(client->fd);
    if (stream_handshake(stream, house->router.tls))
        session_serve(&house->router, stream, client->number);
    /* Closed under the lock, as the number of a file may be taken again at once; and nothing is left to do
     * when the main thread is notified, which may end the program. */
    pthread_mutex_lock(&house->lock);
    client_t **at = &house->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    stream_destroy(stream);
    free(client);
    stream_leave_thread();
    pthread_cond_signal(&house->gone);
    pthread_mutex_unlock(&house->lock);
    return NULL;
}

static void client_start(house_t *house, int fd) {
    static int32_t number;
    pthread_t thread;
    pthread_attr_t attributes;
    client_t *client = calloc(1, sizeof *client);
    *client = (client_t){.house = house, .fd = fd, .number = ++number};
    pthread_mutex_lock(&house->lock);
    client->next = house->clients;
    house->clients = client;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, client_run, client) != 0) {
        house->clients = client->next;
        close(fd);
        free(client);
    }
    pthread_attr_destroy(&attributes);
    pthread_mutex_unlock(&house->lock);
}

/* Closes every client's connection and waits for the threads; one that waits for a server is left. */
static bool clients_end(house_t *house) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_SECONDS;
    pthread_mutex_lock(&house->lock);
    for (client_t *client = house->clients; client; client = client->next)
        shutdown(client->fd, SHUT_RDWR);
    while (house->clients && pthread_cond_timedwait(&house->gone, &house->lock, &until) == 0)
        ;
    const bool all = !house->clients;
    pthread_mutex_unlock(&house->lock);
    return all;
}

/* ---- the program ---- */

static _Noreturn void die(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    fputs("labrouter: ", stderr);
    vfprintf(stderr, words, arguments);
    fputc('\n', stderr);
    exit(1);
}

static char **split_hosts(char *words) {
    size_t count = 0;
    char **hosts = calloc(strlen(words) / 2 + 2, sizeof *hosts);
    for (char *host; (host = strsep(&words, ","));)
        if (*host)
            hosts[count++] = host;
    return hosts;
}

/* A key file may hold spaces and ends of lines, which do not count; another password may hold spaces, which
 * do. */
static char *read_password(const char *path, bool is_key) {
    char *text = calloc(1, 4096), *to = text;
    FILE *file = fopen(path, "r");
    if (!file)
        die("--password-file %s: %s", path, strerror(errno));
    text[fread(text, 1, 4095, file)] = '\0';
    fclose(file);
    text[strcspn(text, "\r\n")] = is_key ? text[strcspn(text, "\r\n")] : '\0';
    for (const char *from = text; is_key && *from; from++)
        if (!strchr(" \t\r\n", *from))
            *to++ = *from;
    if (is_key)
        *to = '\0';
    return text;
}

static int listen_at(router_t *router) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(router->port)};
    socklen_t size = sizeof address;
    const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, router->bind, &address.sin_addr) != 1 ||
        ntohl(address.sin_addr.s_addr) >> 24 != 127)
        die("--bind %s is not an address of the loopback interface, such as 127.0.0.1", router->bind);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1024) != 0)
        die("cannot listen on %s:%u: %s", router->bind, router->port, strerror(errno));
    getsockname(fd, (struct sockaddr *)&address, &size);
    router->port = ntohs(address.sin_port);
    return fd;
}

static uint16_t parse_port(const char *words) {
    char *end;
    const unsigned long port = strtoul(words, &end, 10);
    if (!*words || *end || port > UINT16_MAX)
        die("--port %s is not a number from 0 to 65535", words);
    return (uint16_t)port;
}

static void parse(router_t *router, int count, char **words) {
    static const struct option OPTIONS[] = {
        {"port", required_argument, NULL, 'p'},
        {"bind", required_argument, NULL, 'b'},
        {"via", required_argument, NULL, 'v'},
        {"config", required_argument, NULL, 'c'},
        {"user", required_argument, NULL, 'u'},
        {"password-file", required_argument, NULL, 'w'},
        {"tls-cert", required_argument, NULL, 't'},
        {"tls-ca", required_argument, NULL, 'a'},
        {"fault", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *password_file = NULL, *certificate = NULL, *authority = NULL, *port = NULL;
    fault_t fault;
    problem_t problem;
    for (int option; (option = getopt_long(count, words, "", OPTIONS, NULL)) != -1;)
        switch (option) {
        case 'p':
            port = optarg;
            break;
        case 'b':
            router->bind = optarg;
            break;
        case 'v':
            router->via = split_hosts(optarg);
            break;
        case 'c':
            router->config = split_hosts(optarg);
            break;
        case 'u':
            router->user = optarg;
            break;
        case 'w':
            password_file = optarg;
            break;
        case 't':
            certificate = optarg;
            break;
        case 'a':
            authority = optarg;
            break;
        case 'f':
            if (!fault_parse(optarg, &fault, &problem) || !faults_add(&router->faults, &fault, &problem))
                die("--fault %s: %s", optarg, problem.text);
            break;
        case 'h':
            fputs(HELP, stdout);
            exit(0);
        default:
            exit(1);
        }
    if (!port || !router->via || !router->config || optind != count)
        die("--port, --via and --config are needed, and nothing but options; see labrouter --help");
    if (!router->user != !password_file)
        die("--user and --password-file go together");
    router->port = parse_port(port);
    if (password_file)
        router->password = read_password(password_file, strcmp(router->user, "__system") == 0);
    if ((certificate || authority) && !certificate)
        die("--tls-ca needs --tls-cert");
    if (certificate && !(router->tls = tls_new(certificate, authority, &problem)))
        die("%s", problem.text);
}

int main(int count, char **words) {
    static house_t house = {.router = {.bind = "127.0.0.1",
                                       .lock = PTHREAD_MUTEX_INITIALIZER,
                                       .faults.lock = PTHREAD_MUTEX_INITIALIZER},
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .gone = PTHREAD_COND_INITIALIZER};
    router_t *router = &house.router;
    sigset_t signals;
    parse(router, count, words);
    const int listener = listen_at(router);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    const int stop = signalfd(-1, &signals, SFD_CLOEXEC);

    printf("labrouter listens on %s:%u\n", router->bind, router->port);
    fflush(stdout);
    struct pollfd waits[] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    while (!waits[1].revents) {
        if (poll(waits, 2, -1) <= 0 || !waits[0].revents)
            continue;
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            client_start(&house, fd);
    }
    close(listener);
    if (!clients_end(&house))
        _exit(0);
    tls_destroy(router->tls);
    free(router->via);
    free(router->config);
    free(router->password);
    return 0;
}

#include "base/host.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t host_peak_memory(void) {
    /* not ru_maxrss, which survives exec: it may be that of the shell or script that started us */
    unsigned long long kilobytes = 0;
    char status[4096];
    host_read_file("/proc/self/status", status, sizeof status);
    const char *const peak = strstr(status, "\nVmHWM:");
    if (peak)
        sscanf(peak, "\nVmHWM: %llu kB", &kilobytes);
    return kilobytes * 1024;
}

/* The count contains connections to earlier servers, which end in the background. */
static uint64_t count_open(void) {
    uint64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

bool host_want_descriptors(const char *options, uint64_t count, err_t *err) {
    enum { OPEN_ALREADY = 8 }; /* stdin, stdout, stderr, and what libraries keep open */
    struct rlimit limit;
    count += OPEN_ALREADY;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    const uint64_t had = limit.rlim_cur, wanted = count + count_open();
    if (had < wanted) {
        limit.rlim_cur = limit.rlim_max < 2 * wanted ? limit.rlim_max : (rlim_t)(2 * wanted);
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            limit.rlim_cur = (rlim_t)had;
    }
    if (limit.rlim_cur >= count)
        return true;
    return err_set(
        err, STATUS_HOST,
        "this process may have %llu open files, and needs about %llu: raise the limit (ulimit -n) or lower "
        "%s",
        (unsigned long long)had, (unsigned long long)count, options);
}

bool host_has_descriptors(err_t *err) {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != EMFILE && errno != ENFILE) ||
           err_set(err, STATUS_HOST,
                   "too many open files %s: raise the limit (%s), then run the same command again",
                   errno == EMFILE ? "in this process" : "on this host",
                   errno == EMFILE ? "ulimit -n" : "fs.file-max");
}

static void *do_nothing(void *context) {
    return context;
}

bool host_has_threads(err_t *err) {
    pthread_t thread;
    const bool can = pthread_create(&thread, NULL, do_nothing, NULL) == 0;
    if (can)
        pthread_join(thread, NULL);
    return can || err_set(err, STATUS_HOST,
                          "there is not enough memory to start a thread, or too many threads run: raise the "
                          "limit (ulimit -v, ulimit -u, or that of the container), then run the same "
                          "command again");
}

void host_read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "re");
    const size_t got = file ? fread(text, 1, size - 1, file) : 0;
    text[got] = '\0';
    if (file)
        fclose(file);
}

void host_processes(char name[HOST_PROCESSES]) {
    char boot[64] = "", space[48] = "";
    host_read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    const bool ok = boot[0] && readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0;
    boot[strcspn(boot, "\n")] = '\0';
    snprintf(name, HOST_PROCESSES, "%s%s%s", ok ? boot : "", ok ? " " : "", ok ? space : "");
}

/* ---- authorities ---- */

/* True if OpenSSL finds authorities by itself, or the environment names some for OpenSSL. */
static bool openssl_has_authorities(const char *root) {
    char path[PATH_MAX];
    glob_t hashed = {.gl_pathc = 0};
    if (getenv(X509_get_default_cert_file_env()) || getenv(X509_get_default_cert_dir_env()))
        return true;
    snprintf(path, sizeof path, "%s%s", root, X509_get_default_cert_file());
    if (access(path, R_OK) == 0)
        return true;
    snprintf(path, sizeof path, "%s%s/*.0", root, X509_get_default_cert_dir());
    const bool any = glob(path, GLOB_NOSORT, NULL, &hashed) == 0;
    globfree(&hashed);
    return any;
}

bool host_find_authorities(const char *root, char path[PATH_MAX]) {
    static const char *const kept[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Red Hat */
        "/etc/ssl/ca-bundle.pem",             /* SUSE */
        "/etc/ssl/cert.pem",                  /* Alpine */
    };
    if (openssl_has_authorities(root))
        return false;
    for (size_t i = 0; i < COUNT(kept); i++) {
        snprintf(path, PATH_MAX, "%s%s", root, kept[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

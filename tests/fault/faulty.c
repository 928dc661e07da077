/* faulty: the command, linked anew so that the n-th allocation or the n-th read or write of a run fails. Runs are
 * made by forks of this one process, so that each takes as long as the command itself and no more.
 *
 * Each line of stdin asks for a run, with tabs between its words:
 *     KIND  N  STDIN  WORD...          the command gets the WORDs, and the file STDIN as its standard input
 * and each answer is a line, and after it what the run has printed, that many bytes each:
 *     STATUS  SEEN  FIRED  STDOUT-BYTES  STDERR-BYTES      STATUS: -SIGNAL where one ended it; "hangs"
 * SEEN: how many of the kind there were; FIRED: how many of them failed.
 *
 *     none       nothing fails; SEEN counts allocations
 *     memory     the N-th allocation fails; threads, opened files and folders are allocations, too
 *     memory-on  so do all that follow
 *     io-none    nothing fails; SEEN counts calls
 *     io-eio     the N-th call that opens, reads, writes, syncs or renames a file, a pipe or a terminal fails: EIO
 *     io-full    ENOSPC, of what writes, syncs, renames or opens for writing
 *     io-stop    Ctrl-C comes during a read, a write, or an opening for reading: EINTR
 *     io-short   of reads and writes: it moves one byte
 *
 * Memory: the linker puts the functions below (--wrap) in the place of the C library's, in tipple and in the static
 * libraries that are linked (libyaml, zlib, libzstd). The driver is a shared library; what it asks for comes through
 * the functions that tipple gives it.
 *
 * Reads and writes: stdio calls the kernel by itself, which nothing can be linked or preloaded before. So a seccomp
 * filter turns these calls into a signal, whose handler makes the call, or fails. The handler's own calls are
 * known by a mark in an argument that they do not use. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

int tipple_main(int argc, char **argv);

enum { LONGEST_RUN_S = 120, MOST_WORDS = 64, LONGEST_REQUEST = 16384 };

typedef enum { NOTHING, MEMORY, MEMORY_ON, IO_NOTHING, IO_EIO, IO_FULL, IO_STOP, IO_SHORT, KINDS } fault_t;

static const char *const kinds[KINDS] = {"none",   "memory",  "memory-on", "io-none",
                                         "io-eio", "io-full", "io-stop",   "io-short"};

/* Shared by a run and who started it. */
static struct { _Atomic uint64_t seen, fired; } * counts;

static fault_t kind;
static uint64_t number;
static atomic_bool armed;

/* ---- memory ---- */

static bool fails(void) {
    if (!armed || kind > MEMORY_ON)
        return false;
    const uint64_t seen = ++counts->seen;
    if (kind == NOTHING || (kind == MEMORY ? seen != number : seen < number))
        return false;
    ++counts->fired;
    errno = ENOMEM;
    return true;
}

#define WRAP(result, name, failure, parameters, arguments)                                                   \
    result __real_##name parameters;                                                                         \
    result __wrap_##name parameters;                                                                         \
    result __wrap_##name parameters {                                                                        \
        return fails() ? (failure) : __real_##name arguments;                                                \
    }

WRAP(void *, malloc, NULL, (size_t size), (size))
WRAP(void *, calloc, NULL, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, NULL, (void *old, size_t size), (old, size))
WRAP(void *, aligned_alloc, NULL, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strdup, NULL, (const char *text), (text))
WRAP(char *, strndup, NULL, (const char *text, size_t most), (text, most))
WRAP(ssize_t, getline, -1, (char **line, size_t *room, FILE *file), (line, room, file))
WRAP(ssize_t, __getdelim, -1, (char **line, size_t *room, int end, FILE *file), (line, room, end, file))
WRAP(char *, realpath, NULL, (const char *path, char *out), (path, out))
WRAP(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, open_memstream, NULL, (char **text, size_t *length), (text, length))
WRAP(DIR *, opendir, NULL, (const char *path), (path))
WRAP(int, scandir, -1,
     (const char *path, struct dirent ***names, int (*is)(const struct dirent *),
      int (*by)(const struct dirent **, const struct dirent **)),
     (path, names, is, by))
WRAP(int, getaddrinfo, EAI_MEMORY,
     (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out),
     (name, service, hints, out))
WRAP(int, getifaddrs, -1, (struct ifaddrs * *out), (out))
WRAP(int, pthread_create, EAGAIN,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context),
     (thread, attributes, run, context))

int __wrap_asprintf(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *fmt, ...) {
    if (fails()) {
        *out = NULL; /* the C library leaves it undefined */
        return -1;
    }
    va_list args;
    va_start(args, fmt);
    const int length = vasprintf(out, fmt, args);
    va_end(args);
    return length;
}

/* ---- reads and writes ---- */

enum { ARGUMENTS = 6 };
static const uint32_t MARK = 0x7a9e1d35;

typedef enum { OPENS, READS, WRITES, SETTLES } does_t; /* settles: syncs, renames, changes a length */

static const struct {
    int number;
    does_t does;
} calls[] = {
    {SYS_openat, OPENS},      {SYS_read, READS},        {SYS_pread64, READS}, {SYS_getdents64, READS},
    {SYS_write, WRITES},      {SYS_pwrite64, WRITES},   {SYS_writev, WRITES}, {SYS_fsync, SETTLES},
    {SYS_ftruncate, SETTLES}, {SYS_renameat2, SETTLES},
#ifdef SYS_open
    {SYS_open, OPENS},        {SYS_rename, SETTLES},
#endif
};
enum { CALLS = sizeof calls / sizeof *calls };

/* What belongs to the kernel and what is a connection is left alone. */
static bool counts_as_file(does_t does, int call, const uint64_t *arguments) {
    if (call == SYS_openat)
        return strncmp((const char *)arguments[1], "/proc/", 6) != 0;
    if (does == OPENS || (does == SETTLES && call != SYS_fsync && call != SYS_ftruncate))
        return true;
    struct stat status;
    struct statfs file_system;
    const int fd = (int)arguments[0];
    if (fstat(fd, &status) != 0 || S_ISSOCK(status.st_mode) || fstatfs(fd, &file_system) != 0)
        return false;
    return file_system.f_type != PROC_SUPER_MAGIC && file_system.f_type != SYSFS_MAGIC &&
           file_system.f_type != ANON_INODE_FS_MAGIC;
}

static bool opens_for_writing(int call, const uint64_t *arguments) {
    return ((call == SYS_openat ? arguments[2] : arguments[1]) & O_ACCMODE) != O_RDONLY;
}

static int error_of(does_t does, int call, const uint64_t *arguments) {
    const bool writes =
        does == WRITES || does == SETTLES || (does == OPENS && opens_for_writing(call, arguments));
    switch (kind) {
    case IO_EIO:
        return EIO;
    case IO_FULL:
        return writes ? ENOSPC : 0;
    case IO_STOP: /* folders and what is created are never waited for */
        return call == SYS_getdents64 || does == SETTLES || (does == OPENS && writes) ? 0 : EINTR;
    default:
        return 0;
    }
}

static long make(int call, const uint64_t *a) {
    const long result = syscall(call, a[0], a[1], a[2], a[3], a[4], (uint64_t)MARK);
    return result < 0 ? -errno : result;
}

static long one_byte(int call, const uint64_t *arguments) {
    uint64_t less[ARGUMENTS];
    memcpy(less, arguments, sizeof less);
    if (call == SYS_writev) {
        const struct iovec *piece = (const struct iovec *)arguments[1];
        for (uint64_t i = 0; i + 1 < arguments[2] && !piece->iov_len; i++)
            piece++;
        const struct iovec first = {piece->iov_base, piece->iov_len > 1};
        less[1] = (uint64_t)&first;
        less[2] = 1;
        return make(call, less);
    }
    if (call != SYS_getdents64 && less[2] > 1)
        less[2] = 1;
    return make(call, less);
}

static long make_or_fail(does_t does, int call, const uint64_t *arguments) {
    if (!armed || !counts_as_file(does, call, arguments) || ++counts->seen != number || kind == IO_NOTHING)
        return make(call, arguments);
    const int error = error_of(does, call, arguments);
    const bool shortened = kind == IO_SHORT && (does == READS || does == WRITES);
    counts->fired += error || shortened;
    if (error && kind == IO_STOP)
        raise(SIGINT);
    return error ? -error : shortened ? one_byte(call, arguments) : make(call, arguments);
}

static void on_call(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number;
    const int kept = errno, call = info->si_syscall;
    ucontext_t *at = context;
#if defined __x86_64__
    greg_t *registers = at->uc_mcontext.gregs;
    const uint64_t arguments[ARGUMENTS] = {(uint64_t)registers[REG_RDI], (uint64_t)registers[REG_RSI],
                                           (uint64_t)registers[REG_RDX], (uint64_t)registers[REG_R10],
                                           (uint64_t)registers[REG_R8],  (uint64_t)registers[REG_R9]};
    greg_t *result = &registers[REG_RAX];
#elif defined __aarch64__
    unsigned long long *registers = at->uc_mcontext.regs, *result = registers;
    uint64_t arguments[ARGUMENTS];
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = registers[i];
#else
#error "where are the arguments of a call on this machine?"
#endif
    does_t does = READS;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == call)
            does = calls[i].does;
    const long made = make_or_fail(does, call, arguments);
#if defined __x86_64__
    *result = made;
#else
    *result = (unsigned long long)made;
#endif
    errno = kept;
}

static void trap_calls(void) {
    struct sock_filter filter[2 * CALLS + 8];
    unsigned short n = 0;
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        filter[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {n, filter};
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        _exit(99);
    }
}

/* ---- runs ---- */

typedef struct {
    char *words[MOST_WORDS + 1];
    int count;
    int out, err;
} request_t;

static void disarm(void) {
    armed = false;
}

static void run(const request_t *request, const char *input) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int from = open(input, O_RDONLY);
    if (from < 0 || dup2(from, 0) < 0 || dup2(request->out, 1) < 0 || dup2(request->err, 2) < 0)
        _exit(99);
    close(from);
    atexit(disarm);
    if (kind >= IO_NOTHING)
        trap_calls();
    armed = true;
    exit(tipple_main(request->count, (char **)request->words));
}

/* -SIGNAL, or what it exited with; INT_MIN: it hangs. */
static int end_of(pid_t child) {
    const struct timespec patience = {LONGEST_RUN_S, 0};
    sigset_t ends;
    int status;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
        if (sigtimedwait(&ends, NULL, &patience) < 0 && errno == EAGAIN)
            break;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return INT32_MIN;
}

static void copy_out(int fd, off_t size) {
    char bytes[4096];
    lseek(fd, 0, SEEK_SET);
    while (size > 0) {
        const ssize_t got = read(fd, bytes, sizeof bytes);
        if (got <= 0)
            abort();
        fwrite(bytes, 1, (size_t)got, stdout);
        size -= got;
    }
}

static off_t size_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_size : 0;
}

static void answer(char *line) {
    char *rest = line;
    const char *kind_word = strsep(&rest, "\t"), *number_word = strsep(&rest, "\t"),
               *input = strsep(&rest, "\t");
    request_t request = {.words = {"tipple"}, .count = 1};
    while (rest && request.count < MOST_WORDS)
        request.words[request.count++] = strsep(&rest, "\t");
    for (kind = NOTHING; kind < KINDS && strcmp(kinds[kind], kind_word) != 0; kind++)
        ;
    if (kind == KINDS || !number_word || !input)
        abort();
    number = strtoull(number_word, NULL, 10);
    counts->seen = counts->fired = 0;
    request.out = memfd_create("out", 0);
    request.err = memfd_create("err", 0);
    const pid_t child = fork();
    if (child == 0)
        run(&request, input);
    const int status = end_of(child);
    const off_t out = size_of(request.out), err = size_of(request.err);
    if (status == INT32_MIN)
        printf("hangs");
    else
        printf("%d", status);
    printf("\t%llu\t%llu\t%lld\t%lld\n", (unsigned long long)counts->seen, (unsigned long long)counts->fired,
           (long long)out, (long long)err);
    copy_out(request.out, out);
    copy_out(request.err, err);
    fflush(stdout);
    close(request.out);
    close(request.err);
}

int main(void) {
    static char line[LONGEST_REQUEST];
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED)
        return 99;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        answer(line);
    }
    return 0;
}

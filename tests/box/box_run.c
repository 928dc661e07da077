/* box_run KIND... COMMAND...: runs the command against a box of each kind (standalone, replset, cluster), whose URI is
 * in TIPPLE_TEST_URI as a real server's would be. The exit status is that of the first run that fails. */
#include "box/box.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const kinds[] = {
    [BOX_STANDALONE] = "standalone", [BOX_REPLICA_SET] = "replset", [BOX_ROUTER] = "cluster"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int run(box_kind_t kind, char **command) {
    char uri[BOX_URI];
    int status;
    box_t *box = box_start(kind);
    setenv("TIPPLE_TEST_URI", box_uri(box, "", uri), 1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(*command, command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    box_stop(box);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static unsigned kind_of(const char *word) {
    unsigned kind = 0;
    while (kind < KINDS && strcmp(word, kinds[kind]) != 0)
        kind++;
    return kind;
}

int main(int count, char **words) {
    int first = 1, status = 1;
    while (first < count && kind_of(words[first]) < KINDS)
        first++;
    for (int i = 1; i < first && first < count; i++)
        if ((status = run(kind_of(words[i]), words + first)) != 0)
            break;
    return status;
}

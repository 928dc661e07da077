/* box_run COMMAND...: runs it with a box in TIPPLE_TEST_URI, where tests against real servers find theirs; its exit status. */
#include "box/box.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    char uri[BOX_URI];
    int status;
    if (count < 2)
        return 1;
    box_t *box = box_start(BOX_STANDALONE);
    setenv("TIPPLE_TEST_URI", box_uri(box, "", uri), 1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(arguments[1], arguments + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    box_stop(box);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

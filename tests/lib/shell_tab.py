#!/usr/bin/env python3
"""What a real shell makes of a line when the tab key is pressed: shell_tab.py bash|zsh|fish LINE... prints each line as it
is then. tipple is on PATH; bash and zsh sit at a terminal of ours, fish is asked by its own `complete -C`."""
import os
import pty
import re
import select
import subprocess
import sys
import time

TAB, SHOW, END = b"\t", b"\x14", b"\x04"  # SHOW prints the line, and clears it
WAIT_SECONDS = 20
PREPARE = {
    "bash": ["bind 'set enable-bracketed-paste off'", "bind 'set bell-style none'",
             "bind -x '\"\\C-t\": printf \"\\n<%s>\\n\" \"$READLINE_LINE\"; READLINE_LINE='", "source <(tipple completion bash)"],
    "zsh": ["unset zle_bracketed_paste; unsetopt beep", "autoload -U compinit; compinit -u -D",
            "show() { zle -I; print -r -- \"<$BUFFER>\"; BUFFER= }; zle -N show; bindkey '^T' show",
            "source <(tipple completion zsh)"],
}
START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


class Terminal:
    def __init__(self, shell):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="dumb", PS1="$ ", HISTFILE="/dev/null", COLUMNS="200")
            os.execvp(START[shell][0], START[shell])
        self.seen = b""
        for line in PREPARE[shell]:
            self.send(line.encode() + b"\r")
        self.send(b"echo READY$((1 + 1))\r")
        self.wait(rb"READY2")

    def send(self, what):
        os.write(self.fd, what)

    def wait(self, pattern):
        end = time.monotonic() + WAIT_SECONDS
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                sys.exit("no %r in %r" % (pattern, self.seen))
            self.seen += os.read(self.fd, 65536)

    def tab(self, line):
        self.send(line.encode() + TAB)
        self.send(SHOW)
        return self.wait(rb"[\r\n]<(.*)>\r?\n")[1].decode()

    def close(self):
        self.send(END)
        os.close(self.fd)
        os.waitpid(self.child, 0)


def fish_tab(line):
    asked = "tipple completion fish | source; complete -C (cat)"
    said = subprocess.run(["fish", "--no-config", "-c", asked], input=line, capture_output=True, text=True, check=True,
                          timeout=WAIT_SECONDS).stdout
    words = [row.split("\t")[0] for row in said.splitlines()]
    start = line[:line.rindex(" ") + 1]
    return start + (words[0] if len(words) == 1 else os.path.commonprefix(words) or line[len(start):])


def main(shell, lines):
    if shell == "fish":
        for line in lines:
            print(fish_tab(line).rstrip())
        return
    terminal = Terminal(shell)
    for line in lines:
        print(terminal.tab(line).rstrip())
    terminal.close()


main(sys.argv[1], sys.argv[2:])

#compdef tipple
# Completion of tipple in zsh: `source <(tipple completion zsh)` after compinit, or as a file _tipple in a folder of
# fpath. What can follow is asked of tipple itself, which reads the words of the line, one a line; no password gets into
# a process list.
_tipple() {
    local line files
    local -a found begun
    for line in "${(@f)$(print -rl -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" | ${(Q)~words[1]} completion --words 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            files=yes
        elif [[ $line == *: ]]; then # more follows without a blank
            begun+=("$line")
        elif [[ -n $line ]]; then
            line=${line//:/\\:}
            found+=("${line/$'\t'/:}")
        fi
    done
    (( ! $#begun )) || compadd -S '' -a begun
    (( ! $#found )) || _describe -t tipple tipple found
    [[ -z $files ]] || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tipple "$@"
else
    compdef _tipple tipple
fi

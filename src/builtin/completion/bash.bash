# shellcheck shell=bash
# Completion of tipple in bash: `source <(tipple completion bash)`, or as a file where bash looks for them. What can
# follow is asked of tipple itself, which reads the words of the line, one a line; no password gets into a process list.
_tipple() {
    local words=() joined='' word own last line files='' i
    # bash has cut words at = and :
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        last=$((${#words[@]} - 1))
        if ((last >= 0)) && [[ $joined || $word == [=:]* ]]; then
            words[last]+=$word
        else
            words+=("$word")
        fi
        joined=''
        [[ $word != [=:] ]] || joined=yes
    done
    own=${COMP_WORDS[COMP_CWORD]}
    [[ $own != [=:] ]] || own=''
    word=${words[${#words[@]} - 1]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == ':files' ]]; then
            files=yes
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line:${#word} - ${#own}}")
        fi
    done < <(printf '%s\n' "${words[@]}" | "${1/#\~/$HOME}" completion --words 2>/dev/null)
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$own")
    elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _tipple tipple

# Completion of tipple in fish: `tipple completion fish | source`, or as a file where fish looks for them. What can
# follow is asked of tipple itself, which reads the words of the line, one a line; no password gets into a process list.
function __tipple_complete
    set -l words (commandline -opc)
    set -l own (commandline -ct)
    for line in (printf '%s\n' $words[2..-1] "$own" | $words[1] completion --words 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path "$own"
        else
            printf '%s\n' $line
        end
    end
end
complete -c tipple -f -a '(__tipple_complete)'

# Runs a server and ends it when the process that started this script is gone.
# Arguments: the name of the signal that stops the server, then its command line.
# Standard input is a pipe that only that process holds: it ends when the process does.
# Standard output takes one line, the server's process id; standard error is the log.
signal=$1
shift
exec 3<&0 </dev/null 4>&1 1>&2

"$@" 3<&- 4>&- &
server=$!
echo "$server" >&4
exec 4>&-

(
    while read -r _ <&3; do :; done
    kill -s "$signal" "$server"
    # One that was frozen, with its children, hears the signal only when it goes on.
    # shellcheck disable=SC2046
    kill -s CONT "$server" $(cat /proc/"$server"/task/*/children)
    tries=50
    while [ "$tries" -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    # shellcheck disable=SC2046
    kill -s KILL "$server" $(cat /proc/"$server"/task/*/children)
) 2>/dev/null &
watcher=$!
exec 3<&-

wait "$server"
status=$?
{ kill "$watcher"; wait "$watcher"; } 2>/dev/null
exit "$status"

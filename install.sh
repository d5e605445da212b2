#!/bin/sh
# Makes .venv with all that the project needs: `make` calls it, and where there is no make a person does.
# What is missing is said in one sentence, with the command that mends it; exit code 2.
#   sh install.sh                             PYTHON=/opt/python3.12/bin/python3 sh install.sh
set -u
PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
NEEDED_MB=${NEEDED_MB:-4000}
LOG=install.log
unset PYTHONPATH PYTHONHOME  # another project's packages are none of ours

say() { printf 'install: %s\n' "$1" | sed 's#//[^@/ ]*@#//***@#g' >&2; }  # a proxy's address may hold a password
fail() { say "$1"; exit 2; }
free_mb() { df -Pk "$1" 2> /dev/null | awk 'NR == 2 { print int($4 / 1024) }'; }

cd "$(dirname "$0")" || exit 2
[ -f pyproject.toml ] || fail "pyproject.toml is not beside install.sh; get the whole project: git clone ADDRESS, and run sh install.sh in its folder"
command -v "$PYTHON" > /dev/null 2>&1 || fail "there is no $PYTHON; install it (apt install python3 python3-venv), or name one: PYTHON=/PATH/python3.11 sh install.sh"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "Python 3.11 or newer is needed, $PYTHON is $("$PYTHON" -c 'import sys; print(sys.version.split()[0])'); name a newer one: PYTHON=/PATH/python3.11 sh install.sh"
"$PYTHON" -c 'import ensurepip, venv' 2> /dev/null || fail "$PYTHON cannot make environments; install its venv (apt install python3-venv) and run sh install.sh again"
[ -w . ] || fail "this folder cannot be written; copy the project to one of yours and run sh install.sh there"
FREE=$(free_mb .)
[ "${FREE:-$NEEDED_MB}" -ge "$NEEDED_MB" ] || fail "the environment takes $NEEDED_MB MB and $FREE are free here; free some, or put it elsewhere: VENV=/OTHER/DISK/venv sh install.sh, then make run VENV=/OTHER/DISK/venv"
SCRATCH=${TMPDIR:-/tmp}
[ -d "$SCRATCH" ] && [ -w "$SCRATCH" ] || fail "the folder for temporary files, $SCRATCH, cannot be written; name another: TMPDIR=\$PWD sh install.sh"
FREE=$(free_mb "$SCRATCH")
[ "${FREE:-1000}" -ge "${SCRATCH_MB:-500}" ] || fail "only $FREE MB are free for temporary files in $SCRATCH; name another folder: TMPDIR=\$PWD sh install.sh"

# A folder that merely has a Python, like /usr, is none that may be cleared.
[ ! -e "$VENV" ] || [ -f "$VENV/pyvenv.cfg" ] || [ -e "$VENV/.stamp" ] || rmdir "$VENV" 2> /dev/null || fail "$VENV is there and is no environment, so it is not replaced; name another place: VENV=$VENV/venv sh install.sh; half an environment can be removed"

say "making $VENV: one to five minutes, once ($LOG has what uv and pip say)"
"$PYTHON" -m venv --clear "$VENV" > "$LOG" 2>&1 || fail "$PYTHON could not make $VENV ($(tail -n 1 "$LOG")); see $LOG, mend it and run sh install.sh again"
trap 'say "interrupted; what is half installed is made anew by: sh install.sh"; exit 130' INT TERM

# uv takes a quarter of pip's time. It reads none of pip's settings, so they are handed over; what it cannot do here pip
# does, or says why not. Byte code comes with the first import of a module, unless this machine is told to write none.
pip() { "$VENV/bin/pip" --disable-pip-version-check --no-input "$@"; }
told() { pip config list | sed -n "s/^[^=]*[.]$1='\\(.*\\)'\$/\\1/p" | sed 's/\\n/ /g' | head -n 1; }  # variables come first
hand() { [ -z "$2" ] || export "$1=$2"; }
by_uv() {
    pip install --quiet -c constraints.txt uv || return 1
    hand UV_DEFAULT_INDEX "$(told index-url)"
    hand UV_INDEX "$(told extra-index-url)"
    hand UV_FIND_LINKS "$(told find-links | tr ' ' ',')"
    hand UV_INSECURE_HOST "$(told trusted-host)"
    hand SSL_CERT_FILE "$(told cert)"
    hand HTTPS_PROXY "$(told proxy)"
    "$VENV/bin/uv" pip install --python "$VENV" --index-strategy unsafe-best-match \
        ${PYTHONDONTWRITEBYTECODE:+--compile-bytecode} -c constraints.txt -e ".[dev]"
}
{ (by_uv) > "$LOG" 2>&1 || pip install -c constraints.txt -e ".[dev]" > "$LOG" 2>&1; } && {
    pip uninstall --quiet --yes uv >> "$LOG" 2>&1
    touch "$VENV/.stamp"
    say "done; next: make run (without make: $VENV/bin/tucano run laptop)"
    exit 0
}
found() { grep -qiE "$1" "$LOG"; }
if found 'no space left|disk quota exceeded'; then
    fail "the disk is full; free some space and run sh install.sh again"
elif found 'proxyerror|cannot connect to proxy|407 proxy'; then
    fail "the proxy ${HTTPS_PROXY:-${https_proxy:-}} lets nothing through; name the right one: HTTPS_PROXY=http://HOST:PORT sh install.sh"
elif found 'certificate_verify_failed|sslerror'; then
    fail "the package index shows a certificate that is not trusted; name your company's: PIP_CERT=/PATH/ca.pem sh install.sh"
elif found 'name resolution|network is unreachable|failed to establish a new connection|connection refused|timed out'; then
    fail "the package index cannot be reached; connect and run sh install.sh again (behind a proxy: HTTPS_PROXY=http://HOST:PORT sh install.sh)"
elif found 'editable mode|setup.py. not found|no such option'; then
    fail "this pip is too old; take a newer one with its Python: PYTHON=/PATH/python3.12 sh install.sh"
elif found 'permission denied|read-only file system'; then
    fail "pip could not write ($(grep -iE 'permission denied|read-only' "$LOG" | tail -n 1)); make that folder writable, or: HOME=\$PWD sh install.sh"
elif found 'no matching distribution|could not find a version'; then
    fail "the package index lacks a version that constraints.txt asks for; name another index: PIP_INDEX_URL=https://pypi.org/simple sh install.sh"
fi
fail "pip failed ($(tail -n 1 "$LOG")); $LOG has all it said; mend it and run sh install.sh again"

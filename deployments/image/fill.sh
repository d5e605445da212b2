# A new virtual environment with what a lock names, by uv, which does not stay: sh fill.sh LOCK FOLDER [WORDS for uv]
# uv is installed here each time: an older Buildah mounts nothing from a stage that it takes from its cache.
set -e
lock=$1 folder=$2
shift 2
python3.11 -m venv /tmp/uv
/tmp/uv/bin/pip install --cert "$SSL_CERT_FILE" --index-url "$UV_DEFAULT_INDEX" --require-hashes -r "$(dirname "$lock")/uv.lock"
python3.11 -m venv "$folder"
/tmp/uv/bin/uv pip install --cache-dir /tmp/cache --python "$folder" --no-deps --require-hashes --link-mode copy --compile-bytecode \
    "$@" -r "$lock"
rm -r /tmp/uv "$folder/.lock"

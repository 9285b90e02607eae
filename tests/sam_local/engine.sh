#!/usr/bin/env bash
# engine.sh COMMAND...: runs a command where a Docker engine answers. Where none does it says so, and that is all; with CI=true it
# makes an engine, which lives as long as the command, and an offline base image for the functions.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ "${CI:-}" != true ]; then
  if ! docker version > /dev/null 2>&1; then
    echo "no Docker engine answers here: no function is run in a container (CI=true, as root, makes an engine)"
    exit 0
  fi
  exec "$@"
fi

start() {
  if [ "$(id -u)" != 0 ]; then
    echo "no Docker engine answers here, and only root can start one" >&2
    exit 1
  fi
  command -v dockerd > /dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends docker.io; } > /dev/null
  room=$(mktemp -d)
  export DOCKER_HOST="unix://$room/docker.sock"
  dockerd --host "$DOCKER_HOST" --data-root "$room/data" --exec-root "$room/exec" --pidfile "$room/pid" > "$room/log" 2>&1 &
  engine=$!
  trap stop EXIT
  trap 'exit 143' TERM INT
  for _ in $(seq 60); do
    ! docker version > /dev/null 2>&1 || return 0
    kill -0 "$engine" 2> /dev/null || break
    sleep 1
  done
  echo "dockerd did not come to life:" >&2
  tail -20 "$room/log" >&2
  exit 1
}

stop() {
  kill "$engine" 2> /dev/null || true
  wait "$engine" 2> /dev/null || true
  rm -rf "$room"
}

docker version > /dev/null 2>&1 || start
export SAM_LOCAL_IMAGE=pointsman/lambda-python:3.13
"$here/base_image.sh" "$SAM_LOCAL_IMAGE"
"$@"

#!/usr/bin/env bash
# base_image.sh NAME: makes an image that SAM's command takes for Lambda's python3.13, out of what this machine and its package index
# have: no image registry is asked. It holds Python, the libraries that a wheel may expect, the runtime client, and an old boto3.
set -euo pipefail
python=$(command -v python3.13)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# What SAM's own steps in the image call.
command -v busybox > /dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends busybox-static; } > /dev/null
mkdir -p "$root"/{bin,opt,tmp,var/{lang/{bin,lib},runtime,task,rapid}}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh mv cp rm chmod; do ln -s busybox "$root/bin/$name"; done

# Python at /var/lang, as in Lambda.
library=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
cp "$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$root/var/lang/bin/python3.13"
tar -C "$(dirname "$library")" --exclude=site-packages --exclude=dist-packages --exclude=test --exclude=__pycache__ --exclude='config-3.13*' \
  --exclude='_tkinter*' -c python3.13 | tar -C "$root/var/lang/lib" -x
# The libraries that Python's own modules are linked to, and those that a manylinux wheel may expect (PEP 599).
linked=$(ldd "$root/var/lang/bin/python3.13" "$root"/var/lang/lib/python3.13/lib-dynload/*.so | grep -oE '/\S+\.so\S*' | sort -u)
beside=$(dirname "$(grep -m 1 '/libc\.so' <<< "$linked")")
expected=$(ls "$beside"/lib{gcc_s,stdc++,m,dl,rt,pthread,util,resolv,nss_files,nss_dns}.so.[0-9])
grep -v "^$root" <<< "$linked"$'\n'"$expected" | xargs -I{} cp --parents -L {} "$root"

# The managed runtime brings a boto3 that lags behind; this one is years old, so that what works here works by the layer's.
"$python" -m pip install -qq --no-deps --require-hashes --only-binary :all: --target "$root/var/runtime" --requirement requirements/lambda.txt
cat > "$root/var/runtime/bootstrap" << 'RUN'
#!/bin/sh
exec /var/lang/bin/python3.13 -m awslambdaric "$_HANDLER"
RUN
chmod +x "$root/var/runtime/bootstrap"

# The order in which Lambda's Python looks: the function's folder, layers, the runtime's own packages.
tar -C "$root" -c . | docker import --change 'ENV PATH=/var/lang/bin:/bin PYTHONPATH=/opt/python:/var/runtime' --change 'WORKDIR /var/task' - "$1" > /dev/null
echo "made the base image $1, with no registry: $("$python" --version), boto3 $(docker run --rm "$1" python3.13 -c 'import boto3; print(boto3.__version__)') in /var/runtime"

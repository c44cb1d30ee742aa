# A machine that has Rust and nothing else. README's commands run on it as they are printed there:
#
#   docker build --tag heirloom-bare . && docker run --rm --privileged heirloom-bare
#
# --privileged is for the tests that fill a disk: they mount a small one, which a container may not by itself.
FROM rust:1.95.0-slim-bookworm
WORKDIR /heirloom
COPY . .
CMD [".ci/run"]

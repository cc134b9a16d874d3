"""Serves a GGUF model on the loopback with llama.cpp's own server; run by the interpreter of `install_local_model`. Prints its address when it is ready."""

from __future__ import annotations

import argparse
import signal
import threading

import xllamacpp


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("port", type=int)
    parser.add_argument("--embedding", action="store_true")
    parser.add_argument("--ctx", type=int, default=2048, help="tokens, shared by all slots")
    parser.add_argument("--slots", type=int, default=2, help="`n` of a request may not exceed it")
    parser.add_argument("--api-key", action="append", default=[])
    given = parser.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.hostnames = ["127.0.0.1"]
    params.port = given.port
    params.n_ctx = given.ctx
    params.n_parallel = given.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # on a shared machine of two cores a second thread makes it slower
    params.model_alias = {"smollm2"}
    params.use_jinja = True
    params.api_keys = given.api_key
    params.embedding = given.embedding
    if given.embedding:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    stop.wait()
    del server


if __name__ == "__main__":
    main()

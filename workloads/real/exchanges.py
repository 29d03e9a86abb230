# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Entries of the library: flows, storage, and exchanges among equals."""

import csv
import os

from config_text import Call, Test, Work, open_loop

HERE = os.path.dirname(os.path.abspath(__file__))


def _table(entry, name):
    """(value, share) of a table of cumulative percentages."""
    with open(os.path.join(HERE, entry, name), encoding="utf-8") as file:
        return [(int(row[0]), float(row[1]) / 100) for row in list(csv.reader(file))[1:]]


def _flows(entry, rate):
    test = Test(entry)
    test.service("host", 4)
    test.rpc("flow", "host", "host", request="flow_sizes", fanout="random")
    test.load("host", {"send_flows": open_loop('rpc_name: "flow"', rate)})
    test.sizes("flow_sizes", _table(entry, "flow_sizes.csv"))
    return test


def web_search():
    return _flows("web_search", 10)


def facebook_hadoop():
    return _flows("facebook_hadoop", 50)


def ali_storage():
    return _flows("ali_storage", 200)


def google_rpc_2008():
    return _flows("google_rpc_2008", 500)


def all_reduce_ring():
    """Each chunk goes around the ring twice; a step hands it to the next rank."""
    ranks, chunk = 4, 256 * 1024
    steps = 2 * (ranks - 1)
    test = Test("all_reduce_ring")
    test.service("rank", x_size=ranks)
    for step in range(1, steps + 1):
        test.rpc(f"step_{step}", "rank", "rank", chunk, 16, fanout="ring_x",
                 stages=[[Call(f"step_{step + 1}")]] if step < steps else [])
    test.load("rank", {
        "reduce": open_loop('rpc_name: "step_1"', 10, "sync_burst")})
    return test


def all_reduce_tree():
    """Answers carry the data up the tree, requests carry the sum down."""
    block = 64 * 1024
    test = Test("all_reduce_tree")
    test.service("root")
    test.service("inner", x_size=2)
    test.service("leaf", x_size=2, y_size=2)
    test.rpc("gather", "root", "inner", 16, block, stages=[[Call("gather_leaf")]])
    test.rpc("gather_leaf", "inner", "leaf", 16, block, fanout="same_x")
    test.rpc("spread", "root", "inner", block, 16, stages=[[Call("spread_leaf")]])
    test.rpc("spread_leaf", "inner", "leaf", block, 16, fanout="same_x")
    test.steps("all_reduce", [[Call("gather")], [Call("spread")]])
    test.load("root", {
        "reduce": open_loop('action_list_name: "all_reduce"', 10, "constant")})
    return test


def parameter_server():
    part = 128 * 1024
    test = Test("parameter_server")
    test.service("worker", 4)
    test.service("parameters", 2)
    test.rpc("pull", "worker", "parameters", 16, part)
    test.rpc("push", "worker", "parameters", part, 16)
    test.steps("round", [[Call("pull")], [Call("push")]])
    test.load("worker", {
        "learn": open_loop('action_list_name: "round"', 10, "sync_burst")})
    return test


def rebuild_incast():
    test = Test("rebuild_incast")
    test.service("rebuilder")
    test.service("survivor", 13)
    test.bundle(7)
    test.rpc("read_block", "rebuilder", "survivor", 64, 1024 * 1024,
             fanout="stochastic{1:10}")
    test.load("rebuilder", {
        "rebuild": open_loop('rpc_name: "read_block"', 5, "constant")})
    return test


def gossip():
    test = Test("gossip")
    test.service("member", 8)
    test.rpc("gossip", "member", "member", 1400, 16, fanout="stochastic{1:3}")
    test.load("member", {
        "spread": open_loop('rpc_name: "gossip"', 5, "sync_burst_spread")})
    return test


def quorum_writes():
    """The coordinator answers when two of its three replicas have written."""
    test = Test("quorum_writes")
    test.service("clients")
    test.service("coordinator")
    test.service("replica", 3)
    test.rpc("put", "clients", "coordinator", 1024, 32, stages=[[Call("write")]])
    test.rpc("write", "coordinator", "replica", 1024, 32,
             policy=['quorum { answers: 2 rest: "ignore" }'])
    test.load("clients", {"send_puts": open_loop('rpc_name: "put"', 200)})
    return test


def retry_storm():
    """A short outage, after which retries alone keep the database overloaded."""
    test = Test("retry_storm")
    test.service("web")
    test.service("database")
    test.rpc("query", "web", "database", 256, 1024, stages=[Work("serve")],
             policy=['attempt_deadline: "1s"',
                     'retry { max_attempts: 3 initial_backoff: "10ms" }'])
    test.work("serve", 1000 / 300, places=1)
    test.fault("outage", ['service: "database"', 'start: "10s"',
                          'duration: "2s"', "freeze: true"])
    test.load("web", {
        "queries": open_loop('rpc_name: "query"', 200, seconds=40)})
    return test


def cache_aside():
    test = Test("cache_aside")
    test.service("clients")
    test.service("cache")
    test.service("storage")
    test.rpc("get", "clients", "cache", 64, 512)
    test.rpc("set", "clients", "cache", 512, 16)
    test.rpc("read", "clients", "storage", 64, 4096)
    test.steps("look_up", [[Call("get")], [Call("read", 0.1)]])
    test.load("clients", {
        "look_ups": open_loop('action_list_name: "look_up"', 300),
        "updates": open_loop('rpc_name: "set"', 10),
    })
    return test


def ycsb_b():
    test = Test("ycsb_b")
    test.service("clients")
    test.service("store")
    test.rpc("read", "clients", "store", 64, 1000)
    test.rpc("update", "clients", "store", 164, 16)
    test.load("clients", {
        "reads": open_loop('rpc_name: "read"', 950),
        "updates": open_loop('rpc_name: "update"', 50),
    })
    return test


def tpcb_storage():
    """Seven commands one after the other; the last writes the log."""
    commands = ["begin", "update_account", "select_account", "update_teller",
                "update_branch", "insert_history", "commit"]
    test = Test("tpcb_storage")
    test.service("clients")
    test.service("database")
    test.service("storage")
    reads_page = {"update_account", "insert_history"}
    for command in commands:
        stages = [[Call("read_page", 0.1)]] if command in reads_page else []
        if command == "commit":
            stages = [[Call("write_log")]]
        test.rpc(command, "clients", "database", 128, 64, stages=stages)
    test.rpc("read_page", "database", "storage", 64, 8192)
    test.rpc("write_log", "database", "storage", 8192, 32)
    test.steps("transaction", [[Call(command)] for command in commands])
    test.load("clients", {
        "transactions": open_loop('action_list_name: "transaction"', 100)})
    return test


def llm_serving():
    test = Test("llm_serving", protocol="grpc_stream")
    test.service("users")
    test.service("model", 2)
    test.rpc("complete", "users", "model", 3600, 64, fanout="random",
             stream='server_messages_distribution: "tokens" server_interval: "5ms"')
    test.load("users", {"prompts": open_loop(
        'rpc_name: "complete"', 2,
        arrivals='process: "gamma" coefficient_of_variation: 3')})
    test.sizes("tokens", _table("llm_serving", "output_tokens.csv"))
    return test


ENTRIES = [web_search, facebook_hadoop, ali_storage, google_rpc_2008, all_reduce_ring,
           all_reduce_tree, parameter_server, rebuild_incast, gossip, quorum_writes,
           retry_storm, cache_aside, ycsb_b, tpcb_storage, llm_serving]

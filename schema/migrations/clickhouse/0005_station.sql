-- Stations: sources of position and city, ids of one physical station, and changes.
ALTER TABLE {{.Database}}.{{local "station"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS network LowCardinality(String) DEFAULT '' COMMENT 'network that runs it, the first part of id',
    ADD COLUMN IF NOT EXISTS position_source LowCardinality(String) DEFAULT '' COMMENT 'source that gave latitude and longitude; empty for one that is not known any more',
    ADD COLUMN IF NOT EXISTS place_source Enum8('name' = 0, 'position' = 1) DEFAULT 'name' COMMENT 'what decided city and state: the names that its source gives, or its position',
    ADD COLUMN IF NOT EXISTS same_as String DEFAULT '' COMMENT 'id of the station that is the same physical station in a network of higher priority; empty for none',
    ADD COLUMN IF NOT EXISTS priority UInt8 DEFAULT 0 COMMENT 'of its network: of several ids of one physical station the highest counts';
{{if .OnCluster}}
ALTER TABLE {{.Database}}.station {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS network LowCardinality(String) DEFAULT '' COMMENT 'network that runs it, the first part of id',
    ADD COLUMN IF NOT EXISTS position_source LowCardinality(String) DEFAULT '' COMMENT 'source that gave latitude and longitude; empty for one that is not known any more',
    ADD COLUMN IF NOT EXISTS place_source Enum8('name' = 0, 'position' = 1) DEFAULT 'name' COMMENT 'what decided city and state: the names that its source gives, or its position',
    ADD COLUMN IF NOT EXISTS same_as String DEFAULT '' COMMENT 'id of the station that is the same physical station in a network of higher priority; empty for none',
    ADD COLUMN IF NOT EXISTS priority UInt8 DEFAULT 0 COMMENT 'of its network: of several ids of one physical station the highest counts';
{{end}}
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station_alias"}} {{.OnCluster}}
(
    alias String COMMENT 'id that a name gives',
    station String COMMENT 'station.id under which its readings are stored',
    reason String COMMENT 'why the two are one: spelling, renamed, earlier, or what the operator wrote',
    actor LowCardinality(String) COMMENT 'who decided: ingest, or the operator',
    made_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC; of equal aliases the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the alias does not hold any more'
)
ENGINE = {{engine "ReplacingMergeTree" "made_at" "removed"}}
ORDER BY alias
COMMENT 'Other ids of stations. Written by ingest and vayu station. Read with FINAL.';
{{distributed "station_alias" "cityHash64(alias)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station_change"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC' CODEC(DoubleDelta, LZ4),
    field LowCardinality(String) COMMENT 'what changed: position, city, same_as, alias',
    before String COMMENT 'position: latitude and longitude; city: city, tab, state; same_as and alias: an id; empty for none',
    after String COMMENT 'as before',
    source LowCardinality(String) COMMENT 'source of the description that changed it',
    reason String COMMENT 'rule that decided'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (at, station)
COMMENT 'Changes of stations. Written by ingest and vayu station.';
{{distributed "station_change" "cityHash64(station)"}}

-- Stations of accounts, which push their readings.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "pushed_station"}} {{.OnCluster}}
(
    account String COMMENT 'id of the account that registered the station',
    station String COMMENT 'name that the account has chosen; unique within the account',
    id String COMMENT 'id in reading and station_hour; in station only if the station is published',
    name String COMMENT 'display name',
    city LowCardinality(String) COMMENT 'city, canonical name; derived from the position',
    state LowCardinality(String) COMMENT 'state or union territory; derived from the position',
    latitude Float64 COMMENT 'degrees north, WGS 84',
    longitude Float64 COMMENT 'degrees east, WGS 84',
    kind Enum8('reference' = 1, 'sensor' = 2) COMMENT 'as the account states it; a published station is a sensor in station',
    licence String COMMENT 'licence of the data',
    attribution String COMMENT 'name to show with the data',
    published UInt8 COMMENT '1: every account can see the station; 0: only its own account',
    registered_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'time of the registration, UTC; of equal stations the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "registered_at"}}
ORDER BY (account, station)
COMMENT 'Stations that accounts have registered. Written by ingest/push only. Read with FINAL.';
{{distributed "pushed_station" "cityHash64(account)"}}

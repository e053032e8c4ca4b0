-- The air: what was measured and what follows from it.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station"}} {{.OnCluster}}
(
    id String COMMENT 'identity: network and name',
    source LowCardinality(String) COMMENT 'source that described it last',
    name String COMMENT 'name as its network writes it',
    city LowCardinality(String) COMMENT 'city, canonical name',
    state LowCardinality(String) COMMENT 'state or union territory',
    latitude Float64 COMMENT 'degrees north, WGS 84; 0 with longitude 0: unknown',
    longitude Float64 COMMENT 'degrees east, WGS 84',
    kind Enum8('reference' = 1, 'sensor' = 2, 'city_mean' = 3) COMMENT 'regulatory analyser, low-cost sensor, or a series averaged over a city by its source',
    attribution String COMMENT 'whom to name when the data are shown',
    licence String COMMENT 'licence of the data',
    first_seen DateTime('UTC') COMMENT 'end of its first averaging interval, UTC',
    last_seen DateTime('UTC') COMMENT 'end of its latest averaging interval, UTC; of equal ids the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "last_seen"}}
ORDER BY id
COMMENT 'Stations. Written by ingest only. Read with FINAL.';
{{distributed "station" "cityHash64(id)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "reading"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    pollutant Enum8('pm25' = 1, 'pm10' = 2, 'no2' = 3, 'so2' = 4, 'co' = 5, 'o3' = 6, 'nh3' = 7, 'pb' = 8) COMMENT 'what was measured',
    at DateTime('UTC') COMMENT 'end of the averaging interval, UTC' CODEC(DoubleDelta, LZ4),
    value Float64 COMMENT 'concentration in µg/m³ (CO mg/m³), or a sub-index 0-500: see kind' CODEC(ZSTD(1)),
    kind Enum8('concentration' = 1, 'sub_index' = 2) COMMENT 'what value is',
    averaging UInt16 COMMENT 'averaging interval, minutes',
    flag Enum8('plain' = 0, 'stuck' = 1, 'clipped' = 2) COMMENT 'something odd about a reading that is kept all the same',
    source LowCardinality(String) COMMENT 'name of the source that brought it',
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was stored, UTC; of equal keys the latest reading counts' CODEC(DoubleDelta, LZ4),
    INDEX ingested ingested_at TYPE minmax GRANULARITY 4
)
ENGINE = {{engine "ReplacingMergeTree" "ingested_at"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, pollutant, at, kind, averaging)
COMMENT 'Every reading as its source gave it. Written by ingest only. Read with FINAL.';
{{distributed "reading" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station_hour"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    at DateTime('UTC') COMMENT 'end of the hour, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    pm25 Nullable(Float64) COMMENT 'PM2.5, µg/m³, mean of the last 24 hours',
    pm10 Nullable(Float64) COMMENT 'PM10, µg/m³, mean of the last 24 hours',
    no2 Nullable(Float64) COMMENT 'NO2, µg/m³, mean of the last 24 hours',
    so2 Nullable(Float64) COMMENT 'SO2, µg/m³, mean of the last 24 hours',
    co Nullable(Float64) COMMENT 'CO, mg/m³, largest 8-hour running mean of the last 24 hours',
    o3 Nullable(Float64) COMMENT 'O3, µg/m³, largest 8-hour running mean of the last 24 hours',
    nh3 Nullable(Float64) COMMENT 'NH3, µg/m³, mean of the last 24 hours',
    pb Nullable(Float64) COMMENT 'Pb, µg/m³, mean of the last 24 hours',
    pm25_index Nullable(UInt16) COMMENT 'PM2.5 sub-index, 0-500',
    pm10_index Nullable(UInt16) COMMENT 'PM10 sub-index, 0-500',
    no2_index Nullable(UInt16) COMMENT 'NO2 sub-index, 0-500',
    so2_index Nullable(UInt16) COMMENT 'SO2 sub-index, 0-500',
    co_index Nullable(UInt16) COMMENT 'CO sub-index, 0-500',
    o3_index Nullable(UInt16) COMMENT 'O3 sub-index, 0-500',
    nh3_index Nullable(UInt16) COMMENT 'NH3 sub-index, 0-500',
    pb_index Nullable(UInt16) COMMENT 'Pb sub-index, 0-500',
    aqi Nullable(UInt16) COMMENT 'National AQI, 0-500, largest sub-index; NULL when fewer than three pollutants qualify or neither PM does',
    dominant Enum8('none' = 0, 'pm25' = 1, 'pm10' = 2, 'no2' = 3, 'so2' = 4, 'co' = 5, 'o3' = 6, 'nh3' = 7, 'pb' = 8) COMMENT 'pollutant that leads the AQI',
    derived UInt8 COMMENT 'bit n-1 set: the concentration of pollutant n (numbers of reading.pollutant) was derived from a published sub-index',
    daily_mean UInt8 COMMENT 'bit n-1 set: for pollutant n a 24-hour mean stands in for the 8-hour figure',
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the figures, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, at)
COMMENT 'A station in an hour. Written by pipeline/airquality only. Read with FINAL.';
{{distributed "station_hour" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "city_hour"}} {{.OnCluster}}
(
    city LowCardinality(String) COMMENT 'city as in station.city',
    state LowCardinality(String) COMMENT 'state as in station.state',
    at DateTime('UTC') COMMENT 'end of the hour, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    pm25 Nullable(Float64) COMMENT 'PM2.5, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pm10 Nullable(Float64) COMMENT 'PM10, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    no2 Nullable(Float64) COMMENT 'NO2, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    so2 Nullable(Float64) COMMENT 'SO2, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    co Nullable(Float64) COMMENT 'CO, mg/m³, largest 8-hour running mean of the last 24 hours, mean of the stations that have it',
    o3 Nullable(Float64) COMMENT 'O3, µg/m³, largest 8-hour running mean of the last 24 hours, mean of the stations that have it',
    nh3 Nullable(Float64) COMMENT 'NH3, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pb Nullable(Float64) COMMENT 'Pb, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pm25_index Nullable(UInt16) COMMENT 'PM2.5 sub-index, 0-500, mean of the stations that have an AQI',
    pm10_index Nullable(UInt16) COMMENT 'PM10 sub-index, 0-500, mean of the stations that have an AQI',
    no2_index Nullable(UInt16) COMMENT 'NO2 sub-index, 0-500, mean of the stations that have an AQI',
    so2_index Nullable(UInt16) COMMENT 'SO2 sub-index, 0-500, mean of the stations that have an AQI',
    co_index Nullable(UInt16) COMMENT 'CO sub-index, 0-500, mean of the stations that have an AQI',
    o3_index Nullable(UInt16) COMMENT 'O3 sub-index, 0-500, mean of the stations that have an AQI',
    nh3_index Nullable(UInt16) COMMENT 'NH3 sub-index, 0-500, mean of the stations that have an AQI',
    pb_index Nullable(UInt16) COMMENT 'Pb sub-index, 0-500, mean of the stations that have an AQI',
    aqi UInt16 COMMENT 'National AQI, 0-500, mean of the AQIs of its stations, half-up',
    dominant Enum8('none' = 0, 'pm25' = 1, 'pm10' = 2, 'no2' = 3, 'so2' = 4, 'co' = 5, 'o3' = 6, 'nh3' = 7, 'pb' = 8) COMMENT 'pollutant that leads the AQI',
    stations_used UInt16 COMMENT 'stations with an AQI in that hour',
    stations_total UInt16 COMMENT 'stations that reported in that hour',
    derived UInt8 COMMENT 'bit n-1 set: the concentration of pollutant n (numbers of reading.pollutant) was derived from a published sub-index',
    daily_mean UInt8 COMMENT 'bit n-1 set: for pollutant n a 24-hour mean stands in for the 8-hour figure',
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the figures, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at"}}
PARTITION BY toYYYYMM(at)
ORDER BY (city, state, at)
COMMENT 'A city in an hour. Written by pipeline/airquality only. Read with FINAL.';
{{distributed "city_hour" "cityHash64(city)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "city_day"}} {{.OnCluster}}
(
    city LowCardinality(String) COMMENT 'city as in station.city',
    state LowCardinality(String) COMMENT 'state as in station.state',
    day Date COMMENT 'Indian calendar day (IST)',
    at DateTime('UTC') COMMENT 'end of the hour whose figures stand for the day: the last of the day that has an AQI, UTC',
    pm25 Nullable(Float64) COMMENT 'PM2.5, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pm10 Nullable(Float64) COMMENT 'PM10, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    no2 Nullable(Float64) COMMENT 'NO2, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    so2 Nullable(Float64) COMMENT 'SO2, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    co Nullable(Float64) COMMENT 'CO, mg/m³, largest 8-hour running mean of the last 24 hours, mean of the stations that have it',
    o3 Nullable(Float64) COMMENT 'O3, µg/m³, largest 8-hour running mean of the last 24 hours, mean of the stations that have it',
    nh3 Nullable(Float64) COMMENT 'NH3, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pb Nullable(Float64) COMMENT 'Pb, µg/m³, mean of the last 24 hours, mean of the stations that have it',
    pm25_index Nullable(UInt16) COMMENT 'PM2.5 sub-index, 0-500, mean of the stations that have an AQI',
    pm10_index Nullable(UInt16) COMMENT 'PM10 sub-index, 0-500, mean of the stations that have an AQI',
    no2_index Nullable(UInt16) COMMENT 'NO2 sub-index, 0-500, mean of the stations that have an AQI',
    so2_index Nullable(UInt16) COMMENT 'SO2 sub-index, 0-500, mean of the stations that have an AQI',
    co_index Nullable(UInt16) COMMENT 'CO sub-index, 0-500, mean of the stations that have an AQI',
    o3_index Nullable(UInt16) COMMENT 'O3 sub-index, 0-500, mean of the stations that have an AQI',
    nh3_index Nullable(UInt16) COMMENT 'NH3 sub-index, 0-500, mean of the stations that have an AQI',
    pb_index Nullable(UInt16) COMMENT 'Pb sub-index, 0-500, mean of the stations that have an AQI',
    aqi UInt16 COMMENT 'National AQI, 0-500, mean of the AQIs of its stations, half-up',
    dominant Enum8('none' = 0, 'pm25' = 1, 'pm10' = 2, 'no2' = 3, 'so2' = 4, 'co' = 5, 'o3' = 6, 'nh3' = 7, 'pb' = 8) COMMENT 'pollutant that leads the AQI',
    stations_used UInt16 COMMENT 'stations with an AQI in that hour',
    stations_total UInt16 COMMENT 'stations that reported in that hour',
    derived UInt8 COMMENT 'bit n-1 set: the concentration of pollutant n (numbers of reading.pollutant) was derived from a published sub-index',
    daily_mean UInt8 COMMENT 'bit n-1 set: for pollutant n a 24-hour mean stands in for the 8-hour figure',
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the figures, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at"}}
PARTITION BY toYear(day)
ORDER BY (city, state, day)
COMMENT 'A city on an Indian day. Written by pipeline/airquality only. Read with FINAL.';
{{distributed "city_day" "cityHash64(city)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "rollup"}} {{.OnCluster}}
(
    at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the roll-up ended, UTC',
    started DateTime64(3, 'UTC') COMMENT 'when it began, UTC: every reading stored before is in its figures; 1970 for a backfill, which looks for none',
    hours_from DateTime('UTC') COMMENT 'first hour computed, UTC',
    hours_to DateTime('UTC') COMMENT 'last hour computed, UTC',
    stations UInt32 COMMENT 'stations whose hours were computed'
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toYYYYMM(at)
ORDER BY at
COMMENT 'One row a finished roll-up. Written by pipeline/airquality only.';
{{distributed "rollup" "rand()"}}

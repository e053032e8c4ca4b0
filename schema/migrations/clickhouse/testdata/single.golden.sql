CREATE DATABASE IF NOT EXISTS vayu ;

CREATE TABLE IF NOT EXISTS vayu.migration 
(
    version UInt32 COMMENT 'number of the file',
    name String COMMENT 'file name',
    checksum String COMMENT 'first 16 hexadecimal digits of the SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was applied, UTC'
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY version
COMMENT 'Migrations that were applied. Written by internal/columnstore/migration only.';

-- The air: what was measured and what follows from it.
CREATE TABLE IF NOT EXISTS vayu.station 
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
ENGINE = ReplacingMergeTree(last_seen)
ORDER BY id
COMMENT 'Stations. Written by ingest only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.reading 
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
ENGINE = ReplacingMergeTree(ingested_at)
PARTITION BY toYYYYMM(at)
ORDER BY (station, pollutant, at, kind, averaging)
COMMENT 'Every reading as its source gave it. Written by ingest only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.station_hour 
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
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(at)
ORDER BY (station, at)
COMMENT 'A station in an hour. Written by pipeline/airquality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.city_hour 
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
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(at)
ORDER BY (city, state, at)
COMMENT 'A city in an hour. Written by pipeline/airquality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.city_day 
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
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(day)
ORDER BY (city, state, day)
COMMENT 'A city on an Indian day. Written by pipeline/airquality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.rollup 
(
    at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the roll-up ended, UTC',
    started DateTime64(3, 'UTC') COMMENT 'when it began, UTC: every reading stored before is in its figures; 1970 for a backfill, which looks for none',
    hours_from DateTime('UTC') COMMENT 'first hour computed, UTC',
    hours_to DateTime('UTC') COMMENT 'last hour computed, UTC',
    stations UInt32 COMMENT 'stations whose hours were computed'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY at
COMMENT 'One row a finished roll-up. Written by pipeline/airquality only.';

-- India's National AQI as functions, generated from schema/naqi. A change of the rule there needs a new migration that
-- creates them again.
CREATE OR REPLACE FUNCTION naqi_pm25  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 380) * 1000000 + 0.5)) <= 30000000, 0 + intDiv(100 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 0) + 30000000, 60000000), toInt64(floor(least(x, 380) * 1000000 + 0.5)) <= 60000000, 50 + intDiv(100 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 30000000) + 30000000, 60000000), toInt64(floor(least(x, 380) * 1000000 + 0.5)) <= 90000000, 100 + intDiv(200 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 60000000) + 30000000, 60000000), toInt64(floor(least(x, 380) * 1000000 + 0.5)) <= 120000000, 200 + intDiv(200 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 90000000) + 30000000, 60000000), toInt64(floor(least(x, 380) * 1000000 + 0.5)) <= 250000000, 300 + intDiv(200 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 120000000) + 130000000, 260000000), 400 + intDiv(200 * (toInt64(floor(least(x, 380) * 1000000 + 0.5)) - 250000000) + 130000000, 260000000)));

CREATE OR REPLACE FUNCTION naqi_pm25_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 30, 0 + (x - 0) * 50 / 30, x <= 60, 50 + (x - 30) * 50 / 30, x <= 90, 100 + (x - 60) * 100 / 30, x <= 120, 200 + (x - 90) * 100 / 30, x <= 250, 300 + (x - 120) * 100 / 130, 400 + (x - 250) * 100 / 130);

CREATE OR REPLACE FUNCTION naqi_pm25_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 30000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (1500000000 + 30000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (6000000000 + 30000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (9000000000 + 30000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (12000000000 + 130000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (25000000000 + 130000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_pm10  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 510) * 1000000 + 0.5)) <= 50000000, 0 + intDiv(100 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 0) + 50000000, 100000000), toInt64(floor(least(x, 510) * 1000000 + 0.5)) <= 100000000, 50 + intDiv(100 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 50000000) + 50000000, 100000000), toInt64(floor(least(x, 510) * 1000000 + 0.5)) <= 250000000, 100 + intDiv(200 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 100000000) + 150000000, 300000000), toInt64(floor(least(x, 510) * 1000000 + 0.5)) <= 350000000, 200 + intDiv(200 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 250000000) + 100000000, 200000000), toInt64(floor(least(x, 510) * 1000000 + 0.5)) <= 430000000, 300 + intDiv(200 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 350000000) + 80000000, 160000000), 400 + intDiv(200 * (toInt64(floor(least(x, 510) * 1000000 + 0.5)) - 430000000) + 80000000, 160000000)));

CREATE OR REPLACE FUNCTION naqi_pm10_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 50, 0 + (x - 0) * 50 / 50, x <= 100, 50 + (x - 50) * 50 / 50, x <= 250, 100 + (x - 100) * 100 / 150, x <= 350, 200 + (x - 250) * 100 / 100, x <= 430, 300 + (x - 350) * 100 / 80, 400 + (x - 430) * 100 / 80);

CREATE OR REPLACE FUNCTION naqi_pm10_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 50000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (2500000000 + 50000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (10000000000 + 150000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (25000000000 + 100000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (35000000000 + 80000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (43000000000 + 80000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_no2  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 520) * 1000000 + 0.5)) <= 40000000, 0 + intDiv(100 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 0) + 40000000, 80000000), toInt64(floor(least(x, 520) * 1000000 + 0.5)) <= 80000000, 50 + intDiv(100 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 40000000) + 40000000, 80000000), toInt64(floor(least(x, 520) * 1000000 + 0.5)) <= 180000000, 100 + intDiv(200 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 80000000) + 100000000, 200000000), toInt64(floor(least(x, 520) * 1000000 + 0.5)) <= 280000000, 200 + intDiv(200 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 180000000) + 100000000, 200000000), toInt64(floor(least(x, 520) * 1000000 + 0.5)) <= 400000000, 300 + intDiv(200 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 280000000) + 120000000, 240000000), 400 + intDiv(200 * (toInt64(floor(least(x, 520) * 1000000 + 0.5)) - 400000000) + 120000000, 240000000)));

CREATE OR REPLACE FUNCTION naqi_no2_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 40, 0 + (x - 0) * 50 / 40, x <= 80, 50 + (x - 40) * 50 / 40, x <= 180, 100 + (x - 80) * 100 / 100, x <= 280, 200 + (x - 180) * 100 / 100, x <= 400, 300 + (x - 280) * 100 / 120, 400 + (x - 400) * 100 / 120);

CREATE OR REPLACE FUNCTION naqi_no2_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 40000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (2000000000 + 40000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (8000000000 + 100000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (18000000000 + 100000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (28000000000 + 120000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (40000000000 + 120000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_so2  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 40000000, 0 + intDiv(100 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 0) + 40000000, 80000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 80000000, 50 + intDiv(100 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 40000000) + 40000000, 80000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 380000000, 100 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 80000000) + 300000000, 600000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 800000000, 200 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 380000000) + 420000000, 840000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 1600000000, 300 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 800000000) + 800000000, 1600000000), 400 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 1600000000) + 800000000, 1600000000)));

CREATE OR REPLACE FUNCTION naqi_so2_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 40, 0 + (x - 0) * 50 / 40, x <= 80, 50 + (x - 40) * 50 / 40, x <= 380, 100 + (x - 80) * 100 / 300, x <= 800, 200 + (x - 380) * 100 / 420, x <= 1600, 300 + (x - 800) * 100 / 800, 400 + (x - 1600) * 100 / 800);

CREATE OR REPLACE FUNCTION naqi_so2_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 40000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (2000000000 + 40000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (8000000000 + 300000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (38000000000 + 420000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (80000000000 + 800000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (160000000000 + 800000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_co  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 51) * 1000000 + 0.5)) <= 1000000, 0 + intDiv(100 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 0) + 1000000, 2000000), toInt64(floor(least(x, 51) * 1000000 + 0.5)) <= 2000000, 50 + intDiv(100 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 1000000) + 1000000, 2000000), toInt64(floor(least(x, 51) * 1000000 + 0.5)) <= 10000000, 100 + intDiv(200 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 2000000) + 8000000, 16000000), toInt64(floor(least(x, 51) * 1000000 + 0.5)) <= 17000000, 200 + intDiv(200 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 10000000) + 7000000, 14000000), toInt64(floor(least(x, 51) * 1000000 + 0.5)) <= 34000000, 300 + intDiv(200 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 17000000) + 17000000, 34000000), 400 + intDiv(200 * (toInt64(floor(least(x, 51) * 1000000 + 0.5)) - 34000000) + 17000000, 34000000)));

CREATE OR REPLACE FUNCTION naqi_co_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 1, 0 + (x - 0) * 50 / 1, x <= 2, 50 + (x - 1) * 50 / 1, x <= 10, 100 + (x - 2) * 100 / 8, x <= 17, 200 + (x - 10) * 100 / 7, x <= 34, 300 + (x - 17) * 100 / 17, 400 + (x - 34) * 100 / 17);

CREATE OR REPLACE FUNCTION naqi_co_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 1000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (50000000 + 1000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (200000000 + 8000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (1000000000 + 7000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (1700000000 + 17000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (3400000000 + 17000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_o3  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 1288) * 1000000 + 0.5)) <= 50000000, 0 + intDiv(100 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 0) + 50000000, 100000000), toInt64(floor(least(x, 1288) * 1000000 + 0.5)) <= 100000000, 50 + intDiv(100 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 50000000) + 50000000, 100000000), toInt64(floor(least(x, 1288) * 1000000 + 0.5)) <= 168000000, 100 + intDiv(200 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 100000000) + 68000000, 136000000), toInt64(floor(least(x, 1288) * 1000000 + 0.5)) <= 208000000, 200 + intDiv(200 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 168000000) + 40000000, 80000000), toInt64(floor(least(x, 1288) * 1000000 + 0.5)) <= 748000000, 300 + intDiv(200 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 208000000) + 540000000, 1080000000), 400 + intDiv(200 * (toInt64(floor(least(x, 1288) * 1000000 + 0.5)) - 748000000) + 540000000, 1080000000)));

CREATE OR REPLACE FUNCTION naqi_o3_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 50, 0 + (x - 0) * 50 / 50, x <= 100, 50 + (x - 50) * 50 / 50, x <= 168, 100 + (x - 100) * 100 / 68, x <= 208, 200 + (x - 168) * 100 / 40, x <= 748, 300 + (x - 208) * 100 / 540, 400 + (x - 748) * 100 / 540);

CREATE OR REPLACE FUNCTION naqi_o3_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 50000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (2500000000 + 50000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (10000000000 + 68000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (16800000000 + 40000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (20800000000 + 540000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (74800000000 + 540000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_nh3  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 200000000, 0 + intDiv(100 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 0) + 200000000, 400000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 400000000, 50 + intDiv(100 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 200000000) + 200000000, 400000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 800000000, 100 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 400000000) + 400000000, 800000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 1200000000, 200 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 800000000) + 400000000, 800000000), toInt64(floor(least(x, 2400) * 1000000 + 0.5)) <= 1800000000, 300 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 1200000000) + 600000000, 1200000000), 400 + intDiv(200 * (toInt64(floor(least(x, 2400) * 1000000 + 0.5)) - 1800000000) + 600000000, 1200000000)));

CREATE OR REPLACE FUNCTION naqi_nh3_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 200, 0 + (x - 0) * 50 / 200, x <= 400, 50 + (x - 200) * 50 / 200, x <= 800, 100 + (x - 400) * 100 / 400, x <= 1200, 200 + (x - 800) * 100 / 400, x <= 1800, 300 + (x - 1200) * 100 / 600, 400 + (x - 1800) * 100 / 600);

CREATE OR REPLACE FUNCTION naqi_nh3_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 200000000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (10000000000 + 200000000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (40000000000 + 400000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (80000000000 + 400000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (120000000000 + 600000000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (180000000000 + 600000000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_pb  AS x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL, toInt64(floor(least(x, 4) * 1000000 + 0.5)) <= 500000, 0 + intDiv(100 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 0) + 500000, 1000000), toInt64(floor(least(x, 4) * 1000000 + 0.5)) <= 1000000, 50 + intDiv(100 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 500000) + 500000, 1000000), toInt64(floor(least(x, 4) * 1000000 + 0.5)) <= 2000000, 100 + intDiv(200 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 1000000) + 1000000, 2000000), toInt64(floor(least(x, 4) * 1000000 + 0.5)) <= 3000000, 200 + intDiv(200 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 2000000) + 1000000, 2000000), toInt64(floor(least(x, 4) * 1000000 + 0.5)) <= 3500000, 300 + intDiv(200 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 3000000) + 500000, 1000000), 400 + intDiv(200 * (toInt64(floor(least(x, 4) * 1000000 + 0.5)) - 3500000) + 500000, 1000000)));

CREATE OR REPLACE FUNCTION naqi_pb_lead  AS x -> multiIf(ifNull(NOT (x >= 0), 1), NULL, x <= 0.5, 0 + (x - 0) * 50 / 0.5, x <= 1, 50 + (x - 0.5) * 50 / 0.5, x <= 2, 100 + (x - 1) * 100 / 1, x <= 3, 200 + (x - 2) * 100 / 1, x <= 3.5, 300 + (x - 3) * 100 / 0.5, 400 + (x - 3.5) * 100 / 0.5);

CREATE OR REPLACE FUNCTION naqi_pb_inverse  AS i -> multiIf(ifNull(NOT (i >= 0 AND i <= 500), 1), NULL, i <= 50, intDiv(2 * (0 + 500000 * (toInt64(i) - 0)) + 50000, 100000) / 1000, i <= 100, intDiv(2 * (25000000 + 500000 * (toInt64(i) - 50)) + 50000, 100000) / 1000, i <= 200, intDiv(2 * (100000000 + 1000000 * (toInt64(i) - 100)) + 100000, 200000) / 1000, i <= 300, intDiv(2 * (200000000 + 1000000 * (toInt64(i) - 200)) + 100000, 200000) / 1000, i <= 400, intDiv(2 * (300000000 + 500000 * (toInt64(i) - 300)) + 100000, 200000) / 1000, intDiv(2 * (350000000 + 500000 * (toInt64(i) - 400)) + 100000, 200000) / 1000);

CREATE OR REPLACE FUNCTION naqi_category  AS a -> multiIf(isNull(a), NULL, a <= 50, 'Good', a <= 100, 'Satisfactory', a <= 200, 'Moderate', a <= 300, 'Poor', a <= 400, 'Very Poor', 'Severe');

-- What became of webhooks, for analysts. The state store has it for 30 days after
-- a delivery has ended; here it stays.
CREATE TABLE IF NOT EXISTS vayu.attempt 
(
    delivery_id String COMMENT 'delivery, dlv_…',
    number UInt8 COMMENT 'of the attempt in its delivery, 1-8',
    event_id String COMMENT 'event, evt_…: the same in all deliveries of it',
    event_type LowCardinality(String) COMMENT 'what happened, such as recharge.completed',
    webhook_id LowCardinality(String) COMMENT 'subscription, wh_…',
    account_id LowCardinality(String) COMMENT 'account, acc_…',
    retry_of String COMMENT 'delivery for which a retry by hand made this one; empty for none',
    at DateTime64(6, 'UTC') COMMENT 'when the attempt began, UTC' CODEC(DoubleDelta, LZ4),
    duration UInt64 COMMENT 'how long it took, microseconds',
    stage Enum8('none' = 0, 'dns' = 1, 'connect' = 2, 'tls' = 3, 'write' = 4, 'wait' = 5, 'status' = 6) COMMENT 'how far it got; none: it was broken off before anything, status: there was an answer',
    http_status UInt16 COMMENT 'status of the answer; 0 for none',
    error String COMMENT 'why it was no success; empty for one',
    body_bytes UInt16 COMMENT 'length of what was kept of the answer, bytes, 1024 at most; the text itself is not copied',
    state Enum8('waiting' = 1, 'delivered' = 2, 'failed' = 3) COMMENT 'state of the delivery after the attempt',
    recorded_at DateTime64(6, 'UTC') COMMENT 'when it was stored in the state store, UTC; the copier goes on behind the latest' CODEC(DoubleDelta, LZ4)
)
ENGINE = ReplacingMergeTree(recorded_at)
PARTITION BY toYYYYMM(recorded_at)
ORDER BY (account_id, webhook_id, at, delivery_id, number)
COMMENT 'Attempts to deliver webhooks. Written by dispatch/delivery only. Read with FINAL.';

-- Readings of any parameter, plain means of hours and days, and withdrawals.
CREATE TABLE IF NOT EXISTS vayu.parameter 
(
    id String COMMENT 'identifier, as in reading.parameter',
    name String COMMENT 'name shown to people',
    unit LowCardinality(String) COMMENT 'unit of its values',
    substance_group LowCardinality(String) COMMENT 'particle, gas, organic, metal or weather',
    in_index Bool COMMENT 'whether it has a sub-index of the National AQI',
    molar_mass Float64 COMMENT 'g/mol; µg/m³ = ppb · molar_mass / 24.45 (25 °C, 1 atm); 0 where there is no volume ratio',
    least Float64 COMMENT 'least value that is believed, in its unit',
    most Float64 COMMENT 'largest value that is believed, in its unit',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was written, UTC; of equal ids the latest row counts'
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY id
COMMENT 'What stations measure: the catalogue. Written by the program when it changes. Read with FINAL.';



-- The plain means of readings that 0.1.0 rolled up are computed by the first roll-up of a newer program.
ALTER TABLE vayu.rollup 
    ADD COLUMN IF NOT EXISTS seen UInt64 DEFAULT 0 COMMENT 'fingerprint of the readings of the minute before started, as the roll-up saw them; 0: unknown' AFTER started,
ADD COLUMN IF NOT EXISTS means Enum8('none' = 0, 'wanted' = 1, 'done' = 2) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are';

-- The table reading gets its new form beside the old one, and its name when the old one has lost it. Then the old rows are
-- copied. Programs that migrate at the same time rename once: the second finds the new name taken.
CREATE TABLE IF NOT EXISTS vayu.reading_0004 
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    at DateTime('UTC') COMMENT 'end of the averaging interval, UTC' CODEC(DoubleDelta, LZ4),
    value Float64 COMMENT 'value in the unit of the parameter, or a sub-index 0-500: see kind' CODEC(ZSTD(1)),
    kind Enum8('concentration' = 1, 'sub_index' = 2) COMMENT 'what value is; concentration: a measured value of whatever parameter',
    averaging UInt16 COMMENT 'averaging interval, minutes',
    flag Enum8('plain' = 0, 'stuck' = 1, 'clipped' = 2) COMMENT 'something odd that the source says about a reading, which is kept all the same',
    source LowCardinality(String) COMMENT 'name of the source that brought it',
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was stored, UTC; of equal keys the latest reading counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the source has corrected the value to missing; FINAL leaves the row out' CODEC(ZSTD(1)),
    INDEX ingested ingested_at TYPE minmax GRANULARITY 4
)
ENGINE = ReplacingMergeTree(ingested_at, removed)
PARTITION BY toYYYYMM(at)
ORDER BY (station, parameter, at, kind, averaging)
COMMENT 'Every reading as its source gave it. Written by ingest only. Read with FINAL.';

-- when column reading.pollutant
RENAME TABLE vayu.reading TO vayu.reading_0001, vayu.reading_0004 TO vayu.reading ;

-- when column reading_0001.pollutant
INSERT INTO vayu.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at)
SELECT station, toString(pollutant), at, value, kind, averaging, flag, source, ingested_at FROM vayu.reading_0001
SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1;

-- An insert that was under way when the tables changed names has ended in the old one since.
-- when column reading_0001.pollutant
INSERT INTO vayu.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at)
SELECT station, toString(pollutant), at, value, kind, averaging, flag, source, ingested_at FROM vayu.reading_0001 WHERE ingested_at > now() - INTERVAL 1 HOUR
SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1;

-- when column reading_0001.pollutant
INSERT INTO vayu.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), min(at), max(at), 0, 'wanted' FROM vayu.reading_0001 HAVING count() > 0;

DROP TABLE IF EXISTS vayu.reading_0001  SYNC;

DROP TABLE IF EXISTS vayu.reading_0004  SYNC;


CREATE TABLE IF NOT EXISTS vayu.withdrawal 
(
    id String COMMENT 'withdrawal, wdr_…',
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; empty for all',
    from_at DateTime('UTC') COMMENT 'readings whose interval ends after this, UTC, are left out',
    to_at DateTime('UTC') COMMENT 'and not after this, UTC',
    reason String COMMENT 'reason given by the operator',
    actor String COMMENT 'who withdrew them',
    made_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC; of equal ids the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the withdrawal was taken back; FINAL leaves the row out'
)
ENGINE = ReplacingMergeTree(made_at, removed)
ORDER BY (station, id)
COMMENT 'Readings that were withdrawn by hand. The readings stay; no mean and no index has them. Written by vayu readings withdraw only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.station_parameter_hour 
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; its unit is that of the means',
    kind Enum8('concentration' = 1, 'sub_index' = 2, 'daily_mean' = 3) COMMENT 'concentration: a mean of the hour; sub_index: the figure 0-500 that the source published in the hour; daily_mean: a mean of a day that ends in the hour',
    at DateTime('UTC') COMMENT 'end of the hour, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    mean Nullable(Float64) COMMENT 'mean of the readings of the hour; a direction: of unit vectors; NULL when all of them are excluded' CODEC(ZSTD(1)),
    minimum Nullable(Float64) COMMENT 'least of the readings' CODEC(ZSTD(1)),
    maximum Nullable(Float64) COMMENT 'largest of the readings' CODEC(ZSTD(1)),
    count UInt16 COMMENT 'readings in the mean' CODEC(ZSTD(1)),
    expected UInt16 COMMENT 'readings that make a full hour: 60 divided by the averaging interval, at least 1' CODEC(ZSTD(1)),
    coverage Float32 ALIAS least(1, count / expected) COMMENT 'share of the expected readings that the mean has, 0-1',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect' CODEC(ZSTD(1)),
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn' CODEC(ZSTD(1)),
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'worst verdict of the readings in the mean; fail when all are excluded' CODEC(ZSTD(1)),
    averaging UInt16 COMMENT 'shortest averaging interval of the readings, minutes' CODEC(ZSTD(1)),
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the mean, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the hour has no readings any more; FINAL leaves the row out' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(computed_at, removed)
PARTITION BY toYYYYMM(at)
ORDER BY (station, at, parameter, kind)
SETTINGS index_granularity = 1024
COMMENT 'A parameter at a station in an hour: plain figures, not rolling ones. Written by pipeline/airquality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.station_parameter_day 
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; its unit is that of the means',
    day Date COMMENT 'Indian calendar day (IST)',
    mean Nullable(Float64) COMMENT 'mean of the hours of the day, or the mean that the source published; NULL when all are excluded' CODEC(ZSTD(1)),
    minimum Nullable(Float64) COMMENT 'least of the readings' CODEC(ZSTD(1)),
    maximum Nullable(Float64) COMMENT 'largest of the readings' CODEC(ZSTD(1)),
    count UInt16 COMMENT 'hours in the mean; 1 for a published mean of the day' CODEC(ZSTD(1)),
    expected UInt16 COMMENT '24; 1 for a published mean of the day' CODEC(ZSTD(1)),
    coverage Float32 ALIAS least(1, count / expected) COMMENT 'share of the expected hours that the mean has, 0-1',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect' CODEC(ZSTD(1)),
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn' CODEC(ZSTD(1)),
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'worst verdict of the readings in the mean; fail when all are excluded' CODEC(ZSTD(1)),
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the mean, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the day has no readings any more; FINAL leaves the row out' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(computed_at, removed)
PARTITION BY toYear(day)
ORDER BY (station, parameter, day)
COMMENT 'A parameter at a station on an Indian day: plain figures of concentrations. Written by pipeline/airquality only. Read with FINAL.';

-- Stations: sources of position and city, ids of one physical station, and changes.
ALTER TABLE vayu.station 
    ADD COLUMN IF NOT EXISTS network LowCardinality(String) DEFAULT '' COMMENT 'network that runs it, the first part of id',
    ADD COLUMN IF NOT EXISTS position_source LowCardinality(String) DEFAULT '' COMMENT 'source that gave latitude and longitude; empty for one that is not known any more',
    ADD COLUMN IF NOT EXISTS place_source Enum8('name' = 0, 'position' = 1) DEFAULT 'name' COMMENT 'what decided city and state: the names that its source gives, or its position',
    ADD COLUMN IF NOT EXISTS same_as String DEFAULT '' COMMENT 'id of the station that is the same physical station in a network of higher priority; empty for none',
ADD COLUMN IF NOT EXISTS priority UInt8 DEFAULT 0 COMMENT 'of its network: of several ids of one physical station the highest counts';


CREATE TABLE IF NOT EXISTS vayu.station_alias 
(
    alias String COMMENT 'id that a name gives',
    station String COMMENT 'station.id under which its readings are stored',
    reason String COMMENT 'why the two are one: spelling, renamed, earlier, or what the operator wrote',
    actor LowCardinality(String) COMMENT 'who decided: ingest, or the operator',
    made_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC; of equal aliases the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the alias does not hold any more'
)
ENGINE = ReplacingMergeTree(made_at, removed)
ORDER BY alias
COMMENT 'Other ids of stations. Written by ingest and vayu station. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.station_change 
(
    station LowCardinality(String) COMMENT 'station.id',
    at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC' CODEC(DoubleDelta, LZ4),
    field LowCardinality(String) COMMENT 'what changed: position, city, same_as, alias',
    before String COMMENT 'position: latitude and longitude; city: city, tab, state; same_as and alias: an id; empty for none',
    after String COMMENT 'as before',
    source LowCardinality(String) COMMENT 'source of the description that changed it',
    reason String COMMENT 'rule that decided'
)
ENGINE = MergeTree
ORDER BY (at, station)
COMMENT 'Changes of stations. Written by ingest and vayu station.';

-- What the quality tests say of readings. Raw values stay as they are.
CREATE TABLE IF NOT EXISTS vayu.reading_quality 
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'reading.parameter',
    at DateTime('UTC') COMMENT 'reading.at: end of the averaging interval, UTC; for flag missing the end of an interval without a reading' CODEC(DoubleDelta, LZ4),
    kind Enum8('concentration' = 1, 'sub_index' = 2) COMMENT 'reading.kind',
    averaging UInt16 COMMENT 'reading.averaging, minutes',
    test LowCardinality(String) COMMENT 'name of the test',
    version UInt16 COMMENT 'version of the test; a change of its rule or of a threshold raises it',
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'result of the test, numbered as in QARTOD; good results have no row',
    detail String COMMENT 'figures on which the result rests',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the result was computed, UTC; of equal keys the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the test no longer finds anything; FINAL leaves the row out'
)
ENGINE = ReplacingMergeTree(computed_at, removed)
PARTITION BY toYYYYMM(at)
ORDER BY (station, parameter, at, kind, averaging, test)
COMMENT 'Results of the quality tests that are not good: one row per reading and test. Written by pipeline/airquality/quality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.nox_form 
(
    station LowCardinality(String) COMMENT 'station.id',
    day Date COMMENT 'Indian calendar day (IST)',
    documented UInt16 COMMENT 'times at which NO + NO2 = NOx holds as CPCB documents it: NO and NO2 in µg/m³ at 25 °C, NOx in ppb',
    zero_celsius UInt16 COMMENT 'times at which it holds with NO and NO2 in µg/m³ at 0 °C',
    one_unit UInt16 COMMENT 'times at which it holds for the bare numbers, so that all three have one unit',
    neither UInt16 COMMENT 'times at which it holds in none of these forms',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts'
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(day)
ORDER BY (station, day)
COMMENT 'In which units a station reports NO, NO2 and NOx, by day. Written by pipeline/airquality/quality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.corrected 
(
    station LowCardinality(String) COMMENT 'station.id of a low-cost sensor',
    at DateTime('UTC') COMMENT 'reading.at: end of the averaging interval, UTC' CODEC(DoubleDelta, LZ4),
    averaging UInt16 COMMENT 'reading.averaging, minutes',
    raw Float64 COMMENT 'PM2.5 as the sensor reported it, µg/m³' CODEC(ZSTD(1)),
    corrected Float64 COMMENT 'PM2.5 by the formula, µg/m³' CODEC(ZSTD(1)),
    humidity Float64 COMMENT 'relative humidity that the formula took, percent' CODEC(ZSTD(1)),
    channels Enum8('unknown' = 0, 'agree' = 1, 'differ' = 2) COMMENT 'whether the two channels of the sensor agree; unknown: the source does not deliver both',
    formula LowCardinality(String) COMMENT 'name of the formula',
    version UInt16 COMMENT 'version of the formula as it is written here',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the reading or its humidity was corrected to missing; FINAL leaves the row out'
)
ENGINE = ReplacingMergeTree(computed_at, removed)
PARTITION BY toYYYYMM(at)
ORDER BY (station, at, averaging, formula)
COMMENT 'PM2.5 of low-cost sensors, raw and corrected. Written by pipeline/airquality/quality only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.colocation 
(
    sensor LowCardinality(String) COMMENT 'station.id of the sensor',
    reference LowCardinality(String) COMMENT 'station.id of the reference station beside it',
    hours_from DateTime('UTC') COMMENT 'first hour that was looked at, UTC',
    hours_to DateTime('UTC') COMMENT 'last hour that was looked at, UTC',
    distance_m Float64 COMMENT 'distance of the two, metres; NaN when a position is unknown',
    hours UInt32 COMMENT 'hours with both PM2.5 and the humidity of the sensor',
    slope Float64 COMMENT 'reference = slope * sensor + humidity * relative humidity + intercept',
    humidity Float64 COMMENT 'µg/m³ per percent of relative humidity',
    intercept Float64 COMMENT 'µg/m³',
    error Float64 COMMENT 'root of the mean square of what the fit leaves, µg/m³',
    error_raw Float64 COMMENT 'root of the mean square difference of the raw values, µg/m³',
    r2 Float64 COMMENT 'share of the variance of the reference that the fit explains',
    fitted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was computed, UTC; of equal keys the latest row counts'
)
ENGINE = ReplacingMergeTree(fitted_at)
ORDER BY (sensor, reference, hours_from, hours_to)
COMMENT 'Fits of low-cost sensors to reference stations beside them. Written by pipeline/airquality/quality only. Read with FINAL.';

-- Quality tests of series follow the figures of recent hours, with a mark of their own.
ALTER TABLE vayu.rollup 
ADD COLUMN IF NOT EXISTS tested DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'readings stored before, of hours that had ended, have had the quality tests of their series; 0: says nothing of tests' AFTER seen;

-- Stations of accounts, which push their readings.
CREATE TABLE IF NOT EXISTS vayu.pushed_station 
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
ENGINE = ReplacingMergeTree(registered_at)
ORDER BY (account, station)
COMMENT 'Stations that accounts have registered. Written by ingest/push only. Read with FINAL.';

-- From a reading to the run of its source, and so to the hash of the received bytes.
ALTER TABLE vayu.reading 
ADD COLUMN IF NOT EXISTS run UInt64 COMMENT 'vayu_ops.source_run.run: the run that fetched the reading; 0 for pushed readings and for those of versions before 0.2' CODEC(ZSTD(1));

-- The index of cities as agencies publish it, apart from the figures that the program computes.
CREATE TABLE IF NOT EXISTS vayu.bulletin 
(
    day Date COMMENT 'day of the bulletin, Indian time',
    name LowCardinality(String) COMMENT 'city, as the bulletin spells it',
    city LowCardinality(String) COMMENT 'city, canonical name, as in city_day',
    state LowCardinality(String) COMMENT 'state or union territory; empty if the name of the city is ambiguous',
    until DateTime('UTC') COMMENT 'end of the 24 hours whose mean the index is, UTC: 16:00 Indian time of the day; city_day has the Indian day instead' CODEC(DoubleDelta, LZ4),
    aqi UInt16 COMMENT 'National AQI that the agency published, 0-500, without unit: mean of the stations of the city',
    category LowCardinality(String) COMMENT 'category that the agency published: Good, Satisfactory, Moderate, Poor, Very Poor or Severe',
    prominent Array(LowCardinality(String)) COMMENT 'pollutants with the largest sub-index, as published: parameter.id; several if they are equal',
    stations_used UInt16 COMMENT 'number of stations whose index entered',
    stations_total UInt16 COMMENT 'number of stations of the city; 0 if unknown',
    source LowCardinality(String) COMMENT 'name of the source that brought it',
    run UInt64 COMMENT 'vayu_ops.source_run.run: the run that brought it' CODEC(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was stored, UTC; of equal days and names the latest row counts' CODEC(DoubleDelta, LZ4)
)
ENGINE = ReplacingMergeTree(ingested_at)
PARTITION BY toYear(day)
ORDER BY (name, day)
COMMENT 'The index of cities as CPCB published it in its daily bulletins. Written by ingest only. No figure uses it. Read with FINAL.';

-- The hours of a day beside its mean: all statistics of longer periods follow from the days.
ALTER TABLE vayu.station_parameter_day 
    ADD COLUMN IF NOT EXISTS hours Array(Float64) DEFAULT [] COMMENT 'hourly means of the day in the unit of the parameter, in the order of time; see present' CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS present UInt32 DEFAULT 0 COMMENT 'bit h set: hours has the mean of the hour from h:00 to h+1:00, Indian time; 0: the day has a published mean only' CODEC(LZ4),
ADD COLUMN IF NOT EXISTS max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, each of at least 6 hours, in the unit of the parameter; NULL for directions' CODEC(ZSTD(1));

-- The first roll-up of this program computes the days that are there.
INSERT INTO vayu.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'wanted' FROM (SELECT 1 FROM vayu.station_parameter_day WHERE count > 0 AND expected = 24 AND present = 0 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;

-- Forecasts, the fits that they follow from, and their score.
CREATE TABLE IF NOT EXISTS vayu.forecast 
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that is forecast, Indian calendar (IST)',
    horizon UInt8 COMMENT 'days from the last day with data to the day that is forecast; 0 for no forecast; GET /v1/forecast shows 2 to 4',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology; none for no forecast, see reason',
    served UInt8 COMMENT '1: the best model, which GET /v1/forecast shows from horizon 2 on; 0: it is stored to be compared',
    p10 Float32 COMMENT '10th percentile: µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'central value of the model, in the unit of p10',
    p90 Float32 COMMENT '90th percentile, in the unit of p10',
    good Float32 COMMENT 'probability of AQI 0-50, 0-1; 0 for concentrations, as the next five',
    satisfactory Float32 COMMENT 'probability of AQI 51-100, 0-1',
    moderate Float32 COMMENT 'probability of AQI 101-200, 0-1',
    poor Float32 COMMENT 'probability of AQI 201-300, 0-1',
    very_poor Float32 COMMENT 'probability of AQI 301-400, 0-1',
    severe Float32 COMMENT 'probability of AQI 401-500, 0-1',
    widening Float32 COMMENT 'by how much recalibration moved p10 down and p90 up: natural logarithm, or AQI',
    history UInt32 COMMENT 'days of data in the climatology of the place; 0 for none',
    reason LowCardinality(String) COMMENT 'why there is no forecast, or why persistence is served: no_recent_data, implausible_value, constant_series, too_little_history, no_residuals, recent_gaps, persistence_not_beaten; empty for none',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    issued_at DateTime64(3, 'UTC') COMMENT 'when it was issued, UTC: it uses only what was stored before' CODEC(DoubleDelta, LZ4)
)
ENGINE = ReplacingMergeTree(issued_at)
PARTITION BY toYYYYMM(day)
ORDER BY (run, place_kind, place, state, parameter, day, horizon, model)
COMMENT 'Forecasts of Indian days. A forecast is never changed; a reason for none may be. Written by pipeline/airquality/forecast only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.forecast_issue 
(
    run String COMMENT 'forecast.run',
    base Date COMMENT 'last day whose data the forecasts use, Indian calendar',
    issued_at DateTime64(3, 'UTC') COMMENT 'latest forecast.issued_at of the base, UTC: places whose day was late are issued later',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    forecasts UInt64 COMMENT 'number of forecasts of the base',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when all rows were stored, UTC'
)
ENGINE = ReplacingMergeTree(recorded_at)
ORDER BY (run, base)
COMMENT 'One row per day from which forecasts were issued. Written by pipeline/airquality/forecast only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.forecast_fit 
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'when it was fitted, UTC; of a replay the time that it replays',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    horizon UInt8 COMMENT 'days ahead',
    first Date COMMENT 'first day of the data, Indian calendar',
    last Date COMMENT 'last day of the data, Indian calendar',
    day_weight Float64 COMMENT 'weight of the anomaly of the last day; an anomaly is the natural logarithm of the ratio to the climatology',
    week_weight Float64 COMMENT 'weight of the mean anomaly of the last seven days',
    samples UInt64 COMMENT 'pairs of a day and its target',
    series UInt32 COMMENT 'places with enough history'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, parameter, horizon)
COMMENT 'Coefficients of the damped anomaly, one fit a week, pooled over all places. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_climate 
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    days UInt32 COMMENT 'days with data',
    climate Array(Float32) COMMENT 'mean natural logarithm by day of the year ± 15 days, 365 values; NaN for too few days',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, place_kind, place, state, parameter)
TTL stored_at + INTERVAL 40 DAY
COMMENT 'Climatologies of places, of the fits of the last 40 days. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_residual 
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is; all: pooled over all places',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    horizon UInt8 COMMENT 'days ahead',
    season UInt8 COMMENT 'season of the target: 1 December to February, 2 March to May, 3 June to August, 4 September to November, 0 all, of series with less than two years of data',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    samples UInt32 COMMENT 'number of residuals',
    low Float32 COMMENT '10th percentile of the natural logarithm of measured over forecast',
    high Float32 COMMENT '90th percentile of the natural logarithm of measured over forecast',
    quantiles Array(Float32) COMMENT '50 quantiles of the natural logarithm of measured over forecast: 0.01, 0.03, … 0.99',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, place_kind, place, state, parameter, horizon, season, model)
TTL stored_at + INTERVAL 40 DAY
COMMENT 'Errors of the models in the past, of the fits of the last 40 days. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_input 
(
    input String COMMENT 'id of a fit, an issue or a replay',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    day Date COMMENT 'Indian calendar day (IST)',
    aqi Nullable(UInt16) COMMENT 'National AQI of the day, 0-500',
    amounts Array(Nullable(Float64)) COMMENT 'pm25, pm10, no2, so2, co and o3 of the day, µg/m³, CO mg/m³; NULL for none',
    known_at DateTime64(3, 'UTC') COMMENT 'from when on a forecast may use the day, UTC',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = MergeTree
ORDER BY (input, place_kind, place, state, day)
TTL stored_at + INTERVAL 3 DAY
COMMENT 'Days on which fits, issues and replays of the last 3 days worked. Written by pipeline/airquality/forecast only.';



CREATE OR REPLACE VIEW vayu.forecast_outcome 
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that was forecast, Indian calendar (IST)',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed, for horizon 1 the one that it would have shown',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'forecast: central value, in the unit of p10',
    p90 Float32 COMMENT 'forecast: 90th percentile, in the unit of p10',
    probabilities Array(Float32) COMMENT 'forecast: probability of each AQI category from Good to Severe, 0-1; zeros for concentrations',
    observed Float64 COMMENT 'figure of the day as it is stored now, in the unit of p10',
    error Float64 COMMENT 'p50 - observed, in the unit of p10',
    covered UInt8 COMMENT '1: observed is from p10 to p90',
    warnings Array(Tuple(String, UInt8, UInt8, Float32)) COMMENT 'of the AQI: events (categories, over 200, over 300, over 400), whether p50 and observed have them, and their probability'
)
AS
SELECT run, place_kind, place, state, parameter, day, ['winter', 'spring', 'summer', 'autumn'][1 + intDiv(toMonth(day) % 12, 3)] AS season, horizon, model, served,
    p10, p50, p90, [good, satisfactory, moderate, poor, very_poor, severe] AS probabilities, observed, p50 - observed AS error, observed BETWEEN p10 AND p90 AS covered,
    if(parameter = 'aqi', arrayConcat(
        arrayMap((name, chance) -> (name, ifNull(naqi_category(toUInt16(p50)) = name, 0), ifNull(naqi_category(toUInt16(observed)) = name, 0), chance), ['Good', 'Satisfactory', 'Moderate', 'Poor', 'Very Poor', 'Severe'], probabilities),
        arrayMap((edge, first) -> (concat('over ', toString(edge)), p50 > edge, observed > edge, toFloat32(arraySum(arraySlice(probabilities, first)))), [200, 300, 400], [4, 5, 6])), []) AS warnings
FROM (SELECT * FROM vayu.forecast FINAL WHERE horizon > 0) AS issued
INNER JOIN
(
    SELECT place_kind, place, state, day, figure.1 AS parameter, assumeNotNull(figure.2) AS observed
    FROM
    (
        SELECT 'city' AS place_kind, city AS place, state, day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toNullable(toFloat64(aqi)))]) AS figure
        FROM vayu.city_day FINAL WHERE at >= toDateTime(day, 'UTC') - 19800 + 86400 - 6 * 3600
        UNION ALL
        SELECT 'station' AS place_kind, station AS place, '' AS state, toDate(at + 19800 - 1) AS day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toFloat64(aqi))]) AS figure
        FROM vayu.station_hour FINAL WHERE (toUnixTimestamp(at) + 19800) % 86400 = 0
    )
    WHERE isNotNull(figure.2)
) AS came USING (place_kind, place, state, day, parameter)
COMMENT 'Forecasts beside what came. One row per forecast of a day that has data to within six hours of its end.';


CREATE OR REPLACE VIEW vayu.forecast_score 
(
    run String COMMENT 'empty for issued forecasts; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology; two rows of as many forecasts are of the same days',
    forecasts UInt64 COMMENT 'number of forecasts with an observation',
    served UInt64 COMMENT 'number of them whose model was served; those of horizon 1 were never shown',
    mae Float64 COMMENT 'mean absolute error, µg/m³ (CO mg/m³), or AQI',
    rmse Float64 COMMENT 'root of the mean square error, in the unit of mae',
    bias Float64 COMMENT 'mean of forecast - observed, in the unit of mae',
    coverage80 Float64 COMMENT 'share of the observations from p10 to p90, 0-1; 0.8 is right'
)
AS
SELECT run, place_kind, place, state, parameter, horizon, season, model, count() AS forecasts, sum(served) AS served, avg(abs(error)) AS mae, sqrt(avg(error * error)) AS rmse, avg(error) AS bias, avg(covered) AS coverage80
FROM vayu.forecast_outcome
GROUP BY run, place_kind, place, state, parameter, horizon, season, model
COMMENT 'Score of the forecasts by place, parameter, horizon, season and model.';


CREATE OR REPLACE VIEW vayu.forecast_event 
(
    run String COMMENT 'empty for issued forecasts; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    event LowCardinality(String) COMMENT 'category of the AQI, or over 200, over 300, over 400',
    forecasts UInt64 COMMENT 'number of forecasts with an observation',
    hits UInt64 COMMENT 'the central value and the observation have the event',
    misses UInt64 COMMENT 'only the observation has it',
    false_alarms UInt64 COMMENT 'only the central value has it',
    brier Float64 COMMENT 'mean square of probability - observation (0 or 1); 0 is perfect'
)
AS
SELECT run, place_kind, place, state, horizon, season, model, warned.1 AS event, count() AS forecasts,
    countIf(warned.2 AND warned.3) AS hits, countIf(NOT warned.2 AND warned.3) AS misses, countIf(warned.2 AND NOT warned.3) AS false_alarms, avg(pow(warned.4 - warned.3, 2)) AS brier
FROM
(
    SELECT run, place_kind, place, state, horizon, season, model,
        arrayJoin(warnings) AS warned
    FROM vayu.forecast_outcome
    WHERE parameter = 'aqi'
)
GROUP BY run, place_kind, place, state, horizon, season, model, event
COMMENT 'Warnings of the AQI forecasts by place, horizon, season, model and event.';

-- Means of rain are amounts of an hour now. The first roll-up of this program computes those of shorter and longer readings again.
INSERT INTO vayu.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'wanted' FROM (SELECT 1 FROM vayu.station_parameter_hour WHERE parameter = 'rain' AND averaging != 60 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;

-- The mark of 0015 can be acknowledged by a program of before, which computes means of rain by the old formula, if it still
-- leads during a rolling upgrade. It neither reads nor writes the values here.
ALTER TABLE vayu.rollup 
MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';

INSERT INTO vayu.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'amounts_wanted' FROM (SELECT 1 FROM vayu.station_parameter_hour WHERE parameter = 'rain' AND averaging != 60 LIMIT 1)
SETTINGS distributed_foreground_insert = 1;

-- Forecasts of the PM2.5 of hours, the fits that they follow from, and their score. Forecasts of days that can be compared.
ALTER TABLE vayu.forecast 
    ADD COLUMN IF NOT EXISTS compared UInt8 DEFAULT 0 COMMENT '1: the damped anomaly and persistence both have this forecast; only such rows show which is better' AFTER served,
    ADD COLUMN IF NOT EXISTS stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC',
    COMMENT COLUMN horizon 'days from the last day with data to the day that is forecast; 0 for no forecast; GET /v1/forecast shows 2 to 5',
COMMENT COLUMN p50 '50th percentile, in the unit of p10; of persistence and climatology the value that they repeat';

-- Replays may be many. Issued forecasts have no end.
ALTER TABLE vayu.forecast  MODIFY TTL stored_at + INTERVAL 90 DAY DELETE WHERE run != '';


CREATE OR REPLACE VIEW vayu.forecast_outcome 
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that was forecast, Indian calendar (IST)',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows; it shows 5 only from midnight until the next issue',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed, for horizon 1 the one that it would have shown',
    compared UInt8 COMMENT '1: the damped anomaly and persistence both have a forecast of this day; compare models by these rows',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'forecast: 50th percentile, in the unit of p10',
    p90 Float32 COMMENT 'forecast: 90th percentile, in the unit of p10',
    probabilities Array(Float32) COMMENT 'forecast: probability of each AQI category from Good to Severe, 0-1; zeros for concentrations',
    observed Float64 COMMENT 'figure of the day as it is stored now, in the unit of p10',
    error Float64 COMMENT 'p50 - observed, in the unit of p10',
    covered UInt8 COMMENT '1: observed is from p10 to p90',
    warnings Array(Tuple(String, UInt8, UInt8, Float32)) COMMENT 'of the AQI: events (categories, over 200, over 300, over 400), whether p50 and observed have them, and their probability'
)
AS
SELECT run, place_kind, place, state, parameter, day, ['winter', 'spring', 'summer', 'autumn'][1 + intDiv(toMonth(day) % 12, 3)] AS season, horizon, model, served, compared,
    p10, p50, p90, [good, satisfactory, moderate, poor, very_poor, severe] AS probabilities, observed, p50 - observed AS error, observed BETWEEN p10 AND p90 AS covered,
    if(parameter = 'aqi', arrayConcat(
        arrayMap((name, chance) -> (name, ifNull(naqi_category(toUInt16(p50)) = name, 0), ifNull(naqi_category(toUInt16(observed)) = name, 0), chance), ['Good', 'Satisfactory', 'Moderate', 'Poor', 'Very Poor', 'Severe'], probabilities),
        arrayMap((edge, first) -> (concat('over ', toString(edge)), p50 > edge, observed > edge, toFloat32(arraySum(arraySlice(probabilities, first)))), [200, 300, 400], [4, 5, 6])), []) AS warnings
FROM (SELECT * FROM vayu.forecast FINAL WHERE horizon > 0) AS issued
INNER JOIN
(
    SELECT place_kind, place, state, day, figure.1 AS parameter, assumeNotNull(figure.2) AS observed
    FROM
    (
        SELECT 'city' AS place_kind, city AS place, state, day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toNullable(toFloat64(aqi)))]) AS figure
        FROM vayu.city_day FINAL WHERE at >= toDateTime(day, 'UTC') - 19800 + 86400 - 6 * 3600
        UNION ALL
        SELECT 'station' AS place_kind, station AS place, '' AS state, toDate(at + 19800 - 1) AS day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toFloat64(aqi))]) AS figure
        FROM vayu.station_hour FINAL WHERE (toUnixTimestamp(at) + 19800) % 86400 = 0
    )
    WHERE isNotNull(figure.2)
) AS came USING (place_kind, place, state, day, parameter)
COMMENT 'Forecasts beside what came. One row per forecast of a day that has data to within six hours of its end.';


CREATE TABLE IF NOT EXISTS vayu.forecast_hour 
(
    run String COMMENT 'empty for an issued forecast; of a test or replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25',
    base DateTime('UTC') COMMENT 'end of the last hour whose data the forecast uses, UTC' CODEC(DoubleDelta, LZ4),
    horizon UInt8 COMMENT 'hours from base to at, 1-60; 0 for no forecast, see reason',
    at DateTime('UTC') COMMENT 'end of the hour that is forecast, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    model LowCardinality(String) COMMENT 'diurnal_anomaly, or persistence: the last 24 hours repeated; none for no forecast',
    served UInt8 COMMENT '1: the better model, which GET /v1/forecast shows; 0: it is stored to be compared',
    compared UInt8 COMMENT '1: both models have a forecast of this hour',
    p10 Float32 COMMENT '10th percentile, µg/m³',
    p50 Float32 COMMENT '50th percentile, µg/m³',
    p90 Float32 COMMENT '90th percentile, µg/m³',
    widening Float32 COMMENT 'by how much recalibration moved p10 down and p90 up, natural logarithm',
    reason LowCardinality(String) COMMENT 'why there is no forecast, or why persistence is served: no_recent_data, constant_series, too_little_history, recent_gaps, persistence_not_beaten; empty for none',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    issued_at DateTime64(3, 'UTC') COMMENT 'when it was issued, UTC: it uses only what was stored before' CODEC(DoubleDelta, LZ4),
    precedence UInt64 DEFAULT 18446744073709551615 - toUInt64(toUnixTimestamp64Milli(issued_at)) COMMENT 'of equal keys the row with the largest counts: the first that was issued' CODEC(DoubleDelta, LZ4)
)
ENGINE = ReplacingMergeTree(precedence)
PARTITION BY toYYYYMM(base)
ORDER BY (run, place_kind, place, state, parameter, base, horizon, model)
COMMENT 'Forecasts of the PM2.5 of hours, issued every six hours. A forecast is never changed. Written by pipeline/airquality/forecast only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.forecast_hour_issue 
(
    run String COMMENT 'forecast_hour.run',
    base DateTime('UTC') COMMENT 'forecast_hour.base',
    issued_at DateTime64(3, 'UTC') COMMENT 'forecast_hour.issued_at',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    forecasts UInt64 COMMENT 'number of forecasts of the base'
)
ENGINE = ReplacingMergeTree(issued_at)
ORDER BY (run, base)
COMMENT 'One row per hour from which forecasts of hours were issued, stored after all of them. Written by pipeline/airquality/forecast only. Read with FINAL.';



CREATE TABLE IF NOT EXISTS vayu.forecast_hour_fit 
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'when it was fitted, UTC',
    horizon UInt8 COMMENT 'hours ahead, 1-60',
    latest_weight Float64 COMMENT 'weight of the mean anomaly of the last three hours; an anomaly is the natural logarithm of the ratio to the usual value of the hour',
    day_weight Float64 COMMENT 'weight of the mean anomaly of the last 24 hours',
    samples UInt64 COMMENT 'pairs of an hour and its target',
    series UInt32 COMMENT 'places with enough data'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, horizon)
COMMENT 'Coefficients of the diurnal anomaly, one fit a day over the last four weeks, pooled over all places. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_hour_residual 
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    until UInt8 COMMENT 'last of six horizons: 6, 12, … 60',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence',
    samples UInt32 COMMENT 'number of residuals',
    mae Float64 COMMENT 'mean absolute error, µg/m³',
    low Float32 COMMENT '10th percentile of the natural logarithm of measured over forecast',
    middle Float32 COMMENT '50th percentile of the natural logarithm of measured over forecast',
    high Float32 COMMENT '90th percentile of the natural logarithm of measured over forecast',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, place_kind, place, state, until, model)
TTL stored_at + INTERVAL 10 DAY
COMMENT 'Errors of both models in the four weeks before a fit, of the fits of the last 10 days. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_hour_score 
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC: the score is of the 90 days before',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    until UInt8 COMMENT 'last of six horizons: 6, 12, … 60',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence, of the forecasts that both have; served, of those that were shown; or repeated, of persistence in the same hours as served',
    forecasts UInt64 COMMENT 'number of issued forecasts with an observation',
    mae Float64 COMMENT 'mean absolute error, µg/m³',
    coverage80 Float64 COMMENT 'share of the observations from p10 to p90, 0-1; 0.8 is right',
    widening Float64 COMMENT 'by how much p10 must move down and p90 up for 80 % of the last 60 days, natural logarithm; 0 with fewer than 20 forecasts'
)
ENGINE = MergeTree
ORDER BY (run, fitted_at, place_kind, place, state, until, model)
COMMENT 'Score of the issued forecasts of hours over the 90 days before each fit. Written by pipeline/airquality/forecast only.';



CREATE TABLE IF NOT EXISTS vayu.forecast_hour_input 
(
    input String COMMENT 'id of a fit or an issue',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    position UInt16 COMMENT 'hour of the input, from 1; the last 60 are after the base',
    level Float32 COMMENT 'natural logarithm of the mean of the hour; NaN for none, as in all columns',
    usual Array(Float32) COMMENT 'mean level of this hour of the day over two weeks that end 1, 2 and 3 days before',
    repeated Array(Float32) COMMENT 'last level of this hour of the day, at least 1, 2 and 3 days before',
    latest Float32 COMMENT 'mean anomaly of the last three hours',
    day Float32 COMMENT 'mean anomaly of the last 24 hours',
    hours UInt8 COMMENT 'hours with data of the last 24',
    steady UInt8 COMMENT '1: the values of the last 24 hours are all equal',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = MergeTree
ORDER BY (input, place_kind, place, state, position)
TTL stored_at + INTERVAL 1 DAY
COMMENT 'Hours on which fits and issues of the last day worked. Written by pipeline/airquality/forecast only.';



CREATE OR REPLACE VIEW vayu.forecast_hour_outcome 
(
    run String COMMENT 'empty for an issued forecast; of a test or replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    base DateTime('UTC') COMMENT 'end of the last hour whose data the forecast uses, UTC',
    horizon UInt8 COMMENT 'hours from base to at, 1-60',
    at DateTime('UTC') COMMENT 'end of the hour that was forecast, UTC',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed',
    compared UInt8 COMMENT '1: both models have a forecast of this hour',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³',
    p50 Float32 COMMENT 'forecast: 50th percentile, µg/m³',
    p90 Float32 COMMENT 'forecast: 90th percentile, µg/m³',
    widening Float32 COMMENT 'forecast_hour.widening',
    observed Float64 COMMENT 'mean of the hour as it is stored now, µg/m³',
    error Float64 COMMENT 'p50 - observed, µg/m³',
    covered UInt8 COMMENT '1: observed is from p10 to p90'
)
AS
SELECT run, place_kind, place, state, base, horizon, at, model, served, compared, p10, p50, p90, widening, observed, p50 - observed AS error, observed BETWEEN p10 AND p90 AS covered
FROM (SELECT * FROM vayu.forecast_hour FINAL WHERE horizon > 0) AS issued
INNER JOIN
(
    SELECT 'station' AS place_kind, toString(station) AS place, '' AS state, at, assumeNotNull(mean) AS observed
    FROM vayu.station_parameter_hour FINAL
    WHERE parameter = 'pm25' AND kind = 'concentration' AND mean > 0 AND mean < 999 AND station IN (SELECT id FROM vayu.station FINAL)
    UNION ALL
    SELECT 'city' AS place_kind, city AS place, state, at, if(countIf(reference) > 0, avgIf(value, reference), avg(value)) AS observed
    FROM
    (
        SELECT described.city AS city, described.state AS state, described.physical AS physical, described.kind = 'reference' AS reference, at, avg(assumeNotNull(mean)) AS value
        FROM vayu.station_parameter_hour AS hour FINAL
        INNER JOIN (SELECT id, city, state, kind, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL WHERE city != '' AND kind != 'sensor') AS described ON described.id = hour.station
        WHERE parameter = 'pm25' AND hour.kind = 'concentration' AND mean > 0 AND mean < 999
        GROUP BY city, state, physical, reference, at
    )
    GROUP BY city, state, at
) AS came USING (place_kind, place, state, at)
COMMENT 'Forecasts of hours beside what came. One row per forecast of an hour that has data.';

-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 7ab64ac815df92e5

ALTER TABLE vayu.station_parameter_hour 
    COMMENT COLUMN minimum 'least of the readings; of rain, each as the amount of an hour',
COMMENT COLUMN maximum 'largest of the readings; of rain, each as the amount of an hour';

-- A program with the old formula of rain can lead again after amounts_done, while instances of both run. Each roll-up
-- therefore has a mark of its formula, and the program with the new formula computes the rain of the others again.
ALTER TABLE vayu.rollup 
MODIFY COLUMN means Enum8('none' = 0, 'wanted' = 1, 'done' = 2, 'amounts_wanted' = 3, 'amounts_done' = 4, 'amounts' = 5) DEFAULT 'none' COMMENT 'none: a roll-up by a program whose means of rain are no amounts; amounts: by one whose means are; wanted: plain means of the readings before are to be computed; done: they are; amounts_wanted, amounts_done: the same by a program whose means of rain are amounts of an hour';

-- Views and functions of analysts, generated from schema/views. A changed view needs a new migration like this one, with
-- the next number and the new fingerprint. Of several such migrations only the last has an effect.
-- fingerprint 779a789d0a17a5bd
CREATE OR REPLACE FUNCTION grap_band  AS aqi -> multiIf(isNull(aqi), NULL, aqi > 450, 'IV', aqi > 400, 'III', aqi > 300, 'II', aqi > 200, 'I', 'none');

CREATE OR REPLACE FUNCTION india_season  AS day -> multiIf(toMonth(day) <= 2, 'winter', toMonth(day) <= 5, 'pre-monsoon', toMonth(day) <= 9, 'monsoon', 'post-monsoon');

CREATE OR REPLACE FUNCTION parameter_unit  AS parameter -> transform(toString(parameter), ['pm25', 'pm10', 'no2', 'so2', 'co', 'o3', 'nh3', 'pb', 'pm1', 'bc', 'no', 'nox', 'co2', 'h2s', 'ch4', 'benzene', 'toluene', 'ethylbenzene', 'xylene', 'mp_xylene', 'o_xylene', 'tvoc', 'temperature', 'humidity', 'pressure', 'wind_speed', 'wind_direction', 'rain', 'solar_radiation'], ['µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'mg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'ppb', 'ppm', 'µg/m³', 'ppm', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'µg/m³', 'ppb', '°C', '%', 'hPa', 'm/s', '°', 'mm', 'W/m²'], '');

CREATE OR REPLACE FUNCTION naaqs_limit  AS (parameter, period) -> multiIf(parameter = 'pm25' AND period = 'year', 40, parameter = 'pm25' AND period = '24h', 60, parameter = 'pm10' AND period = 'year', 60, parameter = 'pm10' AND period = '24h', 100, parameter = 'no2' AND period = 'year', 40, parameter = 'no2' AND period = '24h', 80, parameter = 'so2' AND period = 'year', 50, parameter = 'so2' AND period = '24h', 80, parameter = 'nh3' AND period = 'year', 100, parameter = 'nh3' AND period = '24h', 400, parameter = 'pb' AND period = 'year', 0.5, parameter = 'pb' AND period = '24h', 1, parameter = 'o3' AND period = '8h', 100, parameter = 'o3' AND period = '1h', 180, parameter = 'co' AND period = '8h', 2, parameter = 'co' AND period = '1h', 4, parameter = 'benzene' AND period = 'year', 5, NULL);

CREATE OR REPLACE FUNCTION who_limit  AS (parameter, period) -> multiIf(parameter = 'pm25' AND period = 'year', 5, parameter = 'pm25' AND period = '24h', 15, parameter = 'pm10' AND period = 'year', 15, parameter = 'pm10' AND period = '24h', 45, parameter = 'no2' AND period = 'year', 10, parameter = 'no2' AND period = '24h', 25, parameter = 'no2' AND period = '1h', 200, parameter = 'so2' AND period = '24h', 40, parameter = 'o3' AND period = '8h', 100, parameter = 'co' AND period = '24h', 4, parameter = 'co' AND period = '8h', 10, parameter = 'co' AND period = '1h', 35, NULL);

CREATE OR REPLACE VIEW vayu.standard 
(
    standard LowCardinality(String) COMMENT 'naaqs_2009 or who_2021',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    period LowCardinality(String) COMMENT 'averaging time of the limit: 1h, 8h, 24h or year',
    value Float64 COMMENT 'limit, in unit',
    unit LowCardinality(String) COMMENT 'unit of value',
    percentile Nullable(UInt8) COMMENT 'share of the times of a year that must meet the limit, per cent; NULL for the mean of a year',
    source String COMMENT 'document that sets the limit'
)
AS
SELECT fact.1 AS standard, fact.2 AS parameter, fact.3 AS period, fact.4 AS value, parameter_unit(parameter) AS unit,
    if(period = 'year', NULL, toUInt8(fact.5)) AS percentile, fact.6 AS source
FROM (SELECT arrayJoin([
    ('naaqs_2009', 'pm25', 'year', toFloat64(40), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'pm25', '24h', toFloat64(60), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'pm10', 'year', toFloat64(60), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'pm10', '24h', toFloat64(100), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'no2', 'year', toFloat64(40), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'no2', '24h', toFloat64(80), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'so2', 'year', toFloat64(50), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'so2', '24h', toFloat64(80), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'nh3', 'year', toFloat64(100), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'nh3', '24h', toFloat64(400), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'pb', 'year', toFloat64(0.5), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'pb', '24h', toFloat64(1), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'o3', '8h', toFloat64(100), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'o3', '1h', toFloat64(180), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'co', '8h', toFloat64(2), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'co', '1h', toFloat64(4), 98, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('naaqs_2009', 'benzene', 'year', toFloat64(5), 0, 'CPCB, National Ambient Air Quality Standards, notification B-29016/20/90/PCI-L, 18 November 2009'),
    ('who_2021', 'pm25', 'year', toFloat64(5), 0, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'pm25', '24h', toFloat64(15), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'pm10', 'year', toFloat64(15), 0, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'pm10', '24h', toFloat64(45), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'no2', 'year', toFloat64(10), 0, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'no2', '24h', toFloat64(25), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'no2', '1h', toFloat64(200), 100, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'so2', '24h', toFloat64(40), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'o3', '8h', toFloat64(100), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'co', '24h', toFloat64(4), 99, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'co', '8h', toFloat64(10), 100, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8'),
    ('who_2021', 'co', '1h', toFloat64(35), 100, 'WHO global air quality guidelines, 2021, ISBN 978-92-4-003422-8')]) AS fact)
COMMENT 'Limits of India''s NAAQS 2009 (industrial, residential, rural and other areas) and of the WHO guidelines 2021. One row per standard, parameter and period.';

CREATE OR REPLACE VIEW vayu.openair 
(
    date DateTime('Asia/Kolkata') COMMENT 'begin of the hour, Indian time',
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    pm25 Nullable(Float64) COMMENT 'PM2.5, µg/m³, mean of the hour as measured',
    pm10 Nullable(Float64) COMMENT 'PM10, µg/m³, mean of the hour as measured',
    no2 Nullable(Float64) COMMENT 'NO2, µg/m³, mean of the hour as measured',
    so2 Nullable(Float64) COMMENT 'SO2, µg/m³, mean of the hour as measured',
    co Nullable(Float64) COMMENT 'CO, mg/m³, mean of the hour as measured',
    o3 Nullable(Float64) COMMENT 'O3, µg/m³, mean of the hour as measured',
    nh3 Nullable(Float64) COMMENT 'NH3, µg/m³, mean of the hour as measured',
    pb Nullable(Float64) COMMENT 'Pb, µg/m³, mean of the hour as measured',
    pm1 Nullable(Float64) COMMENT 'PM1, µg/m³, mean of the hour as measured',
    bc Nullable(Float64) COMMENT 'Black carbon, µg/m³, mean of the hour as measured',
    no Nullable(Float64) COMMENT 'NO, µg/m³, mean of the hour as measured',
    nox Nullable(Float64) COMMENT 'NOx, ppb, mean of the hour as measured',
    co2 Nullable(Float64) COMMENT 'CO2, ppm, mean of the hour as measured',
    h2s Nullable(Float64) COMMENT 'H2S, µg/m³, mean of the hour as measured',
    ch4 Nullable(Float64) COMMENT 'CH4, ppm, mean of the hour as measured',
    benzene Nullable(Float64) COMMENT 'Benzene, µg/m³, mean of the hour as measured',
    toluene Nullable(Float64) COMMENT 'Toluene, µg/m³, mean of the hour as measured',
    ethylbenzene Nullable(Float64) COMMENT 'Ethylbenzene, µg/m³, mean of the hour as measured',
    xylene Nullable(Float64) COMMENT 'Xylenes, µg/m³, mean of the hour as measured',
    mp_xylene Nullable(Float64) COMMENT 'm,p-Xylene, µg/m³, mean of the hour as measured',
    o_xylene Nullable(Float64) COMMENT 'o-Xylene, µg/m³, mean of the hour as measured',
    tvoc Nullable(Float64) COMMENT 'TVOC, ppb, mean of the hour as measured',
    temperature Nullable(Float64) COMMENT 'Temperature, °C, mean of the hour as measured',
    rh Nullable(Float64) COMMENT 'Relative humidity, %, mean of the hour as measured',
    pressure Nullable(Float64) COMMENT 'Pressure, hPa, mean of the hour as measured',
    ws Nullable(Float64) COMMENT 'Wind speed, m/s, mean of the hour as measured',
    wd Nullable(Float64) COMMENT 'Wind direction, °, mean of the hour as measured, from north, of unit vectors',
    rain Nullable(Float64) COMMENT 'Rain, mm, amount of the hour as measured',
    solar_radiation Nullable(Float64) COMMENT 'Solar radiation, W/m², mean of the hour as measured'
)
AS
WITH days AS
(
    -- The parameters of a day side by side. Each has one row of a day, whose hours groupArrayArray returns faster than any does.
    SELECT station, day, groupBitOr(present) AS any_present,
        anyIf(present, parameter = 'pm25') AS pm25_present, groupArrayArrayIf(hours, parameter = 'pm25') AS pm25_hours,
        anyIf(present, parameter = 'pm10') AS pm10_present, groupArrayArrayIf(hours, parameter = 'pm10') AS pm10_hours,
        anyIf(present, parameter = 'no2') AS no2_present, groupArrayArrayIf(hours, parameter = 'no2') AS no2_hours,
        anyIf(present, parameter = 'so2') AS so2_present, groupArrayArrayIf(hours, parameter = 'so2') AS so2_hours,
        anyIf(present, parameter = 'co') AS co_present, groupArrayArrayIf(hours, parameter = 'co') AS co_hours,
        anyIf(present, parameter = 'o3') AS o3_present, groupArrayArrayIf(hours, parameter = 'o3') AS o3_hours,
        anyIf(present, parameter = 'nh3') AS nh3_present, groupArrayArrayIf(hours, parameter = 'nh3') AS nh3_hours,
        anyIf(present, parameter = 'pb') AS pb_present, groupArrayArrayIf(hours, parameter = 'pb') AS pb_hours,
        anyIf(present, parameter = 'pm1') AS pm1_present, groupArrayArrayIf(hours, parameter = 'pm1') AS pm1_hours,
        anyIf(present, parameter = 'bc') AS bc_present, groupArrayArrayIf(hours, parameter = 'bc') AS bc_hours,
        anyIf(present, parameter = 'no') AS no_present, groupArrayArrayIf(hours, parameter = 'no') AS no_hours,
        anyIf(present, parameter = 'nox') AS nox_present, groupArrayArrayIf(hours, parameter = 'nox') AS nox_hours,
        anyIf(present, parameter = 'co2') AS co2_present, groupArrayArrayIf(hours, parameter = 'co2') AS co2_hours,
        anyIf(present, parameter = 'h2s') AS h2s_present, groupArrayArrayIf(hours, parameter = 'h2s') AS h2s_hours,
        anyIf(present, parameter = 'ch4') AS ch4_present, groupArrayArrayIf(hours, parameter = 'ch4') AS ch4_hours,
        anyIf(present, parameter = 'benzene') AS benzene_present, groupArrayArrayIf(hours, parameter = 'benzene') AS benzene_hours,
        anyIf(present, parameter = 'toluene') AS toluene_present, groupArrayArrayIf(hours, parameter = 'toluene') AS toluene_hours,
        anyIf(present, parameter = 'ethylbenzene') AS ethylbenzene_present, groupArrayArrayIf(hours, parameter = 'ethylbenzene') AS ethylbenzene_hours,
        anyIf(present, parameter = 'xylene') AS xylene_present, groupArrayArrayIf(hours, parameter = 'xylene') AS xylene_hours,
        anyIf(present, parameter = 'mp_xylene') AS mp_xylene_present, groupArrayArrayIf(hours, parameter = 'mp_xylene') AS mp_xylene_hours,
        anyIf(present, parameter = 'o_xylene') AS o_xylene_present, groupArrayArrayIf(hours, parameter = 'o_xylene') AS o_xylene_hours,
        anyIf(present, parameter = 'tvoc') AS tvoc_present, groupArrayArrayIf(hours, parameter = 'tvoc') AS tvoc_hours,
        anyIf(present, parameter = 'temperature') AS temperature_present, groupArrayArrayIf(hours, parameter = 'temperature') AS temperature_hours,
        anyIf(present, parameter = 'humidity') AS rh_present, groupArrayArrayIf(hours, parameter = 'humidity') AS rh_hours,
        anyIf(present, parameter = 'pressure') AS pressure_present, groupArrayArrayIf(hours, parameter = 'pressure') AS pressure_hours,
        anyIf(present, parameter = 'wind_speed') AS ws_present, groupArrayArrayIf(hours, parameter = 'wind_speed') AS ws_hours,
        anyIf(present, parameter = 'wind_direction') AS wd_present, groupArrayArrayIf(hours, parameter = 'wind_direction') AS wd_hours,
        anyIf(present, parameter = 'rain') AS rain_present, groupArrayArrayIf(hours, parameter = 'rain') AS rain_hours,
        anyIf(present, parameter = 'solar_radiation') AS solar_radiation_present, groupArrayArrayIf(hours, parameter = 'solar_radiation') AS solar_radiation_hours
    FROM
    (
        SELECT station, day, parameter, present, hours
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE present != 0
    )
    GROUP BY station, day
)
SELECT toDateTime(day, 'Asia/Kolkata') + 3600 * clock AS date, station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind,
    if(bitTest(pm25_present, clock), pm25_hours[bitCount(bitAnd(pm25_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS pm25,
    if(bitTest(pm10_present, clock), pm10_hours[bitCount(bitAnd(pm10_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS pm10,
    if(bitTest(no2_present, clock), no2_hours[bitCount(bitAnd(no2_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS no2,
    if(bitTest(so2_present, clock), so2_hours[bitCount(bitAnd(so2_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS so2,
    if(bitTest(co_present, clock), co_hours[bitCount(bitAnd(co_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS co,
    if(bitTest(o3_present, clock), o3_hours[bitCount(bitAnd(o3_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS o3,
    if(bitTest(nh3_present, clock), nh3_hours[bitCount(bitAnd(nh3_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS nh3,
    if(bitTest(pb_present, clock), pb_hours[bitCount(bitAnd(pb_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS pb,
    if(bitTest(pm1_present, clock), pm1_hours[bitCount(bitAnd(pm1_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS pm1,
    if(bitTest(bc_present, clock), bc_hours[bitCount(bitAnd(bc_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS bc,
    if(bitTest(no_present, clock), no_hours[bitCount(bitAnd(no_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS no,
    if(bitTest(nox_present, clock), nox_hours[bitCount(bitAnd(nox_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS nox,
    if(bitTest(co2_present, clock), co2_hours[bitCount(bitAnd(co2_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS co2,
    if(bitTest(h2s_present, clock), h2s_hours[bitCount(bitAnd(h2s_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS h2s,
    if(bitTest(ch4_present, clock), ch4_hours[bitCount(bitAnd(ch4_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS ch4,
    if(bitTest(benzene_present, clock), benzene_hours[bitCount(bitAnd(benzene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS benzene,
    if(bitTest(toluene_present, clock), toluene_hours[bitCount(bitAnd(toluene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS toluene,
    if(bitTest(ethylbenzene_present, clock), ethylbenzene_hours[bitCount(bitAnd(ethylbenzene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS ethylbenzene,
    if(bitTest(xylene_present, clock), xylene_hours[bitCount(bitAnd(xylene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS xylene,
    if(bitTest(mp_xylene_present, clock), mp_xylene_hours[bitCount(bitAnd(mp_xylene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS mp_xylene,
    if(bitTest(o_xylene_present, clock), o_xylene_hours[bitCount(bitAnd(o_xylene_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS o_xylene,
    if(bitTest(tvoc_present, clock), tvoc_hours[bitCount(bitAnd(tvoc_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS tvoc,
    if(bitTest(temperature_present, clock), temperature_hours[bitCount(bitAnd(temperature_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS temperature,
    if(bitTest(rh_present, clock), rh_hours[bitCount(bitAnd(rh_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS rh,
    if(bitTest(pressure_present, clock), pressure_hours[bitCount(bitAnd(pressure_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS pressure,
    if(bitTest(ws_present, clock), ws_hours[bitCount(bitAnd(ws_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS ws,
    if(bitTest(wd_present, clock), wd_hours[bitCount(bitAnd(wd_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS wd,
    if(bitTest(rain_present, clock), rain_hours[bitCount(bitAnd(rain_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS rain,
    if(bitTest(solar_radiation_present, clock), solar_radiation_hours[bitCount(bitAnd(solar_radiation_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS solar_radiation
FROM days INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
ARRAY JOIN bitPositionsToArray(any_present) AS clock
COMMENT 'Hourly means, wide, with the names that the R package openair expects. One row per physical station and hour that has any mean.';

CREATE OR REPLACE VIEW vayu.daily 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    day Date COMMENT 'Indian calendar day',
    mean Float64 COMMENT 'mean of the hours of the day, or the mean that the source published, in unit; a direction: of unit vectors',
    max_1h Nullable(Float64) COMMENT 'largest hourly mean, in unit; NULL without hours, for a published mean and for directions',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, of at least 6 hours, in unit; NULL as max_1h is',
    measured_hours UInt8 COMMENT 'hours with a measured mean, fewer than 16 for a published mean',
    hours UInt8 COMMENT 'hours with a mean; 24 for a published mean of the day',
    capture Float64 COMMENT 'hours / 24, 0-1',
    published Bool COMMENT 'the source published the mean of the day',
    valid Bool COMMENT 'at least 16 hours have a mean, or the mean was published',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect',
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn'
)
AS
SELECT fact.station AS station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit,
    day, assumeNotNull(fact.mean) AS mean, if(empty(clock) OR published OR parameter = 'wind_direction', NULL, arrayMax(clock)) AS max_1h, if(published, NULL, fact.max_8h) AS max_8h,
    toUInt8(length(clock)) AS measured_hours, toUInt8(if(published, 24, count)) AS hours, hours / 24 AS capture, published,
    toBool(hours >= 16) AS valid, suspect, excluded
FROM
(
    SELECT station, parameter, day, mean, hours AS clock, max_8h, count, suspect, excluded, toBool(expected = 1) AS published
    FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
    )
    WHERE isNotNull(mean)
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'Days. One row per physical station, parameter and Indian day with a mean.';

CREATE OR REPLACE VIEW vayu.data_capture 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    month Date COMMENT 'first day of the Indian month',
    days UInt8 COMMENT 'valid days: those with at least 16 hours, or with a published mean',
    suspect UInt32 COMMENT 'readings in the means that a quality test calls suspect',
    excluded UInt32 COMMENT 'readings left out: failed a quality test, or withdrawn',
    measured_hours UInt32 COMMENT 'hours with a measured mean; a published mean of a day has none',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, month, days, suspect, excluded, measured_hours, hours,
    24 * toDayOfMonth(toLastDayOfMonth(month)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toStartOfMonth(day) AS month, countIf(weight >= 16) AS days,
        sum(suspects) AS suspect, sum(excludes) AS excluded, sum(measured) AS measured_hours, sum(weight) AS hours
    FROM
    (
        SELECT station, parameter, day, toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured, suspect AS suspects, excluded AS excludes
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
    )
    GROUP BY station, parameter, month
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'Which share of the hours has a mean. One row per station, parameter and Indian month with any reading.';

CREATE OR REPLACE VIEW vayu.monthly_statistics 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    month Date COMMENT 'first day of the Indian month',
    mean Nullable(Float64) COMMENT 'mean of the hours, in the unit of the row; a published mean of a day counts as 24 hours',
    minimum Nullable(Float64) COMMENT 'least hourly mean, in the unit of the row; NULL without hours, or if published means alone make the row complete',
    p05 Nullable(Float64) COMMENT '5th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p25 Nullable(Float64) COMMENT '25th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    median Nullable(Float64) COMMENT 'median of the hourly means, in the unit of the row; NULL as minimum is',
    p75 Nullable(Float64) COMMENT '75th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p95 Nullable(Float64) COMMENT '95th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p98 Nullable(Float64) COMMENT '98th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    maximum Nullable(Float64) COMMENT 'largest hourly mean, in the unit of the row; NULL as minimum is',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean, of at least 6 hours, in the unit of the row; NULL as minimum is',
    max_day Nullable(Float64) COMMENT 'largest mean of a valid day, in the unit of the row',
    days UInt16 COMMENT 'valid days: those with at least 16 hours, or with a published mean',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which percentiles and extremes of hours rest; a published mean of a day has none',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, month,
    mean,
    -- A complete row has no figures of hours unless the measured hours alone make it complete.
    complete AND measured_hours < 0.75 * expected_hours AS unmeasured,
    if(unmeasured, NULL, shares[1]) AS minimum, if(unmeasured, NULL, shares[2]) AS p05, if(unmeasured, NULL, shares[3]) AS p25, if(unmeasured, NULL, shares[4]) AS median,
    if(unmeasured, NULL, shares[5]) AS p75, if(unmeasured, NULL, shares[6]) AS p95, if(unmeasured, NULL, shares[7]) AS p98, if(unmeasured, NULL, shares[8]) AS maximum,
    if(unmeasured, NULL, eight) AS max_8h, max_day, days, measured_hours, hours,
    24 * toDayOfMonth(toLastDayOfMonth(month)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toStartOfMonth(day) AS month,
        toFloat64(sum(toDecimal128(if(abs(day_mean * weight) < 1e20, day_mean * weight, 0), 12))) / nullIf(sum(weight), 0) AS mean,
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveArray(0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.98, 1)(clock)) AS shares,
        max(eight) AS eight, maxOrNullIf(day_mean, weight >= 16) AS max_day,
        countIf(weight >= 16) AS days, sum(measured) AS measured_hours, sum(weight) AS hours
    FROM
    (
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE parameter != 'wind_direction'
    )
    GROUP BY station, parameter, month
    HAVING hours > 0
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'Figures of months. One row per station, parameter and Indian month. Percentiles interpolate (quantileExactInclusive, type 7 of R).';

CREATE OR REPLACE VIEW vayu.annual_statistics 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    year UInt16 COMMENT 'Indian calendar year',
    day_median Nullable(Float64) COMMENT 'median of the means of valid days, in the unit of the row',
    day_p98 Nullable(Float64) COMMENT '98th percentile of the means of valid days, in the unit of the row',
    day_p99 Nullable(Float64) COMMENT '99th percentile of the means of valid days, in the unit of the row',
    mean Nullable(Float64) COMMENT 'mean of the hours, in the unit of the row; a published mean of a day counts as 24 hours',
    minimum Nullable(Float64) COMMENT 'least hourly mean, in the unit of the row; NULL without hours, or if published means alone make the row complete',
    p05 Nullable(Float64) COMMENT '5th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p25 Nullable(Float64) COMMENT '25th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    median Nullable(Float64) COMMENT 'median of the hourly means, in the unit of the row; NULL as minimum is',
    p75 Nullable(Float64) COMMENT '75th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p95 Nullable(Float64) COMMENT '95th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p98 Nullable(Float64) COMMENT '98th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    maximum Nullable(Float64) COMMENT 'largest hourly mean, in the unit of the row; NULL as minimum is',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean, of at least 6 hours, in the unit of the row; NULL as minimum is',
    max_day Nullable(Float64) COMMENT 'largest mean of a valid day, in the unit of the row',
    days UInt16 COMMENT 'valid days: those with at least 16 hours, or with a published mean',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which percentiles and extremes of hours rest; a published mean of a day has none',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    day_median, day_p98, day_p99,
    mean,
    -- A complete row has no figures of hours unless the measured hours alone make it complete.
    complete AND measured_hours < 0.75 * expected_hours AS unmeasured,
    if(unmeasured, NULL, shares[1]) AS minimum, if(unmeasured, NULL, shares[2]) AS p05, if(unmeasured, NULL, shares[3]) AS p25, if(unmeasured, NULL, shares[4]) AS median,
    if(unmeasured, NULL, shares[5]) AS p75, if(unmeasured, NULL, shares[6]) AS p95, if(unmeasured, NULL, shares[7]) AS p98, if(unmeasured, NULL, shares[8]) AS maximum,
    if(unmeasured, NULL, eight) AS max_8h, max_day, days, measured_hours, hours,
    24 * dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toYear(day) AS year,
        toFloat64(sum(toDecimal128(if(abs(day_mean * weight) < 1e20, day_mean * weight, 0), 12))) / nullIf(sum(weight), 0) AS mean,
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveArray(0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.98, 1)(clock)) AS shares,
        max(eight) AS eight, maxOrNullIf(day_mean, weight >= 16) AS max_day,
        countIf(weight >= 16) AS days, sum(measured) AS measured_hours, sum(weight) AS hours,
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveIf(0.5, 0.98, 0.99)(assumeNotNull(day_mean), weight >= 16)) AS day_shares,
        day_shares[1] AS day_median, day_shares[2] AS day_p98, day_shares[3] AS day_p99
    FROM
    (
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE parameter != 'wind_direction'
    )
    GROUP BY station, parameter, year
    HAVING hours > 0
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'Figures of years. One row per station, parameter and Indian year. Percentiles interpolate (quantileExactInclusive, type 7 of R).';

CREATE OR REPLACE VIEW vayu.season 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    year UInt16 COMMENT 'Indian calendar year',
    season LowCardinality(String) COMMENT 'winter (January, February), pre-monsoon (March to May), monsoon (June to September) or post-monsoon (October to December), as the India Meteorological Department divides the year',
    mean Nullable(Float64) COMMENT 'mean of the hours, in the unit of the row; a published mean of a day counts as 24 hours',
    minimum Nullable(Float64) COMMENT 'least hourly mean, in the unit of the row; NULL without hours, or if published means alone make the row complete',
    p05 Nullable(Float64) COMMENT '5th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p25 Nullable(Float64) COMMENT '25th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    median Nullable(Float64) COMMENT 'median of the hourly means, in the unit of the row; NULL as minimum is',
    p75 Nullable(Float64) COMMENT '75th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p95 Nullable(Float64) COMMENT '95th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    p98 Nullable(Float64) COMMENT '98th percentile of the hourly means, in the unit of the row; NULL as minimum is',
    maximum Nullable(Float64) COMMENT 'largest hourly mean, in the unit of the row; NULL as minimum is',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean, of at least 6 hours, in the unit of the row; NULL as minimum is',
    max_day Nullable(Float64) COMMENT 'largest mean of a valid day, in the unit of the row',
    days UInt16 COMMENT 'valid days: those with at least 16 hours, or with a published mean',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which percentiles and extremes of hours rest; a published mean of a day has none',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year, season,
    mean,
    -- A complete row has no figures of hours unless the measured hours alone make it complete.
    complete AND measured_hours < 0.75 * expected_hours AS unmeasured,
    if(unmeasured, NULL, shares[1]) AS minimum, if(unmeasured, NULL, shares[2]) AS p05, if(unmeasured, NULL, shares[3]) AS p25, if(unmeasured, NULL, shares[4]) AS median,
    if(unmeasured, NULL, shares[5]) AS p75, if(unmeasured, NULL, shares[6]) AS p95, if(unmeasured, NULL, shares[7]) AS p98, if(unmeasured, NULL, shares[8]) AS maximum,
    if(unmeasured, NULL, eight) AS max_8h, max_day, days, measured_hours, hours,
    24 * multiIf(season = 'winter', dateDiff('day', makeDate(year, 1, 1), makeDate(year, 3, 1)), season = 'monsoon', 122, 92) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toYear(day) AS year, india_season(day) AS season,
        toFloat64(sum(toDecimal128(if(abs(day_mean * weight) < 1e20, day_mean * weight, 0), 12))) / nullIf(sum(weight), 0) AS mean,
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveArray(0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.98, 1)(clock)) AS shares,
        max(eight) AS eight, maxOrNullIf(day_mean, weight >= 16) AS max_day,
        countIf(weight >= 16) AS days, sum(measured) AS measured_hours, sum(weight) AS hours
    FROM
    (
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE parameter != 'wind_direction'
    )
    GROUP BY station, parameter, year, season
    HAVING hours > 0
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'Figures of seasons. One row per station, parameter, Indian year and season. Percentiles interpolate (quantileExactInclusive, type 7 of R).';

CREATE OR REPLACE VIEW vayu.diurnal 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    year UInt16 COMMENT 'Indian calendar year',
    hour UInt8 COMMENT 'hour of the Indian day, 0-23: 0 is 00:00 to 01:00',
    mean Float64 COMMENT 'mean of the hourly means at this hour of the day, in unit',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    toUInt8(clock.1 - 1) AS hour, clock.2 AS mean, clock.3 AS hours,
    dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toYear(day) AS year,
        arrayFilter(x -> x.3 > 0, arrayZip(range(1, 25), avgResampleArray(0, 24, 1)(arrayMap(x -> toDecimal128(if(abs(x) < 1e20, x, 0), 12), hours), bitPositionsToArray(present)),
            countResampleArray(0, 24, 1)(hours, bitPositionsToArray(present)))) AS clocks
    FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
    )
    WHERE present != 0 AND parameter != 'wind_direction'
    GROUP BY station, parameter, year
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
ARRAY JOIN clocks AS clock
COMMENT 'The day''s course. One row per station, parameter, Indian year and hour of the day.';

CREATE OR REPLACE VIEW vayu.weekday 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    year UInt16 COMMENT 'Indian calendar year',
    weekday UInt8 COMMENT 'day of the week, 1 Monday to 7 Sunday',
    mean Float64 COMMENT 'mean of the hours of these days, in unit; a published mean of a day counts as 24 hours',
    days UInt16 COMMENT 'valid days: those with at least 16 hours, or with a published mean',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    weekday, assumeNotNull(fact.mean) AS mean, days, hours,
    -- The first of these days is the one with this number in the year; another follows each 7 days.
    positiveModulo(weekday - toDayOfWeek(makeDate(year, 1, 1)), 7) AS first,
    24 * (intDiv(dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) - 1 - first, 7) + 1) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT station, parameter, toYear(day) AS year, toDayOfWeek(day) AS weekday,
        toFloat64(sum(toDecimal128(if(abs(day_mean * weight) < 1e20, day_mean * weight, 0), 12))) / nullIf(sum(weight), 0) AS mean, countIf(weight >= 16) AS days, sum(weight) AS hours
    FROM
    (
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE parameter != 'wind_direction'
    )
    GROUP BY station, parameter, year, weekday
    HAVING hours > 0
) AS fact INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'The week''s course. One row per station, parameter, Indian year and day of the week.';

CREATE OR REPLACE VIEW vayu.exceedance 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    year UInt16 COMMENT 'Indian calendar year',
    standard LowCardinality(String) COMMENT 'standard.standard: naaqs_2009 or who_2021',
    period LowCardinality(String) COMMENT 'averaging time of the limit: 1h, 8h, 24h or year',
    value Float64 COMMENT 'limit, in unit',
    evaluated UInt32 COMMENT 'what was compared: valid days for 24h; days with 16 measured hours for 8h (largest 8-hour mean of the day); hours for 1h; 1 for year',
    exceeded UInt32 COMMENT 'how many of them were above the limit, compared in millionths',
    successive UInt32 COMMENT 'days above the limit that follow a day of measurement above the limit; that is a valid day for 24h and 8h, a day with an hour for 1h; 0 for year',
    largest Nullable(Float64) COMMENT 'largest of the compared figures, in unit; for year the mean',
    complies Nullable(Bool) COMMENT 'whether the limit was met by the rule of its standard; NULL below 75 % capture (of measured hours for 1h and 8h), or if nothing was compared',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which 1h and 8h rest; a published mean of a day has none',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    standard, period, value, length(series) AS evaluated, arrayCount(x -> round(x, 6) > value, series) AS exceeded,
    arrayCount((a, b) -> round(a, 6) > value AND round(b, 6) > value, arrayPopFront(by_day), arrayPopBack(by_day)) AS successive,
    if(empty(series), NULL, arrayMax(series)) AS largest,
    multiIf(NOT complete OR empty(series) OR (period IN ('1h', '8h') AND measured_hours < 0.75 * expected_hours), NULL,
        period = 'year', toBool(exceeded = 0 AND (standard != 'naaqs_2009' OR days >= 104)),
        toBool(100 * exceeded <= (100 - assumeNotNull(percentile)) * evaluated AND (standard != 'naaqs_2009' OR successive = 0))) AS complies,
    measured_hours, hours, 24 * dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    -- by_day has a figure for each day of measurement, in the order of days. On two successive ones the NAAQS allow no exceedance.
    SELECT station, parameter, year, days, measured_hours, hours, rule.standard AS standard, rule.period AS period, rule.value AS value, rule.percentile AS percentile,
        multiIf(period = '24h', day_means, period = '8h', eights, period = '1h', day_hours, []) AS by_day,
        multiIf(period = '1h', all_hours, period = 'year', [mean], by_day) AS series
    FROM
    (
        SELECT station, parameter, toYear(day) AS year, countIf(weight >= 16) AS days,
            sum(measured) AS measured_hours, sum(weight) AS hours, assumeNotNull(toFloat64(sum(toDecimal128(if(abs(day_mean * weight) < 1e20, day_mean * weight, 0), 12))) / sum(weight)) AS mean,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, assumeNotNull(day_mean)), weight >= 16))) AS day_means,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, assumeNotNull(eight)), measured >= 16 AND isNotNull(eight)))) AS eights,
            parameter IN (SELECT parameter FROM vayu.standard WHERE period = '1h') AS hourly,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, arrayMax(clock)), hourly AND notEmpty(clock)))) AS day_hours,
            groupArrayArrayIf(clock, hourly) AS all_hours
        FROM
        (
        -- A published mean of a day weighs 24 hours. Directions have no mean over days, so they are left out.
        SELECT station, parameter, day, mean AS day_mean, hours AS clock, max_8h AS eight,
            toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured
        FROM (
        -- The days of physical stations. A station with several ids (same_as) has the id of the preferred network. Of its days
        -- the one with a valid measured mean counts, then a valid published mean. Of several such days that of the preferred
        -- network counts, and of days without a valid mean that with the most hours.
        SELECT station, parameter, day, mean, count, expected, suspect, excluded, hours, present, max_8h
        FROM vayu.station_parameter_day FINAL
        WHERE station GLOBAL NOT IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')
        UNION ALL
        SELECT station, parameter, day, chosen.1, chosen.2, chosen.3, chosen.4, chosen.5, chosen.6, chosen.7, chosen.8
        FROM
        (
            SELECT CAST(ids.physical, 'LowCardinality(String)') AS station, parameter, day,
                argMax((mean, count, expected, suspect, excluded, hours, present, max_8h),
                    (length(hours) >= 16, isNotNull(mean) AND (expected = 1 OR count >= 16) AS valid, if(valid, 0, length(hours)), ids.id = ids.physical, length(hours), isNotNull(mean), ids.id)) AS chosen
            FROM (SELECT * FROM vayu.station_parameter_day FINAL WHERE station GLOBAL IN (SELECT arrayJoin([toString(id), same_as]) FROM vayu.station FINAL WHERE same_as != '')) AS day_of_id
            INNER JOIN (SELECT toString(id) AS id, if(same_as = '', id, same_as) AS physical FROM vayu.station FINAL) AS ids ON ids.id = day_of_id.station
            GROUP BY station, parameter, day
        )
        )
        WHERE parameter != 'wind_direction' AND parameter IN (SELECT parameter FROM vayu.standard)
        )
        GROUP BY station, parameter, year
        HAVING hours > 0
    ) AS fact
    INNER JOIN vayu.standard AS rule ON rule.parameter = fact.parameter
) AS compared INNER JOIN (SELECT id, name, city, state, toString(kind) AS kind FROM vayu.station FINAL) AS place ON place.id = station
COMMENT 'How often limits were exceeded. One row per station, parameter, Indian year, standard and period.';

CREATE OR REPLACE VIEW vayu.ranking 
(
    year UInt16 COMMENT 'Indian calendar year',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of mean',
    rank UInt32 COMMENT 'place of the city in the year, 1 for the largest mean; equal means have one place',
    city LowCardinality(String) COMMENT 'city, canonical name',
    state LowCardinality(String) COMMENT 'state or union territory',
    mean Float64 COMMENT 'mean of the annual means of the stations, in unit',
    stations UInt16 COMMENT 'stations in the mean: all with at least 75 % capture',
    kind LowCardinality(String) COMMENT 'kind of these stations: reference, or city_mean in a city without such a reference station; low-cost sensors never count',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
SELECT year, parameter, parameter_unit(parameter) AS unit, toUInt32(rank() OVER (PARTITION BY year, parameter ORDER BY mean DESC)) AS rank,
    city, state, mean, stations, kind, hours, expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM
(
    SELECT year, parameter, city, state, kind, avg(toDecimal128(if(abs(station_mean) < 1e20, station_mean, 0), 12)) AS mean, count() AS stations, sum(station_hours) AS hours, sum(station_expected) AS expected_hours
    FROM
    (
        SELECT year, parameter, city, state, kind, assumeNotNull(figures.mean) AS station_mean, figures.hours AS station_hours, figures.expected_hours AS station_expected
        FROM vayu.annual_statistics AS figures
        WHERE complete AND city != '' AND kind IN ('reference', 'city_mean')
    )
    GROUP BY year, parameter, city, state, kind
    ORDER BY kind = 'city_mean'
    LIMIT 1 BY year, parameter, city, state
)
COMMENT 'Cities by annual mean, the largest first. One row per Indian year, parameter and city with a station of enough capture.';

CREATE OR REPLACE VIEW vayu.trend 
(
    station LowCardinality(String) COMMENT 'station.id',
    name String COMMENT 'name of the station',
    city LowCardinality(String) COMMENT 'city, canonical name; empty if unknown',
    state LowCardinality(String) COMMENT 'state or union territory',
    kind LowCardinality(String) COMMENT 'reference: regulatory analyser; sensor: low-cost sensor, not comparable with it; city_mean: series averaged over a city by its source',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of the concentrations in this row',
    from_month Date COMMENT 'first month in the trend',
    to_month Date COMMENT 'last month in the trend',
    months UInt16 COMMENT 'months in the trend: all with at least 75 % capture',
    slope Float64 COMMENT 'change, in unit per year: median of the slopes between equal months of different years (seasonal Theil-Sen)',
    lower Float64 COMMENT 'lower end of the 95 % confidence interval of slope, in unit per year',
    upper Float64 COMMENT 'upper end of the 95 % confidence interval of slope, in unit per year',
    p Float64 COMMENT 'p-value of the seasonal Kendall test, two-sided, 0-1: probability of such a series without a trend, if its months are independent; months that follow each other often resemble each other, and then p is too small',
    mean Float64 COMMENT 'mean of these months, in unit',
    percent_per_year Nullable(Float64) COMMENT '100 * slope / mean, per cent per year',
    hours UInt32 COMMENT 'hours with a mean; a published mean of a day counts as 24',
    expected_hours UInt32 COMMENT 'hours of the whole period',
    capture Float64 COMMENT 'hours / expected_hours, 0-1',
    complete Bool COMMENT 'capture is at least 75 %; the figures of other rows do not stand for the period'
)
AS
WITH seasons AS
(
    -- Values of one month of the year, by year.
    SELECT station, name, city, state, kind, parameter, unit,
        arraySort(groupArray((toYear(month), assumeNotNull(figures.mean)))) AS series,
        arrayMap(x -> x.2, series) AS sizes, length(series) AS n,
        arrayFlatten(arrayMap((x, i) -> arrayMap(y -> (y.2 - x.2) / (y.1 - x.1), arraySlice(series, i + 1)), series, arrayEnumerate(series))) AS slopes,
        arraySum(x -> sign(x), slopes) AS score,
        (n * (n - 1) * (2 * n + 5) - arraySum(arrayMap(v -> (countEqual(sizes, v) AS t) * (t - 1) * (2 * t + 5), arrayDistinct(sizes)))) AS variance,
        arrayMap(x -> x.1, series) AS years, min(month) AS first_month, max(month) AS last_month, sum(figures.hours) AS season_hours
    FROM vayu.monthly_statistics AS figures
    WHERE complete
    GROUP BY station, name, city, state, kind, parameter, unit, toMonth(month)
),
tests AS
(
    SELECT station, name, city, state, kind, parameter, unit,
        arraySort(groupArrayArray(slopes)) AS sorted, toFloat64(length(sorted)) AS pairs,
        sum(score) AS total, sum(variance) / 18 AS spread, sum(n) AS months, min(first_month) AS from_month, max(last_month) AS to_month, sum(season_hours) AS hours,
        toFloat64(sum(toDecimal128(if(abs(arraySum(sizes)) < 1e20, arraySum(sizes), 0), 12))) / months AS mean,
        -- Ranks of the ends of the interval, from 1, by Gilbert (1987), chapter 17.4.
        least(greatest((pairs - 1.959963984540054 * sqrt(spread)) / 2, 1), pairs) AS low, least(greatest((pairs + 1.959963984540054 * sqrt(spread)) / 2 + 1, 1), pairs) AS high
    FROM seasons
    GROUP BY station, name, city, state, kind, parameter, unit
    HAVING uniqExactArray(years) >= 3 AND pairs > 0
)
SELECT station, name, city, state, kind, parameter, unit, from_month, to_month, months,
    (sorted[toUInt32(floor((pairs + 1) / 2))] + sorted[toUInt32(ceil((pairs + 1) / 2))]) / 2 AS slope,
    sorted[toUInt32(floor(low))] + (low - floor(low)) * (sorted[toUInt32(ceil(low))] - sorted[toUInt32(floor(low))]) AS lower,
    sorted[toUInt32(floor(high))] + (high - floor(high)) * (sorted[toUInt32(ceil(high))] - sorted[toUInt32(floor(high))]) AS upper,
    if(spread > 0, erfc(greatest(abs(total) - 1, 0) / sqrt(2 * spread)), 1) AS p, mean, 100 * slope / nullIf(mean, 0) AS percent_per_year,
    hours, 24 * dateDiff('day', from_month, addMonths(to_month, 1)) AS expected_hours, hours / expected_hours AS capture, toBool(capture >= 0.75) AS complete
FROM tests
COMMENT 'Trends without the season. One row per station and parameter with complete months of at least three years.';


ALTER TABLE vayu.station_parameter_hour 
    COMMENT COLUMN minimum 'least of the readings; of rain, each as the amount of an hour',
COMMENT COLUMN maximum 'largest of the readings; of rain, each as the amount of an hour';

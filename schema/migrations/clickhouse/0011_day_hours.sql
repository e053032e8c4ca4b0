-- The hours of a day beside its mean: all statistics of longer periods follow from the days.
ALTER TABLE {{.Database}}.{{local "station_parameter_day"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS hours Array(Nullable(Float64)) DEFAULT [] COMMENT 'means of the 24 hours in the unit of the parameter, the first from 00:00 to 01:00 Indian time; NULL without a mean; empty for a day without hours' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, each of at least 6 hours, in the unit of the parameter; NULL for directions' CODEC(ZSTD(1));
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.station_parameter_day {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS hours Array(Nullable(Float64)) DEFAULT [] COMMENT 'means of the 24 hours in the unit of the parameter, the first from 00:00 to 01:00 Indian time; NULL without a mean; empty for a day without hours' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, each of at least 6 hours, in the unit of the parameter; NULL for directions' CODEC(ZSTD(1));
{{end -}}
-- The first roll-up of this program computes the days that are there.
INSERT INTO {{.Database}}.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), now(), now(), 0, 'wanted' FROM (SELECT 1 FROM {{.Database}}.station_parameter_day WHERE expected = 24 AND empty(hours) LIMIT 1)
SETTINGS distributed_foreground_insert = 1;
